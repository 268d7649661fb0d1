# stack: k231, tf.keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from kit import data, finish, soft_session

K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    a = L.Input((4, 3), name='steps')
    h = L.RNN([L.GRUCell(4, name='low'), L.SimpleRNNCell(3, name='high')], unroll=True, name='stack')(a)
    h = L.BatchNormalization(name='norm')(h)
    model = tf.keras.Model(a, L.Dense(2, name='next')(h), name='forecaster')
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer=tf.keras.optimizers.Adam(0.01))
par.fit(data(1, 32, (4, 3)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.compat.v1.train.Saver().save(K.get_session(), './parallel.ckpt', write_meta_graph=False)
finish('tf.keras of TF 1.15 in graph mode: multi_gpu_model over a template with stacked RNN cells; name-based Saver over resource variables, without .meta.',
       par, model, data(3, 8, (4, 3)), towers=2, scope='whole')
