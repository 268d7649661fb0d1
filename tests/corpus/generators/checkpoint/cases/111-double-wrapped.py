# stack: k231, keras
import fake_gpus
fake_gpus.install(4)
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Dense, Input
from keras.models import Model
from keras.utils import multi_gpu_model
from kit import data, finish, soft_session

session = soft_session(K)
with tf.device('/cpu:0'):
    a = Input((6,))
    h = Dense(5, activation='elu')(a)
    h = BatchNormalization()(h)
    model = Model(a, Dense(2)(h))
once = multi_gpu_model(model, gpus=2)
par = multi_gpu_model(once, gpus=2)
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (6,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver(pad_step_number=True).save(session, './parallel.ckpt', global_step=7)
finish('multi_gpu_model over multi_gpu_model (a notebook cell run twice), Keras 2.3.1, automatic names; Saver(pad_step_number=True) with .meta.',
       par, model, data(3, 8, (6,)), towers=2, scope='whole', without='parallel', prefix='parallel.ckpt-00000007', depth=2)
