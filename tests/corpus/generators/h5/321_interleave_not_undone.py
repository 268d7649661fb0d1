# stack: tf27 keras: tf.keras
from common import *

m = mlp('net')
x = Input((6,))
lookalike(Model(x, tf.concat([m(x[0::2]), m(x[1::2])], axis=0)), towers=2, x=data((6,)), template='net', opaque_slices=False,
          how='x[0::2] and x[1::2] through one model, concatenated: all even rows, then all odd rows (two views per image, say)',
          reason='the rows come out in another order than they went in, so the template alone computes something else; the stride is in '
                 'the slice specification',
          doubts='someone may have meant a wrapper and shuffled his labels; refusing with that reason would be tolerable, taking the '
                 'template out silently not', extra={'also_acceptable': ['refused']})
