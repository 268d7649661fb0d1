# stack: py27k122 keras: keras
from second import *


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
wrap(Model(input=[x], output=[L.merge(tow, mode='concat', concat_axis=0)]), m, [np.random.RandomState(1).randint(0, 9, (12, 6)).astype('float32')],
     towers=3, loss='categorical_crossentropy', merge=['merge_1'], files='weights+parallel', optimizer='adamax',
     how='Python 2, Keras 1; Embedding with dropout, GRU, Highway; save_weights and the parallel JSON',
     reason='three slices, one template, one merge: whole')
