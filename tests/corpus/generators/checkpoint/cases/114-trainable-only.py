# stack: k224, keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Dense
from keras.models import Sequential
from keras.utils import multi_gpu_model
from kit import data, finish, soft_session

session = soft_session(K)
with tf.device('/cpu:0'):
    model = Sequential([Dense(5, input_shape=(4,), name='d1'), BatchNormalization(name='bn'), Dense(2, name='d2')], name='small')
par = multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer='sgd')
par.fit(data(1, 32, (4,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver(par.trainable_weights).save(session, './parallel.ckpt')
finish('Saver(par.trainable_weights): the moving statistics of BatchNorm were never saved; with .meta.',
       par, model, data(3, 8, (4,)), towers=2, scope='whole', without='parallel', complete=False, optimizer=False, expected_fix='refused',
       ok=['fix refused, naming the two moving statistics that are missing', 'written with a finding that names them'],
       doubts='The file under test cannot give base_weights.h5: two tensors are not in it.')
