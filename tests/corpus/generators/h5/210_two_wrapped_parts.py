# stack: k224 keras: keras
from common import *


def cut(x, n, i):
    rows = K.shape(x)[0]
    return x[rows * i // n:rows * (i + 1) // n]


def both_cards(model, name):
    x = Input(model.input_shape[1:])
    return Model(x, L.concatenate([model(Lambda(cut, arguments={'n': 2, 'i': i})(x)) for i in range(2)], axis=0), name=name)


enc = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization()], name='encoder')
dec = Sequential([Dense(7, activation='relu', input_shape=(5,)), BatchNormalization(), Dense(6)], name='decoder')
face = Input((6,))
par = Model(face, both_cards(dec, 'decoder_gpu')(both_cards(enc, 'encoder_gpu')(face)), name='autoencoder')
base = Model(face, dec(enc(face)), name='autoencoder')
wrapper(par, base, template=dec, scope='embedded', wrappers=2, towers=2, x=data((6,)), merge=['concatenate_1'],
        how='encoder and decoder wrapped one by one, both parallel models nested in an autoencoder',
        reason='two wrappers inside a larger model, side by side: embedded; each template stays nested in its wrapper\'s place',
        doubts='an outer model made only of the two: whether the report orders them by place in the graph or by name is open',
        extra={'templates': ['encoder', 'decoder'], 'merges': {'decoder_gpu': ['concatenate_1'], 'encoder_gpu': ['concatenate_2']}})
