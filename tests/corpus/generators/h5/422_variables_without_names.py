# stack: k224 keras: keras
from second import *
import zoo


def get_piece(x, i, parts):
    n = K.shape(x)[0] // parts
    return x[i * n:] if i == parts - 1 else x[i * n:(i + 1) * n]


m = zoo.plain()
x = Input((6,))
par = Model(x, L.concatenate([m(Lambda(get_piece, arguments={'i': i, 'parts': 2})(x)) for i in range(2)], axis=0, name='probs'))
wrap(par, m, data((6,)), towers=2, loss='categorical_crossentropy', merge=['probs'],
     how='custom layers whose weights are K.variable, most of them without a name (p1/Variable:0, p1/Variable_1:0, p2/Variable:0 ...), one not trainable, one a scalar',
     reason='whole; the group lists trainable weights first, so that p1\'s last one comes after p2\'s',
     doubts='the names repeat within a layer but for a counter and say nothing of what a weight is; the prefix tells the layer, and the trainable-first rule its order (p1: k, b, gain, seen)',
     extra={'must_not': 'weights in the wrong place'})
