# stack: k231 keras: keras
from second import *


def get_slice(t, idx, parts):
    n = K.shape(t)[0] // parts
    return t[idx * n:(idx + 1) * n]


D = mlp('critic', classes=2)
real, fake = Input((6,), name='real'), Input((6,), name='fake')
d = D(L.concatenate([real, fake], axis=0, name='both'))
same(Model([real, fake], [Lambda(get_slice, arguments={'idx': i, 'parts': 2}, name='is_' + n)(d) for i, n in enumerate(('real', 'fake'))]), data((6,), (6,)),
     how='critic on real and fake joined in one batch, its output cut apart again with get_slice {idx, parts}',
     reason='the wrapper the wrong way round: merge first, slices last, one call')
