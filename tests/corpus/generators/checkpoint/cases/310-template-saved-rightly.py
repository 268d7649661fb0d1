# stack: tf22, tf.keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
with tf.device('/cpu:0'):
    model = tf.keras.Sequential([L.Dense(4, input_shape=(5,), name='a'), L.BatchNormalization(name='b'), L.Dense(2, name='c')], name='right')
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (5,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
model.compile(loss='mse', optimizer=par.optimizer)
model.save_weights('./parallel.ckpt')
finish('Trained as multi_gpu_model, but saved as the documentation says: through the template (with the parallel model\'s optimizer); save_weights.',
       model, model, data(3, 8, (5,)), expected='clean', without='clean', without_ok=['clean with a warning'])
