# stack: tf27 keras: tf.keras
from common import *

x = Input((6,))
gate = tf.argmax(Dense(2, name='gate')(x), axis=-1, output_type=tf.int32)
rows = tf.dynamic_partition(x, gate, 2)
where = tf.dynamic_partition(tf.range(tf.shape(x)[0]), gate, 2)
experts = [mlp('expert_%d' % i) for i in range(2)]
y = tf.dynamic_stitch(where, [e(r) for e, r in zip(experts, rows)])
lookalike(Model(x, y), towers=2, x=data((6,)), opaque_slices=False,
          how='sparse mixture of experts: rows go where the gate says, two experts, stitched back',
          reason='different models, and the partition is learnt')
