# stack: k231 keras: tf.keras
from common import *

x = Input((6,))
y = L.Concatenate(axis=0)([mlp('member_%d' % i)(x) for i in range(3)])
lookalike(Model(x, y), towers=3, x=data((6,)), how='an ensemble: three models on the same input, predictions stacked on the batch axis',
          reason='ensemble of different models, no slices', opaque_slices=False)
