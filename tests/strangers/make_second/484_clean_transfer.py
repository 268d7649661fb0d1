# stack: k216 keras: keras
from second import *
import zoo

same(zoo.transfer(), data((8, 8, 3)), kind='clean', loss='categorical_crossentropy', optimizer='nadam', how='frozen nested backbone, new head', reason='no wrapper')
