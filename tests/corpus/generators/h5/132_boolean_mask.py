# stack: k224 keras: tf.keras
from common import *


def mine(t, rank, size):
    n = tf.shape(t)[0]
    keep = tf.equal(tf.range(n) * size // n, rank)
    return tf.boolean_mask(t, keep)


m = rnn('seq2vec')
x = Input((5, 3))
wrapper(Model(x, L.concatenate([m(Lambda(mine, arguments={'rank': r, 'size': 2}, output_shape=(5, 3))(x)) for r in range(2)], axis=0)),
        m, towers=2, x=data((5, 3)), merge=['concatenate'],
        how='boolean mask over the rows, named function {rank, size} (words of MPI)',
        reason='rank 0..1 of size 2 on one input, one template, batch merge: whole')
