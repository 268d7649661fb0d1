# stack: py27k224, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Bidirectional, Concatenate, Dense, GRU, Input, Lambda
from keras.models import Model
from keras.optimizers import RMSprop
from kit import data, finish, soft_session

session = soft_session(K)
with tf.name_scope('warmup'):
    old = Dense(3)(Input((5, 2)))  # an earlier try in the same notebook
with tf.name_scope('classifier'):
    x = Input((5, 2))
    with tf.name_scope('encoder'):
        h = Bidirectional(GRU(3, return_sequences=True, name='gru'), merge_mode='sum', name='gru_both')(x)
        h = BatchNormalization()(h)
    with tf.name_scope('decoder'):
        h = GRU(2, reset_after=True, name='gru2')(h)
    model = Model(x, Dense(2)(h))


def get_batch_slice(tensor, start_frac, end_frac):
    n = tf.to_float(tf.shape(tensor)[0])
    return tensor[tf.to_int32(tf.round(n * start_frac)):tf.to_int32(tf.round(n * end_frac))]


ratios, done, outs = [0.5, 0.25, 0.25], 0., []
for gpu, share in enumerate(ratios):
    with tf.device('/gpu:%d' % gpu), tf.name_scope('gpu%d' % gpu):
        part = Lambda(get_batch_slice, arguments={'start_frac': done, 'end_frac': done + share}, name='frac_%d' % gpu)(x)
        outs.append(model(part))
        done += share
par = Model(x, Concatenate(axis=0, name='all_gpus')(outs))
par.compile(loss='mse', optimizer=RMSprop(0.01, decay=0.1))
par.fit(data(1, 32, (5, 2)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt', write_meta_graph=False)
finish('Template built under name scopes (variables classifier/encoder/gru_both/...), an unused Dense beside it in the session, towers by fractions 0.5, 0.25, 0.25; Saver without .meta.',
       par, model, data(3, 8, (5, 2)), towers=3, scope='whole')
