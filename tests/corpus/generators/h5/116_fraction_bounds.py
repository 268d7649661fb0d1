# stack: k224 keras: keras
from common import *


def fraction(x, lo, hi):
    n = K.cast(K.shape(x)[0], 'float32')
    return x[K.cast(n * lo + 0.5, 'int32'):K.cast(n * hi + 0.5, 'int32')]


m = mlp()
x = Input((6,))
edges = [0.0, 0.5, 0.75, 1.0]  # one 1080 Ti, two old ones
wrapper(Model(x, L.concatenate([m(Lambda(fraction, arguments={'lo': a, 'hi': b})(x)) for a, b in zip(edges, edges[1:])], axis=0)),
        m, towers=3, x=data((6,)), loss='categorical_crossentropy', merge=['concatenate_1'],
        how='unequal shares: Lambda arguments {lo, hi} are fractions of the batch, 0-0.5-0.75-1',
        reason='the shares cover 0..1 without gap or overlap, in order: whole')
