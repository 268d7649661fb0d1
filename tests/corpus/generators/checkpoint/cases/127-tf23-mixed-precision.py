# stack: tf23, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
tf.keras.mixed_precision.experimental.set_policy('mixed_float16')
L = tf.keras.layers
a = L.Input((8,), name='x')
h = L.Dense(6, activation='relu', name='d1')(a)
h = L.BatchNormalization(name='bn')(h)
model = tf.keras.Model(a, L.Dense(2, dtype='float32', name='d2')(h), name='mixed')

with tf.device('/cpu:0'):
    halves = L.Lambda(lambda t: tf.split(t, 2), name='split_batch')(a)
outs = [model(half) for half in halves]
par = tf.keras.Model(a, L.Concatenate(axis=0, dtype='float32', name='stitch')(outs))
opt = tf.keras.mixed_precision.experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.01, momentum=0.9), 'dynamic')
par.compile(loss='mse', optimizer=opt)
par.fit(data(1, 32, (8,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt', save_format='tf')
finish('TF 2.3 under the mixed_float16 policy, one Lambda that splits into two, LossScaleOptimizer around SGD with momentum; save_weights(save_format="tf").',
       par, model, data(3, 8, (8,)), towers=2, scope='whole', tolerance=5e-3, doubts='Half precision: predictions may differ by 1e-3.')
