# stack: k231, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import Conv1D, Dense, GlobalMaxPooling1D, Input, Lambda, Reshape, concatenate
from keras.models import Model, Sequential
from kit import data, finish, soft_session

session = soft_session(K)
local = Sequential([Conv1D(3, 2, activation='relu', input_shape=(4, 2)), GlobalMaxPooling1D(), Dense(2), Reshape((1, 2))], name='local')
a = Input((12, 2), name='recording')


def get_slice(data, i, parts):
    size = K.shape(data)[1] // parts
    return data[:, i * size:(i + 1) * size]


outs = []
for i in range(3):
    with tf.device('/gpu:%d' % i):
        outs.append(local(Lambda(get_slice, output_shape=(4, 2), arguments={'i': i, 'parts': 3})(a)))
model = Model(a, concatenate(outs, axis=1))
model.compile(loss='mse', optimizer='rmsprop')
model.fit(data(1, 32, (12, 2)), data(2, 32, (3, 2)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
finish('Windows over time on three GPUs: get_slice with {i, parts} like the official one, but along axis 1, joined along axis 1; Saver with .meta.',
       model, model, data(3, 8, (12, 2)), expected='clean', without='clean')
