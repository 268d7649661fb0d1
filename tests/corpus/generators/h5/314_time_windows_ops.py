# stack: tf27 keras: tf.keras
from common import *

i = Input((None, 3))
m = Model(i, Dense(2)(LSTM(4)(i)), name='window_net')
x = Input((None, 3))
t = tf.shape(x)[1]
y = tf.concat([m(x[:, :t // 2]), m(x[:, t // 2:])], axis=0)
lookalike(Model(x, y), towers=2, x=data((10, 3)), template='window_net', opaque_slices=False,
          how='the first and the second half of each sequence through one LSTM, batch concat; every length is unknown',
          reason='time slices (the second entry of the slice specification), though every declared shape agrees with a batch slice')
