# stack: k224, tf.keras
import tensorflow as tf
from kit import data, finish, soft_session

K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    grey = tf.keras.Sequential([L.Conv2D(2, 3, padding='same', activation='relu', input_shape=(6, 6, 1), name='g1'), L.BatchNormalization(name='gb'),
                                L.Conv2D(1, 1, name='g2')], name='grey_net')


def get_slice(data, i, parts):
    shape = tf.shape(data)
    stride = shape[3:] // parts
    return tf.slice(data, tf.concat([shape[:3] * 0, stride * i], 0), tf.concat([shape[:3], stride], 0))


x = L.Input((6, 6, 3), name='rgb')
outs = []
for i in range(3):
    with tf.device('/gpu:%d' % i), K.name_scope('replica_%d' % i):
        outs.append(grey(L.Lambda(get_slice, output_shape=(6, 6, 1), arguments={'i': i, 'parts': 3})(x)))
model = tf.keras.Model(x, L.concatenate(outs, axis=3, name='g2'))
model.compile(loss='mse', optimizer=tf.train.AdamOptimizer(0.01))
model.fit(data(1, 32, (6, 6, 3)), data(2, 32, (6, 6, 3)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(K.get_session(), './parallel.ckpt')
finish('Each colour channel on its own GPU through one grey net: get_slice with {i, parts}, replica_N scopes, but axis 3, joined along axis 3; Saver with .meta.',
       model, model, data(3, 8, (6, 6, 3)), expected='clean', without='clean')
