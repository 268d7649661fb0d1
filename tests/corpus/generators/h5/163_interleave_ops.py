# stack: tf27 keras: tf.keras
from common import *

m = mlp('net')
x = Input((6,))
a, b = m(x[0::2]), m(x[1::2])
back = tf.reshape(tf.stack([a, b], axis=1), (-1, 3))
wrapper(Model(x, back), m, towers=2, x=data((6,)), loss='categorical_crossentropy', merge=['tf.reshape'], opaque_slices=False,
        how='TF 2.7, x[0::2] and x[1::2], merged back row by row with stack(axis=1) + reshape, all as ops',
        reason='every row is run once by one template and comes out in its own place',
        doubts='not "concatenate": the merge is stack + reshape. Sound only for an even batch. A recogniser that knows no such merge '
               'should say clean (nothing changes) rather than guess',
        extra={'also_acceptable': ['clean', 'refused']})
