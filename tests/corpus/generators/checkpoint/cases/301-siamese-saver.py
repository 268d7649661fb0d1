# stack: k224, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Conv2D, Dense, Flatten, Input, Lambda, concatenate
from keras.models import Model, Sequential
from kit import data, finish, soft_session

session = soft_session(K)
twin = Sequential([Conv2D(2, 3, activation='relu', input_shape=(6, 6, 1)), BatchNormalization(), Flatten(), Dense(3)], name='twin')
pair = Input((2, 6, 6, 1), name='pair')
one = Lambda(lambda t: t[:, 0], name='first')(pair)
two = Lambda(lambda t: t[:, 1], name='second')(pair)
model = Model(pair, concatenate([twin(one), twin(two)], axis=-1, name='both'))
model.compile(loss='mse', optimizer='adam')
model.fit(data(1, 32, (2, 6, 6, 1)), data(2, 32, (6,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
finish('A siamese net: two Lambdas pick the first and the second image of a pair (axis 1), the same Sequential on both, features side by side; Saver with .meta.',
       model, model, data(3, 8, (2, 6, 6, 1)), expected='clean', without='clean')
