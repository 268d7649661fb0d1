# stack: k224 keras: keras
from second import *


def get_slice(t, i, parts):
    n = K.shape(t)[0] // parts
    return t[i * n:] if i == parts - 1 else t[i * n:(i + 1) * n]


m = cnn('net', shape=(6, 6, 1))
x = Input((6, 6, 1))
a, b = [Lambda(get_slice, arguments={'i': i, 'parts': 2})(x) for i in range(2)]
b = Lambda(lambda t: t[:, :, ::-1], name='mirror')(b)
same(Model(x, L.concatenate([m(a), m(b)], axis=0)), data((6, 6, 1)), loss='categorical_crossentropy',
     how='batch halves, the second one mirrored before the same model, batch concat',
     reason='predictions for the second half are not the template\'s: augmentation, not data parallelism')
