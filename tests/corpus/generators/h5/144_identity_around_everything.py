# stack: k231 keras: keras
from common import *

ident = lambda t: K.identity(t)  # noqa: E731
m = mlp('core')
x = Input((6,))
feed = Lambda(ident, name='feed')(x)
tower = []
for i in range(2):
    s = Lambda(lambda t, i: t[:K.shape(t)[0] // 2] if i == 0 else t[K.shape(t)[0] // 2:], arguments={'i': i})(feed)
    tower.append(Lambda(ident, name='tower_%d' % i)(m(s)))
wrapper(Model(x, L.concatenate(tower, axis=0, name='joined')), m, towers=2, x=data((6,)), loss='categorical_crossentropy',
        merge=['joined'], how='K.identity Lambdas: one between the input and the slices, one after each tower',
        reason='identities that only place a tensor on a device belong to the wrapper: whole',
        doubts='that K.identity is all they do is in stored code. "Embedded"/"head" with the Lambdas kept, or a refusal that names the '
               'layer, are both defensible: a Lambda after a tower that did something else (argmax) would otherwise be lost silently. '
               'What must not happen: clean, or dropping them without a word',
        extra={'also_acceptable': ['refused', 'fixed with the Lambdas kept and a finding']})
