# stack: k224 keras: keras
from common import *


def half(x, second):
    n = K.shape(x)[0] // 2
    return x[n:] if second else x[:n]


m = Sequential([Dense(5, activation='relu', input_shape=(7,)), BatchNormalization(), Dense(4)], name='middle')
x = Input((7,))
par = Model(x, L.concatenate([m(Lambda(half, arguments={'second': s})(x)) for s in (False, True)], axis=0), name='middle_x2')
first, last = Dense(7, activation='tanh', input_shape=(6,)), Dense(3, activation='softmax')
outer = Sequential([first, par, last])
base = Sequential([first, m, last], name=outer.name)
wrapper(outer, base, template=m, scope='embedded', towers=2, x=data((6,)), loss='categorical_crossentropy',
        merge=['concatenate_1'],
        how='Sequential model wrapped and added as a layer of another Sequential; slice argument {second: false|true}',
        reason='the wrapper sits inside a larger model: embedded, the template stays a nested model in its place',
        extra={'wrapper': 'middle_x2'})
