# stack: k209 keras: keras
from second import *
import zoo


def shard(data_, idx, parts):
    s = tf.shape(data_)
    size = tf.concat([s[:1] // parts, s[1:]], axis=0)
    return tf.slice(data_, tf.concat([s[:1] // parts, s[1:] * 0], axis=0) * idx, size)


m = zoo.inception()
outs = []
for i in range(3):
    with tf.name_scope('tower_%d' % i):
        outs.append(m([Lambda(shard, output_shape=tuple(t.get_shape().as_list())[1:], arguments={'idx': i, 'parts': 3})(t) for t in m.inputs]))
wrap(Model(inputs=m.inputs, outputs=L.concatenate(outs, axis=0)), m, data((6, 6, 2)), towers=3, optimizer='sgd',
     loss='categorical_crossentropy', merge=['concatenate_1'], comp={'metrics': ['accuracy']},
     how="the kuza55 shape of slicing under Keras 2.0.9 (size, start * idx), on the template's own Input; inception branches",
     reason='three slices, one template, one merge: whole')
