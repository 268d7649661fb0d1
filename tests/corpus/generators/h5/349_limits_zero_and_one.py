# stack: k224 keras: keras
from common import *


def scaled(t, low, high):
    return K.clip(t[:, :6], low, high)


m = nested('net')
x = Input((8,))
lookalike(Model(x, m(Lambda(scaled, output_shape=(6,), arguments={'low': 0, 'high': 1})(x))), x=data((8,)), loss='categorical_crossentropy',
          how='a Lambda with the arguments 0 and 1 in front of a nested model: limits, and six of eight columns', reason='no rows are cut: a preprocessing layer')
