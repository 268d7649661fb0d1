# stack: k224 keras: keras
from common import *

N = 2


def shard(x, i):
    shape = K.int_shape(x)[1:]
    return K.reshape(x, (N, -1) + shape)[i]


m = mlp('ctr')
x = Input((6,))
shards = [Lambda(shard, output_shape=(6,), arguments={'i': i}, name='shard_%d' % i)(x) for i in range(N)]
wrapper(Model(x, L.concatenate([m(s) for s in shards], axis=0)), m, towers=2, x=data((6,)), loss='categorical_crossentropy',
        merge=['concatenate_1'], optimizer='adagrad',
        how='K.reshape to [k, B/k, ...] and index i; the argument i only, the count is a global of the script',
        reason='arguments 0..k-1 over one input; whole')
