# stack: k209, keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
import keras
from keras import backend as K
from keras.layers import BatchNormalization, Dense, Dropout
from keras.models import Sequential
from keras.utils import multi_gpu_model
from kit import data, finish, soft_session

session = soft_session(K)
with tf.device('/cpu:0'):
    model = Sequential([Dense(6, input_shape=(5,), use_bias=False, name='hidden'), BatchNormalization(name='norm'), Dropout(0.3),
                        Dense(4, activation='relu', name='hidden2'), BatchNormalization(center=False, name='norm2'), Dense(3, name='logits')])
par = multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer=keras.optimizers.SGD(lr=0.01, momentum=0.9, nesterov=True, decay=1e-3))
par.fit(data(1, 48, (5,)), data(2, 48, (3,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
finish('multi_gpu_model of Keras 2.0.9, the first; its model cannot be written as .h5 or JSON at all, so people fell back on tf.train.Saver(), with .meta.',
       par, model, data(3, 8, (5,)), towers=2, scope='whole', without='parallel')
