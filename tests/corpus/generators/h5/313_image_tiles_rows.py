# stack: k231 keras: keras
from common import *


def get_slice(data_, i, parts):
    h = K.int_shape(data_)[1] // parts
    return data_[:, i * h:(i + 1) * h]


m = cnn('tile_net', shape=(8, 8, 3))
x = Input((16, 8, 3))
y = L.concatenate([m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)], axis=0)
lookalike(Model(x, y), towers=2, x=data((16, 8, 3), n=4), template='tile_net',
          how='an image cut in two tiles by a function that happens to be called get_slice {i, parts}, one CNN, batch concat',
          reason='tiles: slices of the height; the template takes (8, 8, 3), the model (16, 8, 3), and rows double')
