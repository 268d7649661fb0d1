# stack: k122 keras: keras
from common import *


def gpu_slice(i, n):
    return lambda t: t[i * tf.shape(t)[0] // n:(i + 1) * tf.shape(t)[0] // n]


def to_gpus(net, n):
    x = net.inputs[0]
    outs = [net(Lambda(gpu_slice(i, n), output_shape=lambda s: s, name='slice_gpu%d' % i)(x)) for i in range(n)]
    return Model(x, L.Merge(mode='concat', concat_axis=0, name='joined')(outs))


net = mlp('classifier')
wrapper(to_gpus(net, 3), net, towers=3, x=data((6,)), files='weights', merge=['joined'], optimizer='sgd',
        loss='categorical_crossentropy',
        how='Keras 1, closures without arguments, the template\'s own Input reused, Merge layer; model.json + weights kept apart',
        reason='scope is whole; three slices of one input, one template, batch merge')
