# stack: k224 keras: keras
from common import *


def half(t, i, parts):
    n = K.shape(t)[0] // parts
    return t[i * n:(i + 1) * n]


gen = Sequential([Dense(6, activation='tanh', input_shape=(4,)), BatchNormalization()], name='generator')
disc = Sequential([Dense(5, activation='relu', input_shape=(6,)), Dense(1, activation='sigmoid')], name='discriminator')
z, real = Input((4,), name='z'), Input((6,), name='real')
d = disc(L.Concatenate(axis=0)([real, gen(z)]))
outs = [Lambda(half, arguments={'i': i, 'parts': 2}, name=n)(d) for i, n in enumerate(('on_real', 'on_fake'))]
lookalike(Model([z, real], outs), towers=None, x=data((4,), (6,)),
          how='GAN: real and generated rows joined on the batch axis, one discriminator call, slices {i, parts} after it',
          reason='batch concat before and slices after one call: the reverse of a wrapper')
