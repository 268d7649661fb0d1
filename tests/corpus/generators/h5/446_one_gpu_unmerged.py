# stack: k122 keras: keras
from common import *


def get_slice(data_, idx, parts):
    shape = tf.shape(data_)
    size = tf.concat([shape[:1] // parts, shape[1:]], 0)
    stride = tf.concat([shape[:1] // parts, shape[1:] * 0], 0)
    return tf.slice(data_, stride * idx, size)


def make_parallel(model, gpu_count):
    outs = [model([Lambda(get_slice, output_shape=lambda s: s, arguments={'idx': i, 'parts': gpu_count})(t) for t in model.inputs])
            for i in range(gpu_count)]
    return Model(model.inputs, outs[0] if gpu_count == 1 else L.merge(outs, mode='concat', concat_axis=0))


m = mlp('only')
wrapper(make_parallel(m, 1), m, towers=1, x=data((6,)), loss='categorical_crossentropy', merge=[],
        how='Keras 1.2: the script of a big machine run on a small one, gpu_count=1: one slice {idx 0, parts 1}, and no merge, which Keras refuses of a single tensor',
        reason='with one tower the graph is still a wrapper: whole')
