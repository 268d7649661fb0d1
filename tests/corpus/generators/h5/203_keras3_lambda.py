# stack: today keras: keras
from common import *

m = mlp('net')
x = Input((6,))
outs = [m(Lambda(lambda t, i, k: t[i * keras.ops.shape(t)[0] // k:(i + 1) * keras.ops.shape(t)[0] // k], output_shape=(6,),
                 arguments={'i': i, 'k': 2}, name='slice_%d' % i)(x)) for i in range(2)]
wrapper(Model(x, L.Concatenate(axis=0)(outs)), m, towers=2, x=data((6,)), loss='categorical_crossentropy', merge=['concatenate'],
        files='h5', how='Keras 3, lambda (stored as code) with arguments {i, k}',
        reason='0..1 of 2 on one input, one template, batch merge: whole')
