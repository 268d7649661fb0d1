# stack: tf23 keras: tf.keras
from common import *

N = 2
m = cnn('net')
x = Input((8, 8, 3))
stacked = tf.reshape(x, (N, -1, 8, 8, 3))
wrapper(Model(x, L.concatenate([m(stacked[i]) for i in range(N)], axis=0, name='net_output')), m, towers=2, x=data((8, 8, 3)),
        loss='categorical_crossentropy', merge=['net_output'], opaque_slices=False,
        how='TF 2.3, tf.reshape to (k, -1, ...) and index [i], as op layers',
        reason='row-major reshape: stacked[i] is the i-th block of rows; whole')
