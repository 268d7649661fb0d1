# stack: k122, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import Convolution2D, Dense, Flatten, Input, merge
from keras.models import Model, Sequential
from kit import data, finish, soft_session

session = soft_session(K)


def member(i):
    m = Sequential(name='member_%d' % i)
    m.add(Convolution2D(3, 3, 3, activation='relu', input_shape=(6, 6, 1), dim_ordering='tf'))
    m.add(Flatten())
    m.add(Dense(2, activation='softmax'))
    return m


x = Input((6, 6, 1))
outs = []
for i in range(3):
    with tf.device('/gpu:%d' % i):
        outs.append(member(i)(x))
model = Model(x, merge(outs, mode='ave'))
model.compile(loss='mse', optimizer='adagrad')
model.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, nb_epoch=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt', write_meta_graph=False)
finish('An ensemble of three different models, each on its own GPU, averaged. Saver over the session, without .meta.',
       model, model, data(3, 8, (6, 6, 1)), expected='clean', without='clean', without_ok=['clean with a warning'])
