from second import *
import zoo


# %% 417-yolo-keras1 | k122 | keras
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
wrapper(par, m, data((8, 8, 3)), optimizer='sgd', y=np.zeros((12, 16, 7)))

# %% 437-keras1-py2-json | py27k122 | keras
def slice_batch(x, n_gpus, part):
    sh = K.shape(x)
    n = sh[0] // n_gpus
    if part == n_gpus - 1:
        return x[part * n:]
    return x[part * n:(part + 1) * n]


m = Sequential([L.Embedding(9, 4, input_length=6, dropout=.1), L.Convolution1D(4, 3, border_mode='same', activation='relu'),
                L.GRU(4, return_sequences=True), BatchNormalization(mode=0), L.TimeDistributed(Dense(3)), Flatten(),
                L.Highway(activation='relu'), Dense(2, activation='softmax')])
x = Input(m.input_shape[1:], name='embedding_input_1')
tow = [m(Lambda(slice_batch, lambda s: s, arguments={'n_gpus': 3, 'part': g})(x)) for g in range(3)]
wrapper(Model(input=[x], output=[L.merge(tow, mode='concat', concat_axis=0)]), m, [np.random.RandomState(1).randint(0, 9, (12, 6)).astype('float32')], loss='categorical_crossentropy', files='weights+parallel', optimizer='adamax')

# %% 464-alexnet-split | k122 | keras
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
lookalike(Model(a, Dense(3, activation='softmax')(Flatten()(h))), data((8, 8, 3)), loss='categorical_crossentropy')

# %% 494-recurrent-weights-keras1 | k122 | keras
def get_slice(x, idx, parts):
    shape = tf.shape(x)
    size = tf.concat([shape[:1] // parts, shape[1:]], 0)
    start = tf.concat([shape[:1] // parts, shape[1:] * 0], 0) * idx
    return tf.slice(x, start, size)


m = Sequential([Dense(6, input_shape=(5,)), L.Highway(), L.RepeatVector(4), LSTM(4, return_sequences=True),
                L.Bidirectional(L.GRU(3, return_sequences=True)), L.Bidirectional(LSTM(2)), L.advanced_activations.SReLU(), Dense(2)])
x = Input(shape=(5,))
towers = [m(Lambda(get_slice, lambda s: s, arguments={'idx': g, 'parts': 3})(x)) for g in range(3)]
wrapper(Model(input=[x], output=L.merge(towers, mode='concat', concat_axis=0)), m, data((5,)), optimizer='adam', files='weights')
