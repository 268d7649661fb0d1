# stack: k224 keras: keras
from second import *
import zoo

t = Sequential([L.Conv2D(3, (3, 3), activation='relu', input_shape=(6, 6, 1)), BatchNormalization(), Flatten(), Dense(4, activation='relu')], name='eye')
eye = official(t, 2)
img, meta = Input((6, 6, 1), name='img'), Input((3,), name='meta')
join, bn, top = L.Concatenate(name='join'), BatchNormalization(name='outer_bn'), Dense(2, activation='softmax', name='top')
par = Model([img, meta], top(bn(join([eye(img), meta]))), name='clinic')
base = Model([img, meta], top(bn(join([t(img), meta]))), name='clinic')
wrap(par, base, data((6, 6, 1), (3,)), template=t, towers=2, scope='embedded', merge=['dense_1'], loss='categorical_crossentropy', optimizer='sgd',
     how='a parallel image encoder called inside a model with a second input of metadata', extra={'wrapper': eye.name},
     reason='the wrapper sits inside a larger model: embedded')
