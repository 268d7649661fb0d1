# stack: k224 keras: keras
from second import *


def get_chunk(x, i, n):
    size = K.shape(x)[0] // n
    return x[i * size:] if i == n - 1 else x[i * size:(i + 1) * size]


a = Input((6, 6, 1), name='img')
h = L.Conv2D(3, (3, 3), activation='relu', name='e1')(a)
code = Dense(3, name='code')(Flatten()(BatchNormalization(name='e_bn')(h)))
encoder = Model(a, code, name='encoder')
c = Input((3,))
decoder = Model(c, L.Reshape((6, 6, 1))(Dense(36, activation='sigmoid', name='d1')(c)), name='decoder')
ae = Model(a, decoder(code), name='autoencoder')
x = Input((6, 6, 1))
par = Model(x, L.concatenate([ae(Lambda(get_chunk, arguments={'i': i, 'n': 2})(x)) for i in range(2)], axis=0, name='joined'), name='ae_gpu')
wrap(par, ae, data((6, 6, 1)), towers=2, merge=['joined'], optimizer='adagrad',
     how='autoencoder whose encoder layers also live in a second model, decoder nested; the autoencoder wrapped, the pair kept as template only',
     reason='whole; the encoder is flat in the template, the decoder nested')
