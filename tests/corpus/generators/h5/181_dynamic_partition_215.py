# stack: tf215 keras: tf.keras
from common import *

m = mlp('net')
x = Input((6,))
n = tf.shape(x)[0]
parts = tf.dynamic_partition(x, tf.range(n) * 2 // n, 2)
wrapper(Model(x, L.Concatenate(axis=0, name='merged')([m(p) for p in parts])), m, towers=2, x=data((6,)),
        loss={'merged': 'categorical_crossentropy'}, base_loss={m.output_names[0]: 'categorical_crossentropy'}, merge=['merged'],
        opaque_slices=False, files='h5', optimizer='momentum',
        how='TF 2.15, tf.dynamic_partition as an op, partitions computed by range(n) * k // n',
        reason='partitions grow with the row number, so the parts are blocks in order: whole',
        doubts='needs arithmetic to prove; clean with nothing changed is tolerable', extra={'also_acceptable': ['clean', 'refused']})
