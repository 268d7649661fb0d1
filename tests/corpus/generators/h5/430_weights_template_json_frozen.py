# stack: k216 keras: keras
from second import *
import zoo

m = zoo.reused('hops')
m.get_layer('hop').trainable = False
wrap(official(m, 2), m, data((6,), (6,)), towers=2, loss='categorical_crossentropy', merge=['dense_1'], files='weights+template',
     how='Keras 2.1.6 multi_gpu_model(2) (which cannot save the whole model); a frozen Dense called four times and a BatchNormalization called three '
         'times inside the template; weights and the template\'s own JSON',
     reason='official wrapper, weights only: whole')
