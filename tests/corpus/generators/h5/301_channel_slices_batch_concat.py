# stack: k224 keras: keras
from common import *


def channels(x, i, parts):
    c = K.int_shape(x)[-1] // parts
    return x[..., i * c:(i + 1) * c]


m = cnn('per_band', shape=(8, 8, 2))
x = Input((8, 8, 6))
y = L.Concatenate(axis=0)([m(Lambda(channels, arguments={'i': i, 'parts': 3})(x)) for i in range(3)])
lookalike(Model(x, y), towers=3, x=data((8, 8, 6)), template='per_band',
          how='the six bands of an image in three pairs through one CNN, results stacked on the batch axis; arguments {i, parts}',
          reason='the slices cut channels, not the batch: the template takes (8, 8, 2), the model (8, 8, 6), and rows triple')
