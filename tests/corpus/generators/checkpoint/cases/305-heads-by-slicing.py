# stack: tf27, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
q = L.Input((5, 2), name='per_head')
w = L.Softmax(name='sm')(L.Dot(2, name='qk')([L.Dense(2, name='wq')(q), L.Dense(2, name='wk')(q)]))
head = tf.keras.Model(q, L.Dot((2, 1), name='wv')([w, L.Dense(2, name='v')(q)]), name='head')
a = L.Input((5, 6), name='tokens')
par = tf.keras.Model(a, L.Concatenate(axis=-1, name='heads')([head(p) for p in tf.split(a, 3, axis=-1)]))
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (5, 6)), data(2, 32, (5, 6)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save('./parallel.ckpt')
finish('Attention heads: channels split in three, one shared head model on each, concatenated along channels; Checkpoint.save.',
       par, par, data(3, 8, (5, 6)), expected='clean', without='clean with a warning', without_ok=['clean'], prefix='parallel.ckpt-1')
