# stack: k224 keras: keras
from common import *


def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


proto = mlp()
x = Input((6,))
members = [keras.models.clone_model(proto) for _ in range(3)]
for k, c in enumerate(members):
    c.name = 'member_%d' % k
y = L.concatenate([c(Lambda(get_slice, arguments={'i': i, 'parts': 3})(x)) for i, c in enumerate(members)], axis=0)
lookalike(Model(x, y), towers=3, x=data((6,)), template=None, loss='categorical_crossentropy', fit_y=[onehot((12, 3))],
          how='real batch slices, but each goes through a clone of its own (local SGD, weights never synchronised)',
          reason='three different models of one architecture: there is no one template whose weights could be kept')
