# stack: today keras: keras
from common import *
from keras import ops

m = rnn('net')
x = Input((5, 3))
s = ops.reshape(x, (2, -1, 5, 3))
wrapper(Model(x, ops.concatenate([m(s[0]), m(s[1])], axis=0)), m, towers=2, x=data((5, 3)), merge=['concatenate'],
        opaque_slices=False, files='keras', how='Keras 3, ops.reshape to (k, -1, ...) and index operators',
        reason='row-major reshape: s[i] is the i-th block of rows; whole')
