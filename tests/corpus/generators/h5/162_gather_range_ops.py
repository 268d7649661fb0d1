# stack: tf27 keras: tf.keras
from common import *

m = rnn('seq')
x = Input((5, 3))
n = tf.shape(x)[0]
wrapper(Model(x, L.Concatenate(axis=0)([m(tf.gather(x, tf.range(0, n // 2))), m(tf.gather(x, tf.range(n // 2, n)))])), m, towers=2,
        x=data((5, 3)), merge=['concatenate'], opaque_slices=False,
        how='TF 2.7, tf.gather(x, tf.range(lo, hi)) as ops',
        reason='the ranges 0..n//2..n cover the batch in order: whole')
