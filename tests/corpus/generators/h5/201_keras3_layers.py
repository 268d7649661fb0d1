# stack: today keras: keras
from common import *


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
wrapper(Model(x, L.Concatenate(axis=0, name='merged')([m(Chunk(i, 2)(x)) for i in range(2)]), name='replicated'), m, towers=2, x=data((6,)),
        loss='categorical_crossentropy', merge=['merged'], opaque_slices=False, files='keras', optimizer='momentum',
        how='Keras 3, registered class replicas>Chunk {index, count}, Concatenate(axis=0)',
        reason='chunks 0..1 of 2, one template, batch merge: whole')
