# stack: k231 keras: keras
from second import *
import zoo

same(zoo.detector('fpn'), data((8, 8, 3), n=4), optimizer='sgd', comp={'loss': {'regression': 'mae', 'classification': 'binary_crossentropy'}},
     how='sub-models called on three pyramid levels each, joined by Concatenate(axis=1)', reason='nothing is sliced; anchors are joined, not rows')
