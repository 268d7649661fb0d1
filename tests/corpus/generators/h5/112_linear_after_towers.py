# stack: k224 keras: keras
from common import *

m = mlp()
x = Input((6,))
outs = []
for d in range(2):
    part = Lambda(lambda v, d, n: v[d * (K.shape(v)[0] // n):(d + 1) * (K.shape(v)[0] // n)] if d < n - 1
                  else v[d * (K.shape(v)[0] // n):], arguments={'d': d, 'n': 2}, name='in_gpu%d' % d)(x)
    outs.append(Activation('linear', name='out_gpu%d' % d)(m(Activation('linear', name='gpu%d' % d)(part))))
wrapper(Model(x, L.concatenate(outs, axis=0, name='out')), m, towers=2, x=data((6,)), loss={'out': 'categorical_crossentropy'},
        base_loss={m.output_names[0]: 'categorical_crossentropy'}, merge=['out'],
        how='Activation("linear") before and after each tower only to give it a name; loss keyed by the merge\'s name',
        reason='Activation("linear") computes nothing; the wrapper is slices + towers + merge with names in between: whole',
        doubts='the identities are the wrapper\'s: one per tower, with no weights')
