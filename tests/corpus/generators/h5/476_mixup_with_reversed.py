# stack: tf210 keras: tf.keras
from second import *

m = mlp('net')
x = Input((6,))
same(Model(x, L.Average()([m(x), m(x[::-1])]), name='mixed'), data((6,)), loss='categorical_crossentropy',
     how='TF 2.10: the model on the batch and on the reversed batch (slicing operator with step -1 on axis 0), averaged',
     reason='both calls see every row')
