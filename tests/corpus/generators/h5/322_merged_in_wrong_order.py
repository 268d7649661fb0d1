# stack: k224 keras: keras
from common import *


def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


m = mlp('net')
x = Input((6,))
towers = [m(Lambda(get_slice, arguments={'i': i, 'parts': 3})(x)) for i in range(3)]
lookalike(Model(x, L.concatenate(towers[::-1], axis=0)), towers=3, x=data((6,)), template='net',
          how='three proper slices {i, parts}, merged in the order 2, 1, 0',
          reason='the rows come out in another order than they went in; the template alone computes something else, and the order is '
                 'readable from the arguments',
          doubts='could also be a broken wrapper: parallel + refused with the reason is tolerable, parallel + fixed is a silent change of '
                 'the function', extra={'also_acceptable': ['refused']})
