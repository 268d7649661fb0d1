# stack: k224 keras: keras
from second import *
import zoo


class GpuSplit(object):
    """Built once per model."""

    def __init__(self, net, gpus):
        self.net, self.gpus = net, gpus

    def part(self, x, rank):
        n = len(self.gpus)
        start = K.shape(x)[0] * rank // n
        return x[start:K.shape(x)[0] * (rank + 1) // n]

    def build(self):
        x = Input(self.net.input_shape[1:], name='clips')
        return Model(x, L.concatenate([self.net(Lambda(take(self, r), name='gpu_%d' % g)(x)) for r, g in enumerate(self.gpus)], axis=0, name='gather'),
                     name='video_multi')


def take(split, rank):
    n = len(split.gpus)

    def piece(x):
        return x[K.shape(x)[0] * rank // n:K.shape(x)[0] * (rank + 1) // n]
    return piece


m = zoo.video()
wrap(GpuSplit(m, [0, 2, 3]).build(), m, data((3, 6, 6, 1)), towers=3, merge=['gather'], loss='categorical_crossentropy', optimizer='nesterov',
     how='TimeDistributed(CNN) + LSTM; slices by a closure over (n, rank), Lambdas named after device ids 0, 2, 3',
     reason='closures 3 and 0, 1, 2 tell the parts: whole', doubts='the names gpu_0, gpu_2, gpu_3 are device ids, not parts')
