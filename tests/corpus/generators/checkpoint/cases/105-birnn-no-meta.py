# stack: k216, keras
import fake_gpus
fake_gpus.install(4)
import tensorflow as tf
from keras import backend as K
from keras.layers import Bidirectional, Dense, Embedding, Input, LSTM, TimeDistributed
from keras.models import Model
from keras.utils import multi_gpu_model
from kit import data, finish, ids, soft_session

session = soft_session(K)
with tf.device('/cpu:0'):
    tokens = Input((6,), name='tokens')
    h = Embedding(15, 4, mask_zero=True, name='emb')(tokens)
    h = Bidirectional(LSTM(3, return_sequences=True, recurrent_dropout=0.1), name='bi')(h)
    model = Model(tokens, TimeDistributed(Dense(5, activation='softmax'), name='tags')(h), name='tagger')
par = multi_gpu_model(model, gpus=4)
par.compile(loss='mse', optimizer='adagrad')
par.fit(ids(1, 32, 6, 15), data(2, 32, (6, 5)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt', write_meta_graph=False, write_state=False)
finish('multi_gpu_model of Keras 2.1.6, four towers, a bidirectional LSTM tagger; Saver without .meta and without the state file. '
       'The parallel model has no JSON: only base_model.json was kept.',
       par, model, ids(3, 8, 6, 15), towers=4, scope='whole')
