# stack: k224, keras
import fake_gpus
fake_gpus.install(3)
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Conv2D, Dense, Flatten
from keras.models import Sequential
from keras.utils import multi_gpu_model
from kit import data, finish, soft_session

session = soft_session(K)
model = Sequential([Conv2D(2, 3, activation='relu', input_shape=(6, 6, 1), name='conv'), BatchNormalization(name='bn'), Flatten(), Dense(2, name='fc')], name='lenet')
par = multi_gpu_model(model, gpus=3, cpu_relocation=True)
par.compile(loss='mse', optimizer='rmsprop')
par.fit(data(1, 36, (6, 6, 1)), data(2, 36, (2,)), batch_size=12, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
inner = [layer for layer in par.layers if layer.name == 'lenet'][0]
assert inner is not model
finish('multi_gpu_model(cpu_relocation=True) clones the template; Saver() over the session stores the abandoned original (conv/kernel) '
       'and the trained clone (conv_1/kernel) side by side; with .meta.',
       par, inner, data(3, 8, (6, 6, 1)), towers=3, scope='whole', without='parallel',
       ok=['refused without .meta: two sets of weights fit the architecture'],
       doubts='A reader that maps by name alone takes the untrained original, conv/kernel. The .meta graph shows that the towers read the clone. '
              'base_weights.h5 holds the clone; its weight names are what Keras wrote (conv_1/kernel:0).')
