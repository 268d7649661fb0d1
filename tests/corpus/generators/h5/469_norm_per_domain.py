# stack: k231 keras: keras
from second import *


def get_half(t, i, parts):
    n = K.shape(t)[0] // parts
    return t[i * n:] if i == parts - 1 else t[i * n:(i + 1) * n]


conv_ = Sequential([Dense(5, input_shape=(6,))], name='shared')
x = Input((6,))
outs = []
for i, dom in enumerate(('source', 'target')):
    outs.append(BatchNormalization(name='bn_' + dom)(conv_(Lambda(get_half, arguments={'i': i, 'parts': 2})(x))))
same(Model(x, Dense(2, activation='softmax')(L.concatenate(outs, axis=0))), data((6,)), loss='categorical_crossentropy',
     how='domain-specific normalisation: batch halves {i, parts} through one shared model, then a BatchNormalization of each half\'s own, batch concat',
     reason='the halves are treated differently: no single template computes this')
