# stack: k231, tf.keras
import os
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from kit import data, finish, reader_of, soft_session

K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    a = L.Input((5,), name='feats')
    h = L.Dense(4, activation='relu', name='d1')(a)
    h = L.BatchNormalization(name='bn')(h)
    model = tf.keras.Model(a, L.Dense(2, name='d2')(h), name='tab')
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer=tf.compat.v1.train.AdagradOptimizer(0.05))
x, t = data(1, 32, (5,), (2,))
config = tf.estimator.RunConfig(tf_random_seed=5, keep_checkpoint_max=1, session_config=tf.compat.v1.ConfigProto(allow_soft_placement=True))
est = tf.keras.estimator.model_to_estimator(par, model_dir='est', config=config)
est.train(lambda: tf.data.Dataset.from_tensor_slices((x, t)).batch(16).repeat(2))
for name in os.listdir('est'):
    if name.startswith('events.'):
        os.remove('est/' + name)  # the log, with this machine's name
reader = reader_of('est/model.ckpt-4')
for v in par.weights:
    K.set_value(v, reader.get_tensor(v.name.split(':')[0]))
finish('model_to_estimator over a tf.keras multi_gpu_model: what the estimator left in its model_dir, with .meta and graph.pbtxt; the weights were read back into Keras for the base.',
       par, model, data(3, 8, (5,)), towers=2, scope='whole', without='parallel', prefix='est/model.ckpt-4',
       doubts='The slots d1/kernel/Adagrad of the TensorFlow optimizer have no place in .h5. est/keras holds the initial weights as another, name-based checkpoint.')
