# stack: k231 keras: keras
from common import *


def slice_for(t, gpu, ngpus):
    # gpu 1..ngpus, as nvidia-smi users never count
    n = tf.shape(t)[0]
    return t[(gpu - 1) * n // ngpus:gpu * n // ngpus]


m = two_io('wide_and_deep')
ins = [Input(K.int_shape(t)[1:], name=t.name.split(':')[0] + '_all') for t in m.inputs]
per_gpu = [m([Lambda(slice_for, arguments={'gpu': g, 'ngpus': 3})(t) for t in ins]) for g in (1, 2, 3)]
outs = [Lambda(lambda ts: tf.concat(ts, axis=0), name='all_' + n)([p[k] for p in per_gpu]) for k, n in enumerate(m.output_names)]
wrapper(Model(ins, outs), m, towers=3, x=data((6,), (4,)), loss=['categorical_crossentropy', 'mse'], merge=['all_left', 'all_right'],
        how='two inputs, two outputs, slice arguments {gpu, ngpus} from 1, Lambda tf.concat per output',
        reason='whole; one slice layer per input and tower, one merge per output',
        doubts='the merges are stored code')
