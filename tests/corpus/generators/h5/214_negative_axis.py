# stack: k224 keras: keras
from common import *


def sl(x, i, n):
    b = K.shape(x)[0]
    return x[i * b // n:(i + 1) * b // n]


m = mlp('net')
x = Input((6,))
wrapper(Model(x, L.Concatenate(axis=-2)([m(Lambda(sl, arguments={'i': i, 'n': 2})(x)) for i in range(2)])), m, towers=2, x=data((6,)),
        loss='categorical_crossentropy', merge=['concatenate_1'],
        how='Concatenate(axis=-2) of outputs of rank 2: the batch axis, counted from the end',
        reason='axis -2 of a tensor (batch, 3) is the batch axis: whole',
        doubts='needs the rank of the template\'s output')
