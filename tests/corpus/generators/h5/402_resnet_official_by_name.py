# stack: k231 keras: keras
from second import *
import zoo

m = zoo.resnet(stages=[('3a', 6)])
wrap(official(m, 4), m, data((8, 8, 3), n=8), towers=4, optimizer='sgd', merge=['fc'],
     comp={'loss': {'fc': 'categorical_crossentropy'}, 'metrics': {'fc': ['accuracy']}},
     how='Keras 2.3.1 multi_gpu_model(4), residual block with BatchNormalization, one of them with scale=False; compiled by output name',
     reason='official wrapper: whole; the merge carries the template output\'s name, so the loss dictionary needs no change')
