# stack: k224 keras: keras
from second import *

enc = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3)], name='embed')
x = Input((6,), name='episode')
s, q = Lambda(lambda t: t[:4], name='support')(x), Lambda(lambda t: t[4:], name='query')(x)


def distances(t):
    proto = K.mean(K.reshape(t[0], (2, 2, 3)), axis=1)
    return K.softmax(-K.sum(K.square(K.expand_dims(t[1], 1) - proto), axis=2))


same(Model(x, Lambda(distances, output_shape=(2,), name='protonet')([enc(s), enc(q)])), data((6,)), trained=False,
     how='prototypical network: rows 0-3 of an episode are the support set, the rest queries, one encoder on both, distances to the prototypes',
     reason='the join compares the parts, it does not put them in a row')
