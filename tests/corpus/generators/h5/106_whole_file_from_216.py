# stack: k216 keras: keras
from common import *

# the official function cannot be saved whole in 2.1.6; a copy that never closes over a module can
from keras import backend as KB


def slice_batch(x, n_gpus, part):
    sh = KB.shape(x)
    L = sh[0] // n_gpus
    return x[part * L:] if part == n_gpus - 1 else x[part * L:(part + 1) * L]


inner = two_io('two_io')
ins = [Input(s[1:]) for s in inner.input_shape]
outs = [inner([Lambda(slice_batch, arguments={'n_gpus': 2, 'part': g})(i) for i in ins]) for g in range(2)]
merged = [concatenate([o[k] for o in outs], axis=0, name=n) for k, n in enumerate(inner.output_names)]
wrapper(Model(ins, merged), inner, towers=2, x=data((6,), (4,)), loss={'left': 'categorical_crossentropy', 'right': 'mse'},
        merge=['left', 'right'], metrics={'left': 'accuracy'},
        optimizer='adam',
        how='Keras 2.1.6, named function with {n_gpus, part}, two inputs and two outputs, merges named after the template\'s outputs',
        reason='whole; one slice layer per input and tower, one merge per output, loss keyed by merge names')
