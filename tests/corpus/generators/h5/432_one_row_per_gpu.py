# stack: k209 keras: keras
from second import *


def get_slice(data_, idx, parts):
    shape = data_.get_shape().as_list()[1:]
    return tf.slice(data_, [idx] + [0] * len(shape), [1] + shape)


a = Input((6, 6, 6, 1), name='volume')
h = BatchNormalization(name='bn1')(L.Conv3D(3, (3, 3, 3), activation='relu', name='c1')(a))
m = Model(a, L.Conv3D(1, (1, 1, 1), activation='sigmoid', name='synapse')(h), name='vnet')
outs = [m(Lambda(get_slice, output_shape=(6, 6, 6, 1), arguments={'idx': i, 'parts': 4})(a)) for i in range(4)]
wrap(Model(inputs=m.inputs, outputs=[L.concatenate(outs, axis=0)]), m, data((6, 6, 6, 1), n=4), towers=4, merge=['concatenate_1'],
     loss='binary_crossentropy', y=np.zeros((4, 4, 4, 4, 1)),
     how='3D convolutions; every GPU takes exactly one row: slice [idx], size [1] (batches of four only)',
     reason='arguments {idx 0..3, parts 4}, one template, one batch merge: whole',
     doubts='for other batches than four the parallel model itself returns four rows or fails')
