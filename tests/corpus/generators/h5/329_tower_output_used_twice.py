# stack: k231 keras: keras
from common import *


def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


m = Sequential([Dense(7, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3)], name='encoder')
x = Input((6,))
t = [m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)]
joined = L.concatenate(t, axis=0, name='embedding')
agreement = L.Dot(axes=-1, normalize=True, name='agreement')(t)
lookalike(Model(x, [joined, agreement]), towers=2, x=data((6,)), template='encoder',
          how='batch holds pairs (first half, second half): embeddings joined on the batch axis, and beside it the agreement of the two halves',
          reason='the towers\' outputs are read by another layer than the merge: without the towers that output cannot be computed',
          doubts='the first output alone is a wrapper; parallel + refused with the reason is tolerable',
          extra={'also_acceptable': ['refused']})
