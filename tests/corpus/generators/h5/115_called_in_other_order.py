# stack: k224 keras: keras
from common import *


class DeviceBatch(Layer):
    def __init__(self, device_index, device_count, **kwargs):
        super(DeviceBatch, self).__init__(**kwargs)
        self.device_index, self.device_count = device_index, device_count

    def call(self, x):
        n = K.shape(x)[0] // self.device_count
        end = None if self.device_index == self.device_count - 1 else n * (self.device_index + 1)
        return x[n * self.device_index:end]

    def get_config(self):
        c = super(DeviceBatch, self).get_config()
        c['device_index'] = self.device_index
        c['device_count'] = self.device_count
        return c


m = cnn('worker')
x = Input((8, 8, 3))
results = {}
for d in (2, 0, 1):  # the fastest card first
    results[d] = m(DeviceBatch(d, 3, name='rows_%d' % d)(x))
wrapper(Model(x, L.concatenate([results[d] for d in range(3)], axis=0)), m, towers=3, x=data((8, 8, 3)),
        loss='categorical_crossentropy', merge=['concatenate_1'], opaque_slices=False,
        how='towers called in order 2, 0, 1 and merged in order 0, 1, 2: node indices do not follow the parts',
        reason='the merge joins the parts in batch order; the order of calls does not matter')
