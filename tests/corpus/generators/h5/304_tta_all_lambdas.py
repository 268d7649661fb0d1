# stack: k231 keras: keras
from common import *


def augment(t, k, n):
    # k-th of n rotations by 90 degrees
    for _ in range(k):
        t = K.permute_dimensions(t, (0, 2, 1, 3))[:, ::-1]
    return t


m = cnn('classifier')
x = Input((8, 8, 3))
outs = [m(Lambda(augment, arguments={'k': k, 'n': 4}, name='aug_%d' % k)(x)) for k in range(4)]
lookalike(Model(x, L.concatenate(outs, axis=0, name='all_views')), towers=4, x=data((8, 8, 3)), template='classifier',
          how='test-time augmentation by four Lambdas with arguments {k: 0..3, n: 4}, same shape as the input, stacked on the batch axis',
          reason='test-time augmentation: every tower sees the whole batch, rows multiply by four',
          doubts='the hardest of all: arguments that count 0..3 of 4, equal shapes, one template, batch merge. Only the stored code '
                 '(permute_dimensions, a slice of axis 1, no shape of the batch) tells. Names "aug_k" are evidence only')
