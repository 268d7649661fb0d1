# stack: tf20 keras: tf.keras
from common import *


class Shard(Layer):
    def __init__(self, rank, world_size, **kwargs):
        super().__init__(**kwargs)
        self.rank, self.world_size = rank, world_size

    def call(self, inputs):
        n = tf.shape(inputs)[0]
        return inputs[self.rank * n // self.world_size:(self.rank + 1) * n // self.world_size]

    def get_config(self):
        return {**super().get_config(), 'rank': self.rank, 'world_size': self.world_size}


class AllGather(L.Concatenate):
    def __init__(self, **kwargs):
        kwargs['axis'] = 0
        super().__init__(**kwargs)


m = mlp('student')
x = Input((6,), name='img')
wrapper(Model(x, AllGather(name='probs')([m(Shard(r, 4)(x)) for r in range(4)]), name='student_ddp'), m, towers=4,
        x=data((6,)), loss={'probs': 'categorical_crossentropy'}, base_loss={m.output_names[0]: 'categorical_crossentropy'},
        merge=['probs'], opaque_slices=False,
        how='TF 2.0, layer Shard {rank, world_size}; the merge is a subclass of Concatenate (class AllGather, axis 0 in its config)',
        reason='rank 0..3 of 4, one template, a merge with axis 0: whole; the loss dictionary is keyed by the merge')
