# stack: today keras: keras
from common import *


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
wrapper(Model(x, L.Concatenate(axis=0)([m(Worker(i, 2)(x)) for i in range(2)])), m, towers=2, x=data((6,)), files='weights.h5',
        loss='categorical_crossentropy', merge=['concatenate'], opaque_slices=False,
        how='Keras 3, layers {worker_id, workers}; .weights.h5 and model.json', reason='whole, with the architecture at hand',
        doubts='without model.json the file may not tell: clean with a warning is then the contract')
