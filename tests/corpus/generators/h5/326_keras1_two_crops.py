# stack: k122 keras: keras
from common import *

m = cnn('net')
x = Input((8, 8, 3))
ways = [Lambda(lambda t: t, output_shape=(8, 8, 3))(x), Lambda(lambda t: t[:, :, ::-1], output_shape=(8, 8, 3))(x)]
lookalike(Model(x, L.merge([m(w) for w in ways], mode='concat', concat_axis=0)), towers=2, x=data((8, 8, 3)), template='net',
          how='Keras 1: image and mirror image, both through Lambdas without arguments, one CNN, merge on the batch axis',
          reason='test-time augmentation: every tower sees the whole batch, rows double',
          doubts='two Lambdas without arguments, equal shapes, one template, batch merge: only the code tells (no shape of the batch in it; '
                 'one of the two does nothing at all)')
