# stack: tf215 keras: tf.keras
from common import *

m = mlp('net')
x = Input((6,))
n = tf.shape(x)[0]
lookalike(Model(x, tf.concat([m(x[:2 * n // 3]), m(x[n // 3:])], axis=0)), towers=2, x=data((6,)), template='net', opaque_slices=False,
          files='keras', how='slices 0..2n/3 and n/3..n of the batch, one model, batch concat',
          reason='the slices overlap: the middle third comes out twice')
