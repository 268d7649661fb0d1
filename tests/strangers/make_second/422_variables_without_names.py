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
     how='custom layers whose weights are K.variable, most of them without a name (Variable:0, Variable_1:0 ...), one not trainable, one a scalar',
     reason='whole; weight names say nothing of their layer, and trainable ones come first in the nested group',
     doubts='by name alone nothing can be placed: by the order of the template\'s layers, shapes and the trainable-first rule it can be (p1: k, b, '
            'gain, seen). Refusing with the reason is defensible, a wrong placing is not',
     extra={'also_acceptable': ['refused'], 'must_not': 'weights in the wrong place'})
