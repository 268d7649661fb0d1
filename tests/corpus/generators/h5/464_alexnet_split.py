# stack: k122 keras: keras
from second import *


def f(x, axis, ratio_split, id_split):
    n = K.int_shape(x)[axis] // ratio_split
    return x[:, :, :, id_split * n:(id_split + 1) * n]


def split(t, i, n=2):
    s = K.int_shape(t)
    return Lambda(f, output_shape=s[1:3] + (s[3] // n,), arguments={'axis': 3, 'ratio_split': n, 'id_split': i})(t)


a = Input(shape=(8, 8, 3))
h = L.Convolution2D(4, 3, 3, activation='relu', name='conv_1')(a)
h = L.merge([L.Convolution2D(3, 3, 3, activation='relu', name='conv_2_%d' % (i + 1))(split(h, i)) for i in range(2)], mode='concat', concat_axis=3, name='conv_2')
h = L.merge([L.Convolution2D(3, 3, 3, activation='relu', name='conv_4_%d' % (i + 1))(split(h, i)) for i in range(2)], mode='concat', concat_axis=3, name='conv_4')
same(Model(a, Dense(3, activation='softmax')(Flatten()(h))), data((8, 8, 3)), loss='categorical_crossentropy',
     how='AlexNet\'s two columns in Keras 1: split Lambdas {axis, ratio_split, id_split}, a convolution for each, channel concat',
     reason='channels are split, and each part has layers of its own')
