# stack: k209 keras: keras
from common import *


def data_parallel(model, n):
    x = Input(model.input_shape[1:], name='global_batch')
    ys = []
    for k in range(n):
        with tf.device('/gpu:%d' % k), tf.name_scope('replica_%d' % k):
            xk = Lambda(lambda z, k=k, n=n: z[tf.shape(z)[0] // n * k:] if k == n - 1
                        else z[tf.shape(z)[0] // n * k:tf.shape(z)[0] // n * (k + 1)])(x)
            ys.append(model(xk))
    with tf.device('/cpu:0'):
        return Model(x, concatenate(ys, axis=0))


m = cnn()
wrapper(data_parallel(m, 2), m, towers=2, x=data((8, 8, 3)), files='weights', loss='categorical_crossentropy',
        merge=['concatenate_1'],
        how='Keras 2.0.9, lambda with the loop variables captured as default arguments; weights and model.json',
        reason='whole wrapper; the share is readable in the Lambda\'s stored defaults')
