# stack: tf215 keras: tf.keras
from common import *

m = cnn('frame_net')
x = Input((4, 8, 8, 3))
flat = m(tf.reshape(x, (-1, 8, 8, 3)))
y = tf.reshape(flat, (-1, 4, 3))
lookalike(Model(x, tf.concat([y[:, i] for i in range(4)], axis=0)), towers=None, x=data((4, 8, 8, 3), n=4), template='frame_net', opaque_slices=False,
          files='h5', how='frames folded into the batch, one call of a CNN, unfolded, and the four frames stacked on the batch axis',
          reason='one call of one model; the slices come after it and cut frames')
