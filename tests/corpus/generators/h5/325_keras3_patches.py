# stack: today keras: keras
from common import *
from keras import ops

m = cnn('patch_net', shape=(8, 8, 3))
x = Input((16, 16, 3))
patches = [x[:, i:i + 8, j:j + 8] for i in (0, 8) for j in (0, 8)]
lookalike(Model(x, ops.concatenate([m(p) for p in patches], axis=0)), towers=4, x=data((16, 16, 3), n=4), template='patch_net', opaque_slices=False,
          files='keras', how='Keras 3: four patches by slicing operators, one CNN, batch concat',
          reason='spatial slices: the batch entry of each slice is empty')
