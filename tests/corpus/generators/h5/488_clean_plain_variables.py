# stack: k216 keras: keras
from second import *
import zoo

same(zoo.plain(), data((6,)), kind='clean', loss='categorical_crossentropy', how='K.variable weights without names', reason='no wrapper')
