# stack: tf210 keras: tf.keras
from common import *

m = mlp('net')
a, b = Input((6,), name='source'), Input((6,), name='target')
n = tf.shape(a)[0]
lookalike(Model([a, b], tf.concat([m(a[:n // 2]), m(b[n // 2:])], axis=0)), towers=2, x=data((6,), (6,)), template='net', opaque_slices=False,
          loss='categorical_crossentropy', fit_y=[onehot((12, 3))],
          how='domain mixing: the first half of one input and the second half of another through one model, batch concat',
          reason='the slices are of different tensors: no one input is covered by them')
