# stack: k224 keras: keras
from common import *


def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:(i + 1) * size]


m = mlp('net')
x = Input((6,))
y = L.Average()([m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)])
lookalike(Model(x, y), towers=2, x=data((6,)), template='net', how='batch slices through one model, outputs averaged: half as many rows come out',
          reason='no merge layer joins the towers\' rows; averaging pairs of rows is a different function')
