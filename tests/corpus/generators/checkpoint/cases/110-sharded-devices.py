# stack: k231, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Conv2D, Dense, Flatten, Input, Lambda, concatenate
from keras.models import Model
from kit import data, finish, soft_session

session = soft_session(K)
with tf.device('/cpu:0'):
    image = Input((6, 6, 2), name='image')
    h = Conv2D(3, 3, activation='relu', name='conv1')(image)
    h = BatchNormalization(name='bn1')(h)
    h = Flatten(name='flat')(h)
with tf.device('/gpu:1'):
    h = Dense(5, activation='relu', name='fc1')(h)
    h = BatchNormalization(name='bn2')(h)
with tf.device('/gpu:0'):
    model = Model(image, Dense(2, name='fc2')(h), name='spread')


def data_parallel(net, n):
    x = net.inputs[0]
    outs = []
    for k in range(n):
        with tf.device('/gpu:%d' % k), K.name_scope('replica_%d' % k):
            piece = Lambda(lambda t, k, n: tf.strided_slice(t, [tf.shape(t)[0] * k // n], [tf.shape(t)[0] * (k + 1) // n]),
                           arguments={'k': k, 'n': n}, name='piece_%d_of_%d' % (k, n))(x)
            outs.append(net(piece))
    return Model(x, concatenate(outs, axis=0, name='joined'))


par = data_parallel(model, 2)
par.compile(loss='mse', optimizer='nadam')
par.fit(data(1, 32, (6, 6, 2)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver(sharded=True).save(session, './parallel.ckpt')
finish('Hand-written data_parallel with strided_slice; the template\'s variables were placed on three devices, so Saver(sharded=True) writes several data shards; with .meta.',
       par, model, data(3, 8, (6, 6, 2)), towers=2, scope='whole', without='parallel')
