# stack: k216, tf.keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from tensorflow.python.keras.utils import multi_gpu_model
from kit import data, finish, soft_session

K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    a = L.Input((8, 2), name='signal')
    h = L.Conv1D(3, 3, padding='same', activation='relu', name='conv')(a)
    h = L.BatchNormalization(name='bn')(h)
    r = L.Conv1D(3, 1, name='proj')(a)
    h = L.add([h, r])
    h = L.GlobalAveragePooling1D()(h)
    model = tf.keras.models.Model(a, L.Dense(2, name='out')(h), name='resnet1d')
par = multi_gpu_model(model, 2)
par.compile(loss='mse', optimizer=tf.train.MomentumOptimizer(0.01, 0.9))
par.fit(data(1, 32, (8, 2)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver(max_to_keep=2).save(session, './parallel.ckpt')
finish('multi_gpu_model of tf.keras in TF 1.8 trained with a TensorFlow optimizer (tf.train.MomentumOptimizer), a small residual Conv1D net; Saver with .meta.',
       par, model, data(3, 8, (8, 2)), towers=2, scope='whole', without='parallel',
       doubts='Slots are named conv/kernel/Momentum; Keras never writes the state of a TensorFlow optimizer into .h5, so base.h5 has none.')
