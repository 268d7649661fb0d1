import fake_gpus
import tensorflow as tf
from kit import *

L = tf.keras.layers


# %% 117-v1-graph-tf-split | tf215 | tf.keras
tf.compat.v1.disable_v2_behavior()
import kit
keras = tf.compat.v1.keras
K, L = keras.backend, keras.layers
session = soft_session(K)
a = L.Input((6, 6, 1), name='pic')
h = L.SeparableConv2D(3, 3, activation='relu', name='sep')(a)
h = L.BatchNormalization(name='bn')(h)
h = L.Flatten(name='flat')(h)
model = keras.Model(a, L.Dense(2, name='out')(h), name='mini')

with tf.device('/cpu:0'):
    pieces = tf.split(a, 2, axis=0, name='scatter')
outs = []
for i, piece in enumerate(pieces):
    with tf.device('/gpu:%d' % i):
        outs.append(model(piece))
par = keras.Model(a, L.Concatenate(axis=0, name='gathered')(outs))
par.compile(loss='mse', optimizer=keras.optimizers.RMSprop(0.01, momentum=0.9, centered=True))
par.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.compat.v1.train.Saver().save(K.get_session(), './parallel.ckpt', strip_default_attrs=True)
finish(par, model, data(3, 8, (6, 6, 1)))


# %% 123-tf20-two-outputs | tf20 | tf.keras
fake_gpus.install(3)
seed2()
with tf.device('/cpu:0'):
    a = L.Input((7, 7, 1), name='scan')
    h = L.Conv2D(2, 3, activation='relu', name='c1')(a)
    h = L.BatchNormalization(name='b1')(h)
    mask = L.Conv2D(1, 1, activation='sigmoid', name='mask')(h)
    grade = L.Dense(3, activation='softmax', name='grade')(L.Flatten(name='f')(L.BatchNormalization(name='b2')(h)))
    model = tf.keras.Model(a, [mask, grade], name='segcls')
par = tf.keras.utils.multi_gpu_model(model, gpus=3)
par.compile(loss={'mask': 'mse', 'grade': 'mse'}, optimizer=tf.keras.optimizers.RMSprop(0.01, momentum=0.9, centered=True))
par.fit(data(1, 36, (7, 7, 1)), list(data(2, 36, (5, 5, 1), (3,))), batch_size=12, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
finish(par, model, data(3, 8, (7, 7, 1)), settings={'loss': {'mask': 'mse', 'grade': 'mse'}})


# %% 124-tf20-manager-own-loop | tf20 | tf.keras
seed2()
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
finish(par, model, ids(3, 8, 6, 12), prefix='tf_ckpts/ckpt-3')


# %% 125-tf22-modelcheckpoint | tf22 | tf.keras
fake_gpus.install(2)
seed2()
with tf.device('/cpu:0'):
    tower = tf.keras.Sequential([L.Dense(4, activation='relu', input_shape=(5,), name='p1'), L.BatchNormalization(name='pbn'), L.Dense(3, name='p2')], name='projector')
    a, b = L.Input((5,), name='query'), L.Input((5,), name='answer')
    pa, pb = tower(a), tower(b)
    h = L.Concatenate(name='pair')([pa, pb, L.Subtract(name='diff')([pa, pb])])
    h = L.BatchNormalization(name='pair_bn')(h)
    model = tf.keras.Model([a, b], L.Dense(1, activation='sigmoid', name='match')(h), name='matcher')
par = tf.keras.utils.multi_gpu_model(model, gpus=2, cpu_relocation=False, cpu_merge=True)
par.compile(loss='binary_crossentropy', optimizer=tf.keras.optimizers.Nadam(0.01), metrics=['accuracy'])
keep = tf.keras.callbacks.ModelCheckpoint('parallel.ckpt', save_weights_only=True, monitor='loss', save_best_only=False)
par.fit(list(data(1, 32, (5,), (5,))), (data(2, 32, (1,)) > 0).astype('float32'), batch_size=16, epochs=2, verbose=0, callbacks=[keep])
finish(par, model, list(data(3, 8, (5,), (5,))), settings={'loss': 'binary_crossentropy', 'metrics': ['accuracy']})


# %% 126-tf23-write-embedded | tf23 | tf.keras
fake_gpus.install(2)
seed2()
with tf.device('/cpu:0'):
    face = L.Input((6, 6, 1), name='face')
    h = L.Conv2D(3, 3, strides=2, padding='same', name='enc_conv')(face)
    h = L.BatchNormalization(name='enc_bn')(h)
    encoder = tf.keras.Model(face, L.Dense(4, name='code')(L.Flatten(name='enc_flat')(h)), name='encoder')
    decoders = [tf.keras.Sequential([L.Dense(9, input_shape=(4,), name='dec_%s_fc' % s), L.Reshape((3, 3, 1)), L.UpSampling2D(2),
                                     L.Conv2D(1, 3, padding='same', name='dec_%s_out' % s)], name='decoder_' + s) for s in 'ab']
multi = tf.keras.utils.multi_gpu_model(encoder, gpus=2)
x = L.Input((6, 6, 1), name='warped')
code = multi(x)
par = tf.keras.Model(x, [d(code) for d in decoders], name='swap')
par.compile(loss='mae', optimizer=tf.keras.optimizers.Adagrad(0.05))
par.fit(data(1, 32, (6, 6, 1)), list(data(2, 32, (6, 6, 1), (6, 6, 1))), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).write('./parallel.ckpt')
x = L.Input((6, 6, 1), name='warped')
code = encoder(x)
base = tf.keras.Model(x, [d(code) for d in decoders], name='swap')
finish(par, base, data(3, 8, (6, 6, 1)), template=encoder, settings={'loss': 'mae'})


# %% 127-tf23-mixed-precision | tf23 | tf.keras
seed2()
tf.keras.mixed_precision.experimental.set_policy('mixed_float16')
a = L.Input((8,), name='x')
h = L.Dense(6, activation='relu', name='d1')(a)
h = L.BatchNormalization(name='bn')(h)
model = tf.keras.Model(a, L.Dense(2, dtype='float32', name='d2')(h), name='mixed')

with tf.device('/cpu:0'):
    halves = L.Lambda(lambda t: tf.split(t, 2), name='split_batch')(a)
outs = [model(half) for half in halves]
par = tf.keras.Model(a, L.Concatenate(axis=0, dtype='float32', name='stitch')(outs))
opt = tf.keras.mixed_precision.experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.01, momentum=0.9), 'dynamic')
par.compile(loss='mse', optimizer=opt)
par.fit(data(1, 32, (8,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt', save_format='tf')
finish(par, model, data(3, 8, (8,)), tolerance=5e-3)


# %% 128-tf27-subclassed-template | tf27 | tf.keras
seed2()


class Backbone(tf.keras.Model):
    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.convs = [L.Conv2D(width, 3, padding='same', name='conv_%d' % i) for i in range(2)]
        self.norms = {'a': L.BatchNormalization(name='norm_a'), 'b': L.BatchNormalization(name='norm_b')}
        self.pool = L.GlobalAveragePooling2D()
        self.out = L.Dense(2, name='out')

    def call(self, x, training=None):
        for conv, key in zip(self.convs, 'ab'):
            x = tf.nn.relu(self.norms[key](conv(x), training=training))
        return self.out(self.pool(x))

    def get_config(self):
        return {'width': self.width, 'name': self.name}


net = Backbone(name='backbone')
net(tf.zeros((1, 6, 6, 1)))
a = tf.keras.Input((6, 6, 1), name='image')
outs = []
for i in range(2):
    with tf.device('/cpu:0'):
        outs.append(net(L.Lambda(lambda t, i=i: t[tf.shape(t)[0] // 2 * i:tf.shape(t)[0] // 2 if i == 0 else tf.shape(t)[0]], name='g%d' % i)(a)))
par = tf.keras.Model(a, L.Concatenate(0, name='cat')(outs))
par.compile(loss='mse', optimizer=tf.keras.optimizers.Adam(0.01))
par.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
finish(par, net, data(3, 8, (6, 6, 1)))


# %% 129-tf27-double-ratio | tf27 | tf.keras
seed2()


class SliceBatch(L.Layer):
    def __init__(self, begin, end, **kwargs):
        super().__init__(**kwargs)
        self.begin, self.end = begin, end

    def call(self, x):
        n = tf.cast(tf.shape(x)[0], tf.float32)
        return x[tf.cast(n * self.begin, tf.int32):tf.cast(n * self.end, tf.int32)]

    def get_config(self):
        return {**super().get_config(), 'begin': self.begin, 'end': self.end}


def on_gpus(model, bounds, tag):
    x = tf.keras.Input(model.input_shape[1:], name='in_' + tag)
    outs = [model(SliceBatch(b, e, name='%s_slice_%d' % (tag, i))(x)) for i, (b, e) in enumerate(zip(bounds, bounds[1:]))]
    return tf.keras.Model(x, L.Concatenate(axis=0, name=tag + '_concat')(outs), name=tag)


core = tf.keras.Sequential([tf.keras.Input((4, 2)), L.Conv1D(3, 2, name='cv'), L.BatchNormalization(name='bn'), L.Flatten(), L.Dense(2, name='dn')], name='core')
par = on_gpus(on_gpus(core, [0., .5, 1.], 'inner'), [0., .25, .5, 1.], 'outer')
par.compile(loss='mse', optimizer=tf.keras.optimizers.Ftrl(0.05))
par.fit(data(1, 32, (4, 2)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(par).save('./parallel.ckpt')
finish(par, core, data(3, 8, (4, 2)), prefix='parallel.ckpt-1', inner_towers=2)


# %% 130-tf210-split-oplambda | tf210 | tf.keras
seed2()
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
finish(par, model, data(3, 8, (5, 3)), prefix='parallel.ckpt-1')


# %% 131-tf210-inline-embedded-stitch | tf210 | tf.keras
seed2()
v = L.Input((4,), name='v')
feat = tf.keras.Model(v, L.Dense(3, activation='relu', name='f2')(L.BatchNormalization(name='fbn')(L.Dense(4, name='f1')(v))), name='features')

raw = L.Input((4,), name='raw')
pre = L.Dense(4, name='pre')
post = L.Dense(2, name='post')
skip = L.Dense(3, use_bias=False, name='skip')
h = pre(raw)
pieces = [L.Lambda(lambda t, k: t[k::2], arguments={'k': k}, name='every_second_from_%d' % k)(h) for k in range(2)]
rows = [feat(p) for p in pieces]
merged = L.Lambda(lambda ts: tf.reshape(tf.stack(ts, axis=1), (-1, 3)), name='interleave')(rows)
par = tf.keras.Model(raw, post(L.add([merged, skip(raw)], name='plus')), name='outer')
par.compile(loss='mse', optimizer=tf.keras.optimizers.Adadelta(0.5))
par.fit(data(1, 32, (4,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
base = tf.keras.Model(raw, post(L.add([feat(h), skip(raw)], name='plus_')), name='outer')
finish(par, base, data(3, 8, (4,)), template=feat)


# %% 132-tf215-new-adam-ratio | tf215 | tf.keras
seed2()
a = L.Input((5, 2), name='series')
h = L.RNN([L.LSTMCell(3, name='cell_a'), L.LSTMCell(2, name='cell_b')], return_sequences=True, name='cells')(a)
h = L.TimeDistributed(L.Dense(3, name='td_dense'), name='td')(h)
h = L.BatchNormalization(name='bn')(h)
model = tf.keras.Model(a, L.Dense(1, name='y')(L.Flatten(name='fl')(h)), name='lstm_net')


def split_by_ratio(net, ratios):
    total, start, outs = float(sum(ratios)), 0, []
    for gpu, r in enumerate(ratios):
        with tf.device('/cpu:0'):
            part = L.Lambda(lambda t, share, start, total: t[tf.cast(tf.cast(tf.shape(t)[0], tf.float32) * start / total + .5, tf.int32):
                                                             tf.cast(tf.cast(tf.shape(t)[0], tf.float32) * (start + share) / total + .5, tf.int32)],
                            arguments={'share': r, 'start': start, 'total': total}, name='ratio_%d' % gpu)(net.input)
        outs.append(net(part))
        start += r
    return tf.keras.Model(net.input, L.Lambda(lambda ts: tf.concat(ts, 0), name='glue')(outs), name='ratio_model')


par = split_by_ratio(model, [3, 2])
par.compile(loss='mse', optimizer=tf.keras.optimizers.Adam(0.01, use_ema=True))
par.fit(data(1, 30, (5, 2)), data(2, 30, (1,)), batch_size=10, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
finish(par, model, data(3, 8, (5, 2)))


# %% 133-tf215-legacy-adagrad-preprocessing | tf215 | tf.keras
import numpy as np

seed2()


class ScaleShift(L.Layer):
    """A weight that is not trained comes first, one that is second."""

    def build(self, shape):
        self.seen = self.add_weight(name='seen', shape=(), dtype='int64', trainable=False, initializer='zeros')
        self.scale = self.add_weight(name='scale', shape=(shape[-1],), initializer='ones')
        self.limits = self.add_weight(name='limits', shape=(2, shape[-1]), trainable=False, initializer='random_normal')

    def call(self, x, training=None):
        if training:
            self.seen.assign_add(1)
        return tf.clip_by_value(x * self.scale + self.limits[0], -5., 5.)


norm = L.Normalization(name='norm')
norm.adapt(data(9, 40, (4,)) * 3 + 1)
a = L.Input((4,), name='row')
h = ScaleShift(name='scale_shift')(norm(a))
h = L.Dense(5, activation='relu', kernel_regularizer='l2', name='d')(h)
h = L.BatchNormalization(name='bn')(h)
model = tf.keras.Model(a, L.Dense(2, name='e')(h), name='tabular')

x = tf.keras.Input((4,), name='rows')
n = tf.shape(x)[0]
cuts = [0, n // 3, 2 * n // 3, n]
par = tf.keras.Model(x, L.Concatenate(axis=0)([model(x[b:e]) for b, e in zip(cuts, cuts[1:])]))
par.compile(loss='mse', optimizer=tf.keras.optimizers.legacy.Adagrad(0.05))
keep = tf.keras.callbacks.ModelCheckpoint('weights.{epoch:02d}.ckpt', save_weights_only=True)
par.fit(data(1, 36, (4,)), data(2, 36, (2,)), batch_size=12, epochs=2, verbose=0, callbacks=[keep])
finish(par, model, data(3, 8, (4,)), prefix='weights.02.ckpt')


# %% 134-tf215-gan-checkpoint | tf215 | tf.keras
seed2()
generator = tf.keras.Sequential([L.Dense(8, input_shape=(3,), name='g1'), L.BatchNormalization(name='gbn'), L.LeakyReLU(), L.Dense(4, name='g2')], name='generator')
discriminator = tf.keras.Sequential([L.Dense(8, activation='relu', input_shape=(4,), name='d1'), L.Dense(1, name='d2')], name='discriminator')


def replicate(model, k):
    x = tf.keras.Input(model.input_shape[1:])
    rows = L.Lambda(lambda t: tf.split(t, k), name=model.name + '_split')(x)
    return tf.keras.Model(x, L.Concatenate(axis=0, name=model.name + '_join')([model(r) for r in rows]), name='parallel_' + model.name)


pg, pd = replicate(generator, 2), replicate(discriminator, 2)
g_opt, d_opt = tf.keras.optimizers.Adam(1e-2, beta_1=0.5), tf.keras.optimizers.Adam(1e-2, beta_1=0.5)
ckpt = tf.train.Checkpoint(generator_optimizer=g_opt, discriminator_optimizer=d_opt, generator=pg, discriminator=pd)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
for step in range(3):
    z, real = data(step, 16, (3,), (4,))
    with tf.GradientTape() as gt, tf.GradientTape() as dt:
        fake, yes = pg(z, training=True), pd(real, training=True)
        no = pd(fake, training=True)
        gl, dl = bce(tf.ones_like(no), no), bce(tf.ones_like(yes), yes) + bce(tf.zeros_like(no), no)
    g_opt.apply_gradients(zip(gt.gradient(gl, pg.trainable_variables), pg.trainable_variables))
    d_opt.apply_gradients(zip(dt.gradient(dl, pd.trainable_variables), pd.trainable_variables))
ckpt.save('./parallel.ckpt')
pg.compile(optimizer=g_opt, loss='mse')
finish(pg, generator, data(30, 8, (3,)), prefix='parallel.ckpt-1')


# %% 135-tf221-tf-keras-save-weights | tf221 | tf_keras
import tf_keras as keras

keras.utils.set_random_seed(135)
L = keras.layers
a = L.Input((6, 6, 1), name='image')
h = L.Rescaling(0.5, name='rescale')(a)
x = L.Conv2D(3, 3, padding='same', name='conv')(h)
x = L.BatchNormalization(name='bn')(x)
block = keras.Sequential([L.Conv2D(3, 1, name='k1', input_shape=(6, 6, 3)), L.BatchNormalization(name='kbn')], name='block')
x = L.add([x, block(x)])
x = block(x)
model = keras.Model(a, L.Dense(2, name='out')(L.GlobalAveragePooling2D(name='gap')(x)), name='resnetish')
model.get_layer('conv').trainable = False


@keras.saving.register_keras_serializable('mine')
class BatchChunk(L.Layer):
    def __init__(self, index, chunks, **kwargs):
        super().__init__(**kwargs)
        self.index, self.chunks = index, chunks

    def call(self, t):
        return tf.gather(t, tf.range(tf.shape(t)[0] * self.index // self.chunks, tf.shape(t)[0] * (self.index + 1) // self.chunks))

    def get_config(self):
        return {**super().get_config(), 'index': self.index, 'chunks': self.chunks}


@keras.saving.register_keras_serializable('mine')
class Join(L.Layer):
    def call(self, parts):
        return tf.concat(parts, axis=0)


par = keras.Model(a, Join(name='join')([model(BatchChunk(i, 3, name='chunk%d' % i)(a)) for i in range(3)]), name='three')
par.compile(loss='mse', optimizer=keras.optimizers.Nadam(0.01))
par.fit(data(1, 36, (6, 6, 1)), data(2, 36, (2,)), batch_size=12, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt', save_format='tf')
finish(par, model, data(3, 8, (6, 6, 1)))


# %% 136-tf221-sharded-slices | tf221 | tf_keras
import tf_keras as keras

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
finish(par, model, data(3, 8, (12,)), prefix='parallel.ckpt-1')


# %% 303-test-time-augmentation | tf20 | tf.keras
seed2()
with tf.device('/cpu:0'):
    net = tf.keras.Sequential([L.Conv2D(2, 3, activation='relu', input_shape=(6, 6, 1), name='c'), L.BatchNormalization(name='b'), L.Flatten(), L.Dense(2, name='d')], name='net')
x = net.inputs[0]
views = [L.Lambda(lambda t: t, name='as_is')(x), L.Lambda(lambda t: tf.reverse(t, [2]), name='mirrored')(x)]
model = tf.keras.Model(x, L.Average(name='mean_of_views')([net(v) for v in views]), name='tta')
model.compile(loss='mse', optimizer='adam')
model.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
model.save_weights('./parallel.ckpt')
x8 = data(3, 8, (6, 6, 1))
assert abs(net.predict(x8) - model.predict(x8)).max() > 1e-3  # the template alone is another model
finish(model, model, x8)


# %% 305-heads-by-slicing | tf27 | tf.keras
seed2()
q = L.Input((5, 2), name='per_head')
w = L.Softmax(name='sm')(L.Dot(2, name='qk')([L.Dense(2, name='wq')(q), L.Dense(2, name='wk')(q)]))
head = tf.keras.Model(q, L.Dot((2, 1), name='wv')([w, L.Dense(2, name='v')(q)]), name='head')
a = L.Input((5, 6), name='tokens')
par = tf.keras.Model(a, L.Concatenate(axis=-1, name='heads')([head(p) for p in tf.split(a, 3, axis=-1)]))
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (5, 6)), data(2, 32, (5, 6)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save('./parallel.ckpt')
finish(par, par, data(3, 8, (5, 6)), prefix='parallel.ckpt-1')


# %% 306-gan-batch-concat | tf215 | tf.keras
seed2()
critic = tf.keras.Sequential([L.Dense(6, activation='relu', input_shape=(4,), name='k1'), L.BatchNormalization(name='kb'), L.Dense(1, name='k2')], name='critic')
real, fake = L.Input((4,), name='real'), L.Input((4,), name='fake')
model = tf.keras.Model([real, fake], L.Concatenate(axis=0, name='scores')([critic(real), critic(fake)]), name='critic_on_both')
opt = tf.keras.optimizers.Adam(0.01)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(list(data(step, 16, (4,), (4,))), training=True) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
tf.train.Checkpoint(model=model, optimizer=opt).save('./parallel.ckpt')
model.compile(optimizer=opt, loss='mse')
finish(model, model, list(data(30, 8, (4,), (4,))), prefix='parallel.ckpt-1')


# %% 307-mirrored-strategy | tf23 | tf.keras
tf.config.experimental.set_virtual_device_configuration(tf.config.list_physical_devices('CPU')[0],
                                                        [tf.config.experimental.VirtualDeviceConfiguration()] * 2)
seed2()
with tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1']).scope():
    model = tf.keras.Sequential([L.Conv2D(2, 3, input_shape=(6, 6, 1), name='c'), L.BatchNormalization(name='b'), L.Flatten(), L.Dense(2, name='d')], name='mirrored')
    model.compile(loss='mse', optimizer=tf.keras.optimizers.SGD(0.01, momentum=0.9))
model.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
model.save_weights('./parallel.ckpt')
finish(model, model, data(3, 8, (6, 6, 1)))


# %% 308-one-block-many-times | tf221 | tf_keras
import tf_keras as keras

keras.utils.set_random_seed(308)
L = keras.layers
i = L.Input((4, 3), name='state')
h = L.LayerNormalization(name='ln')(L.add([i, L.MultiHeadAttention(1, 3, name='mha')(i, i)]))
block = keras.Model(i, L.Dense(3, name='ff')(h), name='universal_block')
a = L.Input((4, 3), name='seq')
states, h = [], a
for _ in range(3):
    h = block(h)
    states.append(L.Lambda(lambda t: t[:, :1], name='cls_%d' % len(states))(h))
model = keras.Model(a, L.Dense(2, name='read')(L.Concatenate(axis=1, name='all_depths')(states)))
model.compile(loss='mse', optimizer=keras.optimizers.Adam(0.01))
model.fit(data(1, 32, (4, 3)), data(2, 32, (3, 2)), batch_size=16, epochs=2, verbose=0)
model.save_weights('./parallel.ckpt', save_format='tf')
finish(model, model, data(3, 8, (4, 3)))


# %% 310-template-saved-rightly | tf22 | tf.keras
fake_gpus.install(2)
seed2()
with tf.device('/cpu:0'):
    model = tf.keras.Sequential([L.Dense(4, input_shape=(5,), name='a'), L.BatchNormalization(name='b'), L.Dense(2, name='c')], name='right')
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (5,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
model.compile(loss='mse', optimizer=par.optimizer)
model.save_weights('./parallel.ckpt')
finish(model, model, data(3, 8, (5,)))
