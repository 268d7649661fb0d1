# stack: tf215, tf.keras
import tensorflow as tf
from kit import data, finish

tf.compat.v1.disable_v2_behavior()
import kit
keras = tf.compat.v1.keras
K, L = keras.backend, keras.layers
session = kit.soft_session(K)
a = L.Input((6, 6, 1), name='pic')
h = L.SeparableConv2D(3, 3, activation='relu', name='sep')(a)
h = L.BatchNormalization(name='bn')(h)
h = L.Flatten(name='flat')(h)
model = keras.Model(a, L.Dense(2, name='out')(h), name='mini')

with tf.device('/cpu:0'):
    pieces = tf.split(a, 2, axis=0, name='scatter')
outs = []
for i, piece in enumerate(pieces):
    with tf.device('/gpu:%d' % i):
        outs.append(model(piece))
par = keras.Model(a, L.Concatenate(axis=0, name='gathered')(outs))
par.compile(loss='mse', optimizer=keras.optimizers.RMSprop(0.01, momentum=0.9, centered=True))
par.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.compat.v1.train.Saver().save(K.get_session(), './parallel.ckpt', strip_default_attrs=True)
finish('TF 2.15 with disable_v2_behavior, an old code base carried along: tf.split on the Keras input, tf.compat.v1.train.Saver, with .meta.',
       par, model, data(3, 8, (6, 6, 1)), towers=2, scope='whole', without='parallel')
