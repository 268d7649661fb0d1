# stack: k224, keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from keras import backend as K
from keras.layers import Dense, Dropout, Input, Lambda, concatenate, multiply
from keras.models import Model
from keras.utils import multi_gpu_model
from kit import data, finish, soft_session

session = soft_session(K)
with tf.device('/cpu:0'):
    left, right, ctx = Input((5,), name='left'), Input((5,), name='right'), Input((3,), name='context')
    enc = Dense(4, activation='tanh', name='encoder')
    l, r = enc(left), enc(right)
    m = multiply([l, r], name='mul')
    c = Dropout(0.1, name='ctx_drop')(Dense(4, activation='relu', name='ctx')(ctx))
    both = concatenate([m, c], name='both')
    same = Dense(1, activation='sigmoid', name='same')(both)
    kind = Dense(3, activation='softmax', name='kind')(both)
    size = Dense(1, name='size')(Lambda(lambda t: t * 2., name='twice')(both))
    model = Model([left, right, ctx], [same, kind, size], name='pairs')
model.get_layer('ctx').trainable = False
par = multi_gpu_model(model, gpus=[0, 1], cpu_merge=False)
par.compile(loss={'same': 'mse', 'kind': 'mse', 'size': 'mae'}, optimizer='adadelta')
par.fit(data(1, 32, (5,), (5,), (3,)), data(2, 32, (1,), (3,), (1,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt', write_meta_graph=False)
finish('multi_gpu_model(gpus=[0, 1], cpu_merge=False); three inputs, three outputs, a shared encoder, a frozen layer; Saver without .meta.',
       par, model, list(data(3, 8, (5,), (5,), (3,))), towers=2, scope='whole', compile_with={'loss': {'same': 'mse', 'kind': 'mse', 'size': 'mae'}})
