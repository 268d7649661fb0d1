# stack: k224 keras: keras
from common import *


def part_of(x, part, of):
    b = K.shape(x)[0]
    return x[b * part // of:b * (part + 1) // of]


m = two_io('net')
ins = {'deep': Input((4,), name='deep_in'), 'wide': Input((6,), name='wide_in')}
r = [m([Lambda(part_of, arguments={'part': i, 'of': 2})(ins[k]) for k in ('wide', 'deep')]) for i in range(2)]
right, left = [L.concatenate([r[0][k], r[1][k]], axis=0, name=n) for k, n in ((1, 'right'), (0, 'left'))]
x = data((4,), (6,))
wrapper(Model([ins['deep'], ins['wide']], [right, left]), m, towers=2, x=x, base_x=x[::-1], pick=[1, 0], fit_y=[np.ones((12, 1)), onehot((12, 2))],
        loss={'left': 'categorical_crossentropy', 'right': 'mse'}, merge=['right', 'left'],
        how='the parallel model lists its inputs and its outputs in another order than the template',
        reason='whole; the result is the template as it would have been saved directly',
        doubts='a user who feeds lists now has to feed them in the template\'s order. As a user I want a finding that says so; a result '
               'whose input_layers/output_layers follow the parallel model would please me as much',
        extra={'also_acceptable': ['fixed, in the parallel model\'s order'], 'base_inputs': ['x_1', 'x_0'], 'base_outputs_in_this_order': [1, 0]})
