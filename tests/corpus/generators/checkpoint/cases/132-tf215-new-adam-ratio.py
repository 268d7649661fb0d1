# stack: tf215, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
a = L.Input((5, 2), name='series')
h = L.RNN([L.LSTMCell(3, name='cell_a'), L.LSTMCell(2, name='cell_b')], return_sequences=True, name='cells')(a)
h = L.TimeDistributed(L.Dense(3, name='td_dense'), name='td')(h)
h = L.BatchNormalization(name='bn')(h)
model = tf.keras.Model(a, L.Dense(1, name='y')(L.Flatten(name='fl')(h)), name='lstm_net')


def split_by_ratio(net, ratios):
    total, start, outs = float(sum(ratios)), 0, []
    for gpu, r in enumerate(ratios):
        with tf.device('/cpu:0'):
            part = L.Lambda(lambda t, share, start, total: t[tf.cast(tf.cast(tf.shape(t)[0], tf.float32) * start / total + .5, tf.int32):
                                                             tf.cast(tf.cast(tf.shape(t)[0], tf.float32) * (start + share) / total + .5, tf.int32)],
                            arguments={'share': r, 'start': start, 'total': total}, name='ratio_%d' % gpu)(net.input)
        outs.append(net(part))
        start += r
    return tf.keras.Model(net.input, L.Lambda(lambda ts: tf.concat(ts, 0), name='glue')(outs), name='ratio_model')


par = split_by_ratio(model, [3, 2])
par.compile(loss='mse', optimizer=tf.keras.optimizers.Adam(0.01, use_ema=True))
par.fit(data(1, 30, (5, 2)), data(2, 30, (1,)), batch_size=10, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
finish('TF 2.15: ratios 3:2, the merge a Lambda with tf.concat, stacked LSTM cells and TimeDistributed in the template, new Adam with use_ema; save_weights("parallel.ckpt").',
       par, model, data(3, 8, (5, 2)), towers=2, scope='whole')
