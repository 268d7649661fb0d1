# stack: k224 keras: keras
from common import *


def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


m = mlp('net')
x = Input((6,))
outs = [m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)]
lookalike(Model(x, outs), towers=2, x=data((6,)), template='net',
          how='proper batch slices through one model, the towers\' outputs left apart as two outputs of the model',
          reason='a wrapper is slices + towers + merge: there is no merge layer, and the model has two outputs where the template has one',
          doubts='somebody compared two GPUs this way; parallel + refused with the reason, or even the template, would do no harm',
          extra={'also_acceptable': ['refused', 'parallel']})
