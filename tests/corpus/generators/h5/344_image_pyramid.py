# stack: k231 keras: tf.keras
from common import *


def scale_space(t, level, levels):
    k = 2 ** level
    small = t[:, ::k, ::k]
    return tf.image.resize(small, (8, 8)) if level else t


m = cnn('detector')
x = Input((8, 8, 3))
outs = [m(Lambda(scale_space, arguments={'level': l, 'levels': 3}, output_shape=(8, 8, 3))(x)) for l in range(3)]
lookalike(Model(x, L.concatenate(outs, axis=0)), towers=3, x=data((8, 8, 3)), template='detector',
          how='image pyramid: three scales resized to one size through one CNN, arguments {level: 0..2, levels: 3}, batch concat',
          reason='every tower sees the whole batch at another scale',
          doubts='arguments that count 0..2 of 3 and equal shapes, as 304: only the stored code (slices of axes 1 and 2, no shape of the batch) tells')
