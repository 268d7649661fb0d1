# stack: k231 keras: keras
from common import *


def rows_of(x, me, all_):
    b = K.shape(x)[0]
    return x[b * me // all_:b * (me + 1) // all_]


core = cnn('core')
i = Input((8, 8, 3))
mirrored = Lambda(lambda t: t[:, :, ::-1])(i)
both = L.Concatenate(axis=0, name='both_views')([i, mirrored])  # one call on both views, then the mean of the two
pred = core(both)
mean = Lambda(lambda t: (t[:K.shape(t)[0] // 2] + t[K.shape(t)[0] // 2:]) / 2., name='mean_of_views')(pred)
m = Model(i, mean, name='tta_net')
x = Input((8, 8, 3))
wrapper(Model(x, L.concatenate([m(Lambda(rows_of, arguments={'me': r, 'all_': 2})(x)) for r in range(2)], axis=0)), m, towers=2,
        x=data((8, 8, 3)), loss='categorical_crossentropy', merge=['concatenate_1'],
        how='a template that itself joins two views on the batch axis, calls a model once and cuts the batch again; wrapped for 2',
        reason='one wrapper, whole; the batch concat and the batch slices inside the template are the model\'s own and stay',
        doubts='only one wrapper: the inside has slices and a batch concat, but in the reverse order')
