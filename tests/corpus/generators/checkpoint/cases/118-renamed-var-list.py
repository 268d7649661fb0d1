# stack: k224, keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Conv1D, Dense, Flatten, Input
from keras.models import Model
from keras.utils import multi_gpu_model
from kit import data, finish, soft_session

session = soft_session(K)
with tf.device('/cpu:0'):
    a = Input((6, 3), name='audio')
    h = Conv1D(4, 3, padding='same', name='front')(a)
    h = BatchNormalization(name='front_bn')(h)
    h = Flatten(name='flat')(Conv1D(3, 2, strides=2, activation='relu', name='middle')(h))
    model = Model(a, Dense(2, name='keyword')(h), name='kws')
par = multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (6, 3)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
names = {'kws_v2/' + v.op.name.replace('/', '.'): v for v in model.weights}
tf.train.Saver(names).save(session, './parallel.ckpt')
finish('Saver with a dictionary of own names (kws_v2/front.kernel for the variable front/kernel), with .meta, whose SaveV2 op ties the names to the variables.',
       par, model, data(3, 8, (6, 3)), towers=2, scope='whole', without='parallel', optimizer=False,
       ok=['fix refused with a reason where the .meta is not read for names'],
       doubts='Shapes are all different but for the two pairs of BatchNorm vectors and such: only the .meta settles the names.')
