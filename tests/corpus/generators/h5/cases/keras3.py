from common import *


# %% 200-keras3-split | today | keras
from keras import ops

m = cnn('net')
x = Input(batch_shape=(12, 8, 8, 3))
y = ops.concatenate([m(p) for p in ops.split(x, 3, axis=0)], axis=0)
wrapper(Model(x, y), m, x=data((8, 8, 3)), loss='categorical_crossentropy', files='keras', optimizer='adam')

# %% 201-keras3-layers | today | keras
@keras.saving.register_keras_serializable('replicas')
class Chunk(Layer):
    def __init__(self, index, count, **kwargs):
        super().__init__(**kwargs)
        self.index, self.count = index, count

    def call(self, x):
        n = keras.ops.shape(x)[0]
        return x[n * self.index // self.count:n * (self.index + 1) // self.count]

    def compute_output_shape(self, shape):
        return (None,) + tuple(shape[1:])

    def get_config(self):
        return {**super().get_config(), 'index': self.index, 'count': self.count}


m = mlp('net')
x = Input((6,), name='rows')
wrapper(Model(x, L.Concatenate(axis=0, name='merged')([m(Chunk(i, 2)(x)) for i in range(2)]), name='replicated'), m, x=data((6,)),
        loss='categorical_crossentropy', files='keras', optimizer='momentum')

# %% 202-keras3-reshape-take | today | keras
from keras import ops

m = rnn('net')
x = Input((5, 3))
s = ops.reshape(x, (2, -1, 5, 3))
wrapper(Model(x, ops.concatenate([m(s[0]), m(s[1])], axis=0)), m, x=data((5, 3)), files='keras')

# %% 203-keras3-lambda | today | keras
m = mlp('net')
x = Input((6,))
outs = [m(Lambda(lambda t, i, k: t[i * keras.ops.shape(t)[0] // k:(i + 1) * keras.ops.shape(t)[0] // k], output_shape=(6,),
                 arguments={'i': i, 'k': 2}, name='slice_%d' % i)(x)) for i in range(2)]
wrapper(Model(x, L.Concatenate(axis=0)(outs)), m, x=data((6,)), loss='categorical_crossentropy', files='h5')

# %% 221-keras3-weights-only | today | keras
@keras.saving.register_keras_serializable('pool')
class Worker(Layer):
    def __init__(self, worker_id, workers, **kwargs):
        super().__init__(**kwargs)
        self.worker_id, self.workers = worker_id, workers

    def call(self, x):
        n = keras.ops.shape(x)[0]
        return x[n * self.worker_id // self.workers:n * (self.worker_id + 1) // self.workers]

    def compute_output_shape(self, shape):
        return (None,) + tuple(shape[1:])

    def get_config(self):
        return {**super().get_config(), 'worker_id': self.worker_id, 'workers': self.workers}


m = mlp('net')
x = Input((6,))
wrapper(Model(x, L.Concatenate(axis=0)([m(Worker(i, 2)(x)) for i in range(2)])), m, x=data((6,)), files='weights.h5',
        loss='categorical_crossentropy')

# %% 325-keras3-patches | today | keras
from keras import ops

m = cnn('patch_net', shape=(8, 8, 3))
x = Input((16, 16, 3))
patches = [x[:, i:i + 8, j:j + 8] for i in (0, 8) for j in (0, 8)]
lookalike(Model(x, ops.concatenate([m(p) for p in patches], axis=0)), x=data((16, 16, 3), n=4), files='keras')
