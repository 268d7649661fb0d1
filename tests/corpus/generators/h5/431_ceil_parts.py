# stack: k231 keras: keras
from second import *
import zoo


def get_slice(data_, idx, parts):
    import tensorflow as tf_
    shape = tf_.shape(data_)
    each = (shape[0] + parts - 1) // parts
    begin = tf_.minimum(each * idx, shape[0])
    return data_[begin:tf_.minimum(begin + each, shape[0])]


m = cnn('wrn', shape=(6, 6, 1))
x = m.inputs[0]
par = Model(x, L.concatenate([m(Lambda(get_slice, output_shape=(6, 6, 1), arguments={'idx': i, 'parts': 4})(x)) for i in range(4)], axis=0, name='out'),
            name='wrn_4gpu')
wrap(par, m, data((6, 6, 1), n=10), towers=4, loss='categorical_crossentropy', merge=['out'], optimizer='nesterov',
     how='every part is the rounded-up share, the last is smaller (10 rows: 3, 3, 3, 1); TensorFlow imported inside the slice so that loading works',
     reason='four slices, one template, one merge: whole')
