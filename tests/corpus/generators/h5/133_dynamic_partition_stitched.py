# stack: k224 keras: keras
from common import *


def part(t, k, n):
    return tf.dynamic_partition(t, tf.range(tf.shape(t)[0]) % n, n)[k]


def stitch(parts):
    rows = tf.range(sum([tf.shape(p)[0] for p in parts]))
    return tf.dynamic_stitch(tf.dynamic_partition(rows, rows % len(parts), len(parts)), parts)


m = nested('ranker')
x = Input((6,))
outs = [m(Lambda(part, arguments={'k': k, 'n': 3}, output_shape=(6,))(x)) for k in range(3)]
wrapper(Model(x, Lambda(stitch, output_shape=lambda shapes: shapes[0])(outs)), m, towers=3, x=data((6,)), loss='categorical_crossentropy',
        merge=['lambda_4'], confidence='likely',
        how='each tower takes the rows whose number leaves k when divided by n, with tf.dynamic_partition; a Lambda stitches them back to their numbers',
        reason='one template on every part, all rows come back in order: whole',
        doubts='the merge adds up the parts\' sizes in a loop, so that its code is hard to follow')
