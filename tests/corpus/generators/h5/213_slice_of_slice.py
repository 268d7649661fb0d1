# stack: k224 keras: keras
from common import *


def half(t, which):
    m = K.shape(t)[0] // 2
    return t[:m] if which == 'first' else t[m:]


net = mlp('net')
x = Input((6,))
quarters = []
for host in ('first', 'second'):
    h = Lambda(half, arguments={'which': host}, name='host_%s' % host)(x)
    for card in ('first', 'second'):
        quarters.append(Lambda(half, arguments={'which': card}, name='host_%s_card_%s' % (host, card))(h))
wrapper(Model(x, L.concatenate([net(q) for q in quarters], axis=0)), net, towers=4, x=data((6,)), loss='categorical_crossentropy',
        merge=['concatenate_1'], optimizer='momentum',
        how='two hosts, two cards each: halves of halves, argument {which: first|second}',
        reason='halves of halves in order cover the batch; one template, one batch merge: whole',
        doubts='words instead of numbers in the arguments, and slices that read slices')
