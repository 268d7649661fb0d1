# stack: tf221, tf_keras
import tensorflow as tf
import tf_keras as keras
from kit import data, finish

keras.utils.set_random_seed(136)
L = keras.layers
a = L.Input((12,), name='wide')
h = L.Dense(20, activation='relu', name='first')(a)
h = L.BatchNormalization(name='bn')(h)
h = L.Dense(16, activation='relu', name='second')(h)
model = keras.Model(a, L.Dense(3, name='third')(h), name='mlp')
pieces = [L.Lambda(lambda t, lo, hi: t[lo:hi], arguments={'lo': lo, 'hi': hi}, name='rows%d' % lo)(a)
          for lo, hi in ((0, 3), (3, 6), (6, None))]
par = keras.Model(a, L.Concatenate(axis=0, name='up')([model(p) for p in pieces]))
par.compile(loss='mse', optimizer=keras.optimizers.Adam(0.01))
par.fit(data(1, 32, (12,)), data(2, 32, (3,)), batch_size=8, epochs=2, verbose=0)
options = tf.train.CheckpointOptions(experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy(max_shard_size=1024))
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save('./parallel.ckpt', options=options)
finish('TF 2.21, tf_keras: fixed rows per tower (3, 3, the rest); Checkpoint.save with MaxShardSizePolicy(1024): several data shards, larger tensors cut across them.',
       par, model, data(3, 8, (12,)), towers=3, scope='whole', prefix='parallel.ckpt-1', doubts='Entries of the index are slices of tensors.')
