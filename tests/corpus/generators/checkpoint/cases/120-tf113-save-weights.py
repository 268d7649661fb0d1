# stack: k224, tf.keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from kit import data, finish, soft_session

K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    model = tf.keras.Sequential([L.Conv2D(3, 3, input_shape=(6, 6, 1), name='conv'), L.BatchNormalization(name='bn'), L.ReLU(), L.Flatten(),
                                 L.Dense(4, name='fc'), L.BatchNormalization(name='bn2'), L.Dense(2, name='out')], name='cnn')
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
finish('tf.keras of TF 1.13, graph mode: multi_gpu_model, parallel.save_weights("parallel.ckpt"), object-based.', par, model, data(3, 8, (6, 6, 1)),
       towers=2, scope='whole')
