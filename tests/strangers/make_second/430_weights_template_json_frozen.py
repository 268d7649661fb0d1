# stack: k216 keras: keras
from second import *
import zoo

m = zoo.inception(freeze=True)
wrap(official(m, 2), m, data((6, 6, 2)), towers=2, loss='categorical_crossentropy', merge=['predictions'], files='weights+template',
     how='Keras 2.1.6 multi_gpu_model(2) (which cannot save the whole model), six layers frozen; weights and the template\'s own JSON',
     reason='official wrapper, weights only: whole')
