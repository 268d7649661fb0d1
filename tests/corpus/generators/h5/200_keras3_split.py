# stack: today keras: keras
from common import *
from keras import ops

m = cnn('net')
x = Input(batch_shape=(12, 8, 8, 3))
y = ops.concatenate([m(p) for p in ops.split(x, 3, axis=0)], axis=0)
wrapper(Model(x, y), m, towers=3, x=data((8, 8, 3)), loss='categorical_crossentropy', merge=['concatenate'], opaque_slices=False,
        files='keras', optimizer='adam',
        how='Keras 3, ops.split(x, 3, axis=0) on a fixed batch of 12, ops.concatenate',
        reason='one split operation of the batch, one template, batch merge: whole')
