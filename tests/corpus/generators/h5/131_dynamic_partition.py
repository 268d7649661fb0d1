# stack: k224 keras: tf.keras
from common import *


def by_device(t, devices):
    n = tf.shape(t)[0]
    return tf.dynamic_partition(t, tf.range(n) * devices // n, devices)


m = nested('ranker')
x = Input((6,))
parts = Lambda(by_device, arguments={'devices': 3}, output_shape=lambda s: [s] * 3)(x)
wrapper(Model(x, L.Concatenate(axis=0)([m(p) for p in parts])), m, towers=3, x=data((6,)), loss='categorical_crossentropy',
        merge=['concatenate'],
        how='tf.dynamic_partition with range(n) * k // n in a named function {devices}; the list has three tensors',
        reason='one split layer with three outputs, one template on each, batch merge: whole',
        doubts='a mixture of experts also starts with dynamic_partition; here there is but one input, no gate, and one template')
