# stack: k224 keras: keras
from common import *


def get_slice(x, idx, total):
    size = K.shape(x)[0] // total
    return x[idx * size:] if idx == total - 1 else x[idx * size:(idx + 1) * size]


m = two_io('base')
a, b = Input((6,)), Input((4,))
res = [m([Lambda(get_slice, arguments={'idx': i, 'total': 2})(t) for t in (a, b)]) for i in range(2)]
names = ['left_out', 'right_out']
outs = [Lambda(lambda t: t, name=n)(L.concatenate(list(r), axis=0)) for n, r in zip(names, zip(*res))]
par = Model([a, b], outs)
base = Model(m.inputs, [par.get_layer(n)(t) for n, t in zip(names, m.outputs)], name=par.name)
wrapper(par, base, template=m, scope='head', towers=2, x=data((6,), (4,)),
        loss={'left_out': 'categorical_crossentropy', 'right_out': 'mse'}, merge=['concatenate_3', 'concatenate_4'],
        how='two outputs, each merge followed by Lambda(lambda t: t, name=...) to rename it; loss keyed by those names',
        reason='layers follow the merges: head. Their code is opaque, so they stay, and with them the output names the losses are keyed by',
        doubts='base.h5 is Model(t.input, head(t.output)) with the outer model\'s name; the template\'s would do as well. '
               'As a user I would also accept the plain template (whole) with the losses re-keyed, but that needs to know that the '
               'Lambda computes nothing')
