# stack: k224 keras: keras
from common import *

m = mlp('net')
x = Input((6,))
outs = [m(L.GaussianNoise(0.1, name='sample_%d' % i)(x)) for i in range(4)]
lookalike(Model(x, L.concatenate(outs, axis=0)), towers=4, x=data((6,)), template='net', opaque_slices=False,
          how='four noisy copies of the batch through one MLP, batch concat (Monte Carlo robustness)',
          reason='no slices: every tower sees the whole batch')
