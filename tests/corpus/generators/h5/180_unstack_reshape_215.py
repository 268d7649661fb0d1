# stack: tf215 keras: tf.keras
from common import *

m = mlp('net')
x = Input((6,))
shards = tf.unstack(tf.reshape(x, [2, -1, 6]), axis=0)
wrapper(Model(x, tf.concat([m(s) for s in shards], axis=0)), m, towers=2, x=data((6,)), loss='categorical_crossentropy',
        merge=['tf.concat'], opaque_slices=False, files='keras',
        how='TF 2.15, tf.unstack(tf.reshape(x, [k, -1, ...])); .keras',
        reason='row-major reshape: part i is the i-th block of rows; whole')
