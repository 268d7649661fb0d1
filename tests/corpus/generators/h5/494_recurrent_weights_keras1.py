# stack: k122 keras: keras
from second import *


def get_slice(x, idx, parts):
    shape = tf.shape(x)
    size = tf.concat([shape[:1] // parts, shape[1:]], 0)
    start = tf.concat([shape[:1] // parts, shape[1:] * 0], 0) * idx
    return tf.slice(x, start, size)


m = Sequential([Dense(6, input_shape=(5,)), L.Highway(), L.RepeatVector(4), LSTM(4, return_sequences=True),
                L.Bidirectional(L.GRU(3, return_sequences=True)), L.Bidirectional(LSTM(2)), L.advanced_activations.SReLU(), Dense(2)])
x = Input(shape=(5,))
towers = [m(Lambda(get_slice, lambda s: s, arguments={'idx': g, 'parts': 3})(x)) for g in range(3)]
wrap(Model(input=[x], output=L.merge(towers, mode='concat', concat_axis=0)), m, data((5,)), towers=3, merge=['merge_1'], files='weights',
     how='Keras 1.2 make_parallel around recurrent and Bidirectional layers; save_weights and no JSON kept',
     reason='1 input + 3 slices + 1 template + 1 merge, one group with weights: whole',
     doubts='a Bidirectional is called by nothing in the file; layers without weights are left out',
     extra={'base_is': 'the template saved directly; its layer_names also hold layers without weights'})
