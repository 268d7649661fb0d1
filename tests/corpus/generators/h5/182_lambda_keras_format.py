# stack: tf215 keras: tf.keras
from common import *


def to_device(t, dev, devs):
    n = tf.shape(t)[0]
    return t[dev * n // devs:(dev + 1) * n // devs]


m = rnn('net')
x = Input((5, 3))
wrapper(Model(x, Lambda(lambda ts: tf.concat(ts, 0), name='cat')([m(Lambda(to_device, arguments={'dev': d, 'devs': 2})(x)) for d in range(2)])),
        m, towers=2, x=data((5, 3)), merge=['cat'], files='keras', optimizer='rmsprop',
        how='TF 2.15, named function {dev, devs} and a Lambda concat; .keras',
        reason='0..1 of 2 on one input, one template, one joining layer that is the output: whole',
        doubts='the merge is stored code')
