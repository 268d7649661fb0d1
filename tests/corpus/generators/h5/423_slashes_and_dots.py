# stack: k224 keras: keras
from second import *

a = Input((6, 6, 2), name='data.image')
h = L.Conv2D(3, (3, 3), name='block1/conv')(a)
h = BatchNormalization(name='block1/bn')(h)
h = L.Conv2D(3, (1, 1), name='block1/conv/1x1')(Activation('relu', name='block1/relu')(h))
h = BatchNormalization(name='block1')(h)
m = Model(a, Dense(3, activation='softmax', name='logits.softmax')(Flatten(name='pool/flat')(h)), name='nets/small.v1')
par = official(m, 2)
wrap(par, m, data((6, 6, 2)), towers=2, loss='categorical_crossentropy', merge=['logits.softmax'], optimizer='sgd',
     how='layers named block1/conv, block1/conv/1x1, block1 (a prefix of the others) and logits.softmax; model named nets/small.v1; multi_gpu_model(2)',
     reason='official wrapper: whole', doubts='weight names nest deeper than their layers')
