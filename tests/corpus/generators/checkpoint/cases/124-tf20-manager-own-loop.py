# stack: tf20, tf.keras
import tensorflow as tf
from kit import data, finish, ids, seed2

seed2()
L = tf.keras.layers
a = L.Input((6,), name='tokens')
h = L.Embedding(12, 4, name='emb')(a)
h = L.Bidirectional(L.LSTM(3), name='bilstm')(h)
h = L.Dropout(0.1, name='drop')(h)
model = tf.keras.Model(a, L.Dense(2, name='logits')(h), name='sentiment')


class TakeShard(L.Layer):
    """Rows of this tower: shard `which` of `total`, remainder spread over the first ones."""

    def __init__(self, which, total, **kwargs):
        super(TakeShard, self).__init__(**kwargs)
        self.which, self.total = which, total

    def call(self, t):
        n = tf.shape(t)[0]
        each, rest = n // self.total, n % self.total
        start = self.which * each + tf.minimum(self.which, rest)
        return t[start:start + each + tf.cast(self.which < rest, tf.int32)]

    def get_config(self):
        return dict(super(TakeShard, self).get_config(), which=self.which, total=self.total)


outs = []
for i in range(3):
    with tf.device('/cpu:0'):
        outs.append(model(TakeShard(i, 3, name='shard_%d' % i)(a)))
par = tf.keras.Model(a, L.Concatenate(axis=0, name='gather')(outs), name='sentiment_dp')
opt = tf.keras.optimizers.Adamax(0.01)
step = tf.Variable(0, dtype=tf.int64)
ckpt = tf.train.Checkpoint(step=step, optimizer=opt, net=par)
manager = tf.train.CheckpointManager(ckpt, './tf_ckpts', max_to_keep=2)
x, y = ids(1, 32, 6, 12), data(2, 32, (2,))
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(par(x, training=True) - y))
    opt.apply_gradients(zip(tape.gradient(loss, par.trainable_variables), par.trainable_variables))
    step.assign_add(1)
    manager.save()
par.compile(optimizer=opt, loss='mse')
finish('TF 2.0, a custom training loop after the guide: Checkpoint(step=, optimizer=, net=parallel) through a CheckpointManager; a slice layer class, remainder to the first towers.',
       par, model, ids(3, 8, 6, 12), towers=3, scope='whole', prefix='tf_ckpts/ckpt-3',
       doubts='The folder also holds ckpt-2, one step earlier; the model hangs on the attribute net.')
