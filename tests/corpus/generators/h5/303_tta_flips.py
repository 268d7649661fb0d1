# stack: k224 keras: keras
from common import *

m = cnn('classifier')
x = Input((8, 8, 3))
views = [x, Lambda(lambda t: t[:, :, ::-1], name='mirror')(x), Lambda(lambda t: t[:, ::-1], name='flip')(x),
         Lambda(lambda t: t[:, ::-1, ::-1], name='rotate')(x)]
lookalike(Model(x, L.Concatenate(axis=0)([m(v) for v in views])), towers=4, x=data((8, 8, 3)), template='classifier',
          how='test-time augmentation: the image and three flips through one CNN, the predictions stacked on the batch axis',
          reason='every tower sees every row: no slices of the batch. One tower reads the input itself, without any slice layer')
