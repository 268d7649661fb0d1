# stack: k224 keras: keras
from second import *
import zoo

m = zoo.detector()
wrap(official(m, 2), m, data((8, 8, 3), n=4), towers=2, optimizer='sgd', merge=['regression', 'classification'],
     comp={'loss': {'regression': 'mae', 'classification': 'binary_crossentropy'}, 'loss_weights': {'regression': 2., 'classification': 1.}},
     how='detector: two sub-models shared over three pyramid levels, each joined by Concatenate(axis=1) inside the template; multi_gpu_model(2), '
         'losses and weights by name',
     reason='the inner Concatenates join anchors, the outer ones the batch: one wrapper, whole')
