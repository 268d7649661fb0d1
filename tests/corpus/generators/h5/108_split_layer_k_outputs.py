# stack: k224 keras: keras
from common import *


class Scatter(Layer):
    """[B, ...] -> n tensors of [B / n, ...]"""

    def __init__(self, n_dev=2, **kwargs):
        self.n_dev = n_dev
        super(Scatter, self).__init__(**kwargs)

    def call(self, inputs):
        b = K.shape(inputs)[0]
        edges = [b * i // self.n_dev for i in range(self.n_dev + 1)]
        return [inputs[lo:hi] for lo, hi in zip(edges[:-1], edges[1:])]

    def compute_output_shape(self, input_shape):
        return [input_shape] * self.n_dev

    def compute_mask(self, inputs, mask=None):
        return [None] * self.n_dev

    def get_config(self):
        return dict(super(Scatter, self).get_config(), n_dev=self.n_dev)


class Gather(Layer):
    def call(self, inputs):
        return K.concatenate(inputs, axis=0)

    def compute_output_shape(self, input_shape):
        return input_shape[0]


m = mlp('resnetish')
inp = Input((6,), name='big_batch')
wrapper(Model(inp, Gather(name='gather')([m(p) for p in Scatter(3, name='scatter')(inp)]), name='scatter_gather'), m,
        towers=3, x=data((6,)), loss='categorical_crossentropy', merge=['gather'], opaque_slices=False,
        optimizer='momentum',
        how='one layer of class Scatter {n_dev} with three outputs, one layer of class Gather without any axis',
        reason='one split layer, tensor index = part; template called once on each; one merge: whole',
        doubts='neither class says "batch axis": a Scatter over channels would differ in shape only by the template\'s input shape')
