# stack: k224 keras: keras
from common import *

m = mlp('group', features=2)
x = Input((6,))
y = L.concatenate([m(Lambda(lambda t, i, parts: t[:, i * 2:i * 2 + 2], arguments={'i': i, 'parts': 3}, output_shape=(2,))(x)) for i in range(3)])
lookalike(Model(x, y), towers=3, x=data((6,)), template='group',
          how='three column groups through one MLP, concatenated on the last axis; arguments {i, parts}',
          reason='neither the slices nor the merge are on the batch axis')
