# stack: k231 keras: keras
from common import *


def dev_slice(t, worker=0, workers=2):
    b = K.shape(t)[0]
    return t[b * worker // workers:b * (worker + 1) // workers]


heavy = mlp('heavy')
front, tail = Dense(6, activation='tanh', name='front'), Dense(2, activation='softmax', name='tail')
bn = BatchNormalization(name='bn_front')
x = Input((4,), name='x')
h = bn(front(x))
mid = L.concatenate([heavy(Lambda(dev_slice, arguments={'worker': w, 'workers': 3})(h)) for w in range(3)], axis=0, name='gathered')
par = Model(x, tail(mid), name='net')
base = Model(x, tail(heavy(h)), name='net')
wrapper(par, base, template=heavy, scope='embedded', towers=3, x=data((4,)), loss='categorical_crossentropy', merge=['gathered'],
        how='only the heavy middle is split: Dense + BatchNorm, slices {worker, workers}, template, concatenate, Dense, all in one graph',
        reason='the slices read an inner tensor and a layer follows the merge: embedded, the template nested in the wrapper\'s place')
