# stack: py27k224 keras: keras
from second import *
import zoo


def get_slice(data_, idx, parts):
    shape = tf.shape(data_)
    size = tf.concat([shape[:1] // parts, shape[1:]], axis=0)
    stride = tf.concat([shape[:1] // parts, shape[1:] * 0], axis=0)
    return tf.slice(data_, stride * idx, size)


m = zoo.contrastive()
outs = []
for gpu, i in enumerate([1, 3]):
    with tf.name_scope('gpu_%d' % i):
        outs.append(m([Lambda(get_slice, output_shape=m.input_shape[0][1:], arguments={'idx': gpu, 'parts': 2})(t) for t in m.inputs]))
wrap(Model(inputs=m.inputs, outputs=[L.concatenate(outs, axis=0)]), m, data((6,), (6,)), towers=2, merge=['concatenate_1'], optimizer='rmsprop',
     how='Python 2, contrastive siamese with a distance Lambda inside; devices [1, 3]', atol=1e-4,
     reason='four slices, one template, one merge: whole')
