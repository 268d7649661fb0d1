# stack: tf27 keras: tf.keras
from second import *


def make_parallel(model, gpu_count):
    def get_slice(data_, idx, parts):
        n = tf.shape(data_)[0] // parts
        return data_[n * idx:] if idx == parts - 1 else data_[n * idx:n * (idx + 1)]
    outs = [model([Lambda(get_slice, arguments={'idx': i, 'parts': gpu_count})(t) for t in model.inputs]) for i in range(gpu_count)]
    return Model(model.inputs, L.concatenate(outs, axis=0))


m = Sequential([L.Conv1D(3, 3, activation='relu', input_shape=(6, 2)), L.GRU(3), Dense(2, activation='softmax')], name='only')
wrap(make_parallel(m, 1), m, data((6, 2)), towers=1, loss='categorical_crossentropy', merge=['concatenate'], optimizer='rmsprop',
     how='TF 2.7: the script of a big machine run on a small one, gpu_count=1: one slice {idx 0, parts 1}, Concatenate of a single tensor',
     reason='with one tower the graph is still a wrapper: whole')
