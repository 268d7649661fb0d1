# stack: tf210 keras: tf.keras
from common import *

m = mlp()
x = Input((6,))
n = tf.shape(x)[0]
owner = tf.range(n) * 2 // n
wrapper(Model(x, tf.concat([m(tf.boolean_mask(x, tf.equal(owner, d))) for d in range(2)], 0)), m, towers=2, x=data((6,)),
        loss='categorical_crossentropy', merge=['tf.concat'], opaque_slices=False,
        how='TF 2.10, tf.boolean_mask with range(n) * k // n == d, as ops',
        reason='the owner of a row grows with its number, so the masks are blocks in order: whole',
        doubts='proving it needs arithmetic on the masks; likely, or clean with nothing changed, are tolerable',
        extra={'also_acceptable': ['clean', 'refused']})
