# stack: k231 keras: keras
from common import *


def rows_of(x, me, all_):
    b = K.shape(x)[0]
    return x[b * me // all_:b * (me + 1) // all_]


m = Sequential([Dense(7, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3)], name='net')
x = Input((6,))
towers = []
for g in range(2):
    t = Activation('tanh', name='squash_gpu%d' % g)(Lambda(rows_of, arguments={'me': g, 'all_': 2})(x))
    towers.append(Activation('softmax', name='probs_gpu%d' % g)(m(t)))
par = Model(x, L.concatenate(towers, axis=0, name='probs'))
pre, post = Activation('tanh', name='squash_gpu0'), Activation('softmax', name='probs_gpu0')
base = Model(x, post(m(pre(x))), name=par.name)
wrapper(par, base, template=m, towers=2, x=data((6,)), loss='categorical_crossentropy', merge=['probs'],
        how='each tower has activations of its own around the template: tanh before, softmax after',
        reason='these compute something: what must come out is softmax(template(tanh(x))), never the bare template',
        doubts='what a tower is here is a chain of three layers of which only the middle one is shared. Refused with the reason, or clean, are '
               'both fine; base.h5 is what a user would love to get. What must not happen: fixed without the activations',
        extra={'also_acceptable': ['refused', 'clean'], 'must_not': 'fixed to the bare template'})
