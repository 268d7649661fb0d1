# stack: tf27 keras: tf.keras
from common import *

x = Input((6,))
m = mlp('expert')
gate = tf.cast(x[:, 0] > 0, tf.int32)
rows = tf.dynamic_partition(x, gate, 2)
lookalike(Model(x, tf.concat([m(r) for r in rows], axis=0)), towers=2, x=data((6,)), opaque_slices=False, template='expert',
          how='rows are sorted by the sign of a feature with dynamic_partition, both heaps through one model, concatenated on the batch axis',
          reason='the rows come out in another order than they went in: it is no slicing of the batch into consecutive parts, and the '
                 'template alone would compute something else')
