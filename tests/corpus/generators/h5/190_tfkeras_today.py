# stack: today keras: tf_keras
from common import *

m = two_io('tower')
ins = [Input((6,)), Input((4,))]
n = tf.shape(ins[0])[0]
half = n // 2
r0, r1 = m([t[:half] for t in ins]), m([t[half:] for t in ins])
wrapper(Model(ins, [tf.concat([p, q], axis=0) for p, q in zip(r0, r1)]), m, towers=2, x=data((6,), (4,)),
        loss=['categorical_crossentropy', 'mse'], merge=['tf.concat', 'tf.concat_1'], opaque_slices=False, files='h5',
        how="today's tf_keras, slicing operators; the bound is computed from the first input and used for both",
        reason='both inputs are cut at the same row, one template, one merge per output: whole')
