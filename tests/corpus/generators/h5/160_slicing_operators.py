# stack: tf27 keras: tf.keras
from common import *


def replicate(model, n):
    x = Input(model.input_shape[1:])
    size = tf.shape(x)[0] // n
    ys = []
    for i in range(n):
        ys.append(model(x[i * size:] if i == n - 1 else x[i * size:(i + 1) * size]))
    return Model(x, tf.concat(ys, axis=0))


m = cnn('vision')
wrapper(replicate(m, 3), m, towers=3, x=data((8, 8, 3)), loss='categorical_crossentropy', merge=['tf.concat'], opaque_slices=False,
        files='h5', optimizer='adam',
        how='TF 2.7, slicing operators on the tensor with a size computed once; tf.concat',
        reason='bounds 0, s, 2s, end with s = n // 3 cover the batch: whole')
