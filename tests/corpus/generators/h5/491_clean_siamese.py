# stack: k209 keras: keras
from second import *
import zoo

same(zoo.contrastive(), data((6,), (6,)), kind='clean', how='contrastive siamese with a distance Lambda', reason='no wrapper')
