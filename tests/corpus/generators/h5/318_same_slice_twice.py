# stack: k224 keras: keras
from common import *


def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:(i + 1) * size]


m = Sequential([Dense(7, activation='relu', input_shape=(6,)), Dropout(0.5), Dense(3, activation='softmax')], name='mc_net')
x = Input((6,))
y = L.concatenate([m(Lambda(get_slice, arguments={'i': 0, 'parts': 2})(x)) for _ in range(2)], axis=0)
lookalike(Model(x, y), towers=2, x=data((6,)), loss='categorical_crossentropy', fit_y=[onehot((12, 3))], template='mc_net',
          how='R-drop: the first half of the batch twice through one model with dropout; arguments {i: 0, parts: 2} both times',
          reason='the slices do not cover the batch: part 0 of 2 twice, part 1 never')
