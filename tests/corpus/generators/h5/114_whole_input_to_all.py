# stack: k224 keras: keras
from common import *


def cut(x, k, n):
    r = K.shape(x)[0] // n
    return x[k * r:] if k == n - 1 else x[k * r:(k + 1) * r]


x, proto = Input((6,), name='x'), Input((6,), name='prototypes')
enc = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization()], name='enc')
score = Lambda(lambda t: K.dot(t[0], K.transpose(K.mean(t[1], axis=0, keepdims=True))), output_shape=(1,), name='score')
m = Model([x, proto], score([enc(x), enc(proto)]), name='prototype_net')

X, P = Input((6,), name='queries'), Input((6,), name='support')
wrapper(Model([X, P], L.concatenate([m([Lambda(cut, arguments=dict(k=i, n=2))(X), P]) for i in range(2)], axis=0)), m,
        towers=2, x=data((6,), (6,)), merge=['concatenate_1'],
        how='two inputs: the queries are sliced, the support set goes whole into every tower (the template averages over its rows)',
        reason='the towers are one template on slices of the batch; the support input is the same tensor for every tower, so one call of '
               'the template on both whole inputs computes the same rows',
        doubts='an input that is not sliced is not in the design\'s words ("what cuts the batch"). A tower cannot use it row by row '
               '(rows would not fit), so dropping the wrapper is safe; refusing with a reason would be tolerable, calling it clean would not')
