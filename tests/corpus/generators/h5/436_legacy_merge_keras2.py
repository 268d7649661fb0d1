# stack: k209 keras: keras
from second import *
import zoo
from keras.legacy.layers import merge


def get_slice(data_, idx, parts):
    shape = K.shape(data_)
    n = shape[0] // parts
    return data_[n * idx:n * (idx + 1)]


m = zoo.contrastive('clf')
x = data((6,), (6,))
outs = [m([Lambda(get_slice, output_shape=(6,), arguments={'idx': i, 'parts': 2})(t) for t in m.inputs]) for i in range(2)]
wrap(Model(inputs=m.inputs, outputs=merge(outs, mode='concat', concat_axis=0)), m, x, towers=2, merge=['merge_1'],
     optimizer='adadelta',
     how="Keras 2.0.9 with the deprecated merge(mode='concat', concat_axis=0): class Merge in a Keras 2 file",
     reason='four slices, one template, one merge: whole')
