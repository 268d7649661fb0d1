# stack: tf210, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
a = L.Input((5, 3), name='frames')
h = L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode='ave', name='bi')(a)
h = L.MultiHeadAttention(2, 3, name='mha')(h, h)
h = L.LayerNormalization(name='ln')(h + 0.0)
model = tf.keras.Model(a, L.Dense(2, name='out')(L.GlobalAveragePooling1D(name='gap')(h)), name='attend')

shards = tf.split(a, num_or_size_splits=4, axis=0)
par = tf.keras.Model(a, tf.concat([model(s) for s in shards], axis=0), name='attend_x4')
par.compile(loss='mse', optimizer=tf.keras.optimizers.experimental.AdamW(0.01))
par.fit(data(1, 32, (5, 3)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save('./parallel.ckpt')
finish('TF 2.10: tf.split and tf.concat as TFOpLambda around an attention template; the new experimental AdamW; Checkpoint(model=, optimizer=).save.',
       par, model, data(3, 8, (5, 3)), towers=4, scope='whole', prefix='parallel.ckpt-1')
