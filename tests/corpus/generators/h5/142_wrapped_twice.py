# stack: k231 keras: keras
from common import *


def rows(x, i, n):
    size = K.shape(x)[0]
    return x[i * size // n:(i + 1) * size // n]


def wrap(model, n):
    x = Input(model.input_shape[1:])
    return Model(x, L.concatenate([model(Lambda(rows, arguments={'i': i, 'n': n})(x)) for i in range(n)], axis=0))


a = Input((6,))
h = Lambda(lambda t: t / 10.0, name='scale')(a)
h = BatchNormalization()(Dense(5, activation='relu')(h))
m = Model(a, Dense(3, activation='softmax')(h), name='with_lambda')
wrapper(wrap(wrap(m, 2), 3), m, towers=3, inner_towers=[3, 2], wrappers=2, x=data((6,)), loss='categorical_crossentropy',
        merge=['concatenate_2'], extra={'merge_by_depth': [['concatenate_2'], ['concatenate_1']]},
        how='wrapped for 2, then for 3 devices; the template has a Lambda of its own',
        reason='two wrappers, depth 0 with 3 towers and depth 1 with 2; the template\'s Lambda is carried verbatim')
