# stack: k224 keras: keras
from common import *

m = cnn('net', shape=(8, 8, 3))
x = Input((12, 12, 3))
crops = [L.Cropping2D(((t, 4 - t), (l, 4 - l)))(x) for t, l in ((0, 0), (0, 4), (4, 0), (4, 4), (2, 2))]
lookalike(Model(x, L.concatenate([m(c) for c in crops], axis=0)), towers=5, x=data((12, 12, 3), n=4), template='net', opaque_slices=False,
          how='five-crop evaluation with Cropping2D, one CNN, predictions stacked on the batch axis',
          reason='spatial slices: every tower sees the whole batch')
