# stack: k216 keras: keras
from second import *
import zoo


class SliceBatch(Layer):
    def __init__(self, batch_size, num_slices, slice_index, **kw):
        self.batch_size, self.num_slices, self.slice_index = batch_size, num_slices, slice_index
        super(SliceBatch, self).__init__(**kw)

    def call(self, x):
        n = self.batch_size // self.num_slices
        return x[n * self.slice_index:n * (self.slice_index + 1)]

    def compute_output_shape(self, s):
        return (self.batch_size // self.num_slices,) + tuple(s[1:])

    def get_config(self):
        return dict(super(SliceBatch, self).get_config(), batch_size=self.batch_size, num_slices=self.num_slices, slice_index=self.slice_index)


m = cnn('unet', shape=(6, 6, 1))
x = Input(batch_shape=(12, 6, 6, 1), name='batch')
par = Model(x, L.concatenate([m(SliceBatch(12, 4, i, name='slice_%d' % i)(x)) for i in range(4)], axis=0, name='merge_batch'))
wrap(par, m, data((6, 6, 1)), towers=4, loss='categorical_crossentropy', merge=['merge_batch'], optimizer='sgd',
     how='layer class SliceBatch {batch_size 12, num_slices 4, slice_index} on an Input with fixed batch 12', opaque_slices=False,
     reason='four slices, one template, one merge: whole; the fixed batch is the wrapper\'s, not the template\'s')
