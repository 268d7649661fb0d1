# stack: k122 keras: keras
from second import *


def divide(t, n_gpus, part):
    sh = K.shape(t)
    step = sh[0] // n_gpus
    if part == n_gpus - 1:
        return t[part * step:]
    return t[part * step:(part + 1) * step]


def reorg(t):
    return tf.space_to_depth(t, 2)


a = Input(shape=(8, 8, 3))
h = a
for i, n in enumerate((3, 4)):
    h = L.Convolution2D(n, 3, 3, border_mode='same', bias=False, name='conv_%d' % i)(h)
    h = L.LeakyReLU(.1)(BatchNormalization(name='norm_%d' % i)(h))
deep = L.Convolution2D(4, 1, 1, name='conv_deep')(L.MaxPooling2D()(h))
skip = Lambda(reorg, output_shape=(4, 4, 16), name='space_to_depth')(h)
h = L.merge([skip, deep], mode='concat', concat_axis=3, name='route')
m = Model(a, L.Reshape((16, 7))(L.Convolution2D(7, 1, 1, name='conv_out')(h)), name='tiny_yolo')
x = Input(shape=(8, 8, 3))
par = Model(input=[x], output=L.merge([m(Lambda(divide, lambda s: s, arguments={'n_gpus': 2, 'part': g})(x)) for g in range(2)],
                                      mode='concat', concat_axis=0))
wrap(par, m, data((8, 8, 3)), towers=2, merge=['merge_1'], optimizer='sgd', y=np.zeros((12, 16, 7)),
     how="Keras 1 YOLO with a reorg Lambda and a channel merge(mode='concat', concat_axis=3) inside the template",
     reason='whole; the inner Lambda and merge are of the template')
