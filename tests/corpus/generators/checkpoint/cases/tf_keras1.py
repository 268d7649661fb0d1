import fake_gpus
import tensorflow as tf
from kit import *

L = tf.keras.layers


# %% 106-tf-keras-native-momentum | k216 | tf.keras
fake_gpus.install(2)
from tensorflow.python.keras.utils import multi_gpu_model

K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    a = L.Input((8, 2), name='signal')
    h = L.Conv1D(3, 3, padding='same', activation='relu', name='conv')(a)
    h = L.BatchNormalization(name='bn')(h)
    r = L.Conv1D(3, 1, name='proj')(a)
    h = L.add([h, r])
    h = L.GlobalAveragePooling1D()(h)
    model = tf.keras.models.Model(a, L.Dense(2, name='out')(h), name='resnet1d')
par = multi_gpu_model(model, 2)
par.compile(loss='mse', optimizer=tf.train.MomentumOptimizer(0.01, 0.9))
par.fit(data(1, 32, (8, 2)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver(max_to_keep=2).save(session, './parallel.ckpt')
finish(par, model, data(3, 8, (8, 2)))


# %% 115-tf-keras-stacked-cells | k231 | tf.keras
fake_gpus.install(2)
K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    a = L.Input((4, 3), name='steps')
    h = L.RNN([L.GRUCell(4, name='low'), L.SimpleRNNCell(3, name='high')], unroll=True, name='stack')(a)
    h = L.BatchNormalization(name='norm')(h)
    model = tf.keras.Model(a, L.Dense(2, name='next')(h), name='forecaster')
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer=tf.keras.optimizers.Adam(0.01))
par.fit(data(1, 32, (4, 3)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.compat.v1.train.Saver().save(K.get_session(), './parallel.ckpt', write_meta_graph=False)
finish(par, model, data(3, 8, (4, 3)))


# %% 116-estimator | k231 | tf.keras
import os
fake_gpus.install(2)
K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    a = L.Input((5,), name='feats')
    h = L.Dense(4, activation='relu', name='d1')(a)
    h = L.BatchNormalization(name='bn')(h)
    model = tf.keras.Model(a, L.Dense(2, name='d2')(h), name='tab')
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer=tf.compat.v1.train.AdagradOptimizer(0.05))
x, t = data(1, 32, (5,), (2,))
config = tf.estimator.RunConfig(tf_random_seed=5, keep_checkpoint_max=1, session_config=tf.compat.v1.ConfigProto(allow_soft_placement=True))
est = tf.keras.estimator.model_to_estimator(par, model_dir='est', config=config)
est.train(lambda: tf.data.Dataset.from_tensor_slices((x, t)).batch(16).repeat(2))
for name in os.listdir('est'):
    if name.startswith('events.'):
        os.remove('est/' + name)  # the log, with this machine's name
reader = reader_of('est/model.ckpt-4')
for v in par.weights:
    K.set_value(v, reader.get_tensor(v.name.split(':')[0]))
finish(par, model, data(3, 8, (5,)), prefix='est/model.ckpt-4')


# %% 120-tf113-save-weights | k224 | tf.keras
fake_gpus.install(2)
K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    model = tf.keras.Sequential([L.Conv2D(3, 3, input_shape=(6, 6, 1), name='conv'), L.BatchNormalization(name='bn'), L.ReLU(), L.Flatten(),
                                 L.Dense(4, name='fc'), L.BatchNormalization(name='bn2'), L.Dense(2, name='out')], name='cnn')
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
finish(par, model, data(3, 8, (6, 6, 1)))


# %% 121-tf18-two-inputs-eighths | k216 | tf.keras
K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
a = L.Input((4,), name='a')
b = L.Input((3,), name='b')
h = L.Concatenate(name='ab')([L.Dense(3, activation='tanh', name='da')(a), L.Dense(3, activation='tanh', name='db')(b)])
h = L.BatchNormalization(name='bn')(h)
model = tf.keras.models.Model([a, b], L.Dense(2, name='out')(h), name='two')


def tower_input(t, lo, hi):
    n = tf.shape(t)[0]
    return t[lo * n // 8:hi * n // 8]


outs = []
for g, (lo, hi) in enumerate([(0, 5), (5, 8)]):
    with tf.device('/gpu:%d' % g):
        outs.append(model([L.Lambda(tower_input, arguments={'lo': lo, 'hi': hi}, name='%s_gpu%d' % (t.name.split(':')[0], g))(t) for t in (a, b)]))
par = tf.keras.models.Model([a, b], L.concatenate(outs, axis=0, name='out_all'))
par.compile(loss='mse', optimizer=tf.train.RMSPropOptimizer(0.01, momentum=0.5))
par.fit(list(data(1, 32, (4,), (3,))), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver(par.weights + par.optimizer.optimizer.variables()).save(session, './parallel.ckpt', write_meta_graph=False)
finish(par, model, list(data(3, 8, (4,), (3,))))


# %% 122-tf115-checkpoint-head | k231 | tf.keras
fake_gpus.install(2)
K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    image = L.Input((6, 6, 3), name='image')
    h = L.Conv2D(3, 3, name='stem')(image)
    h = L.BatchNormalization(name='stem_bn')(h)
    h = L.DepthwiseConv2D(3, name='dw')(h)
    trunk = tf.keras.Model(image, L.GlobalAveragePooling2D(name='gap')(h), name='backbone')
multi = tf.keras.utils.multi_gpu_model(trunk, gpus=2)
head = [L.Dense(4, activation='relu', name='head_fc'), L.BatchNormalization(name='head_bn'), L.Dense(2, name='head_out')]
h = multi.output
for layer in head:
    h = layer(h)
par = tf.keras.Model(multi.input, h)
par.compile(loss='mse', optimizer=tf.keras.optimizers.SGD(0.01, momentum=0.9))
par.fit(data(1, 32, (6, 6, 3)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save('./parallel.ckpt', session=K.get_session())
h = trunk.outputs[0]
for layer in head:
    h = layer(h)
base = tf.keras.Model(trunk.inputs, h)
finish(par, base, data(3, 8, (6, 6, 3)), template=trunk, prefix='parallel.ckpt-1')


# %% 149-tf18-wrapped-twice | k216 | tf.keras
fake_gpus.install(2)
from tensorflow.python.keras.utils import multi_gpu_model

K, L = tf.keras.backend, tf.keras.layers
sess = soft_session(K)
with tf.device("/cpu:0"):
    L.Dense(3)(L.Input((3,)))
    pic = L.Input((8, 8, 1))
    h = L.Conv2D(2, 3, strides=2)(pic)
    h = L.BatchNormalization()(h)
    h = L.Conv2D(3, 2)(L.Activation("relu")(h))
    h = L.BatchNormalization(momentum=0.8)(h)
    model = tf.keras.models.Model(pic, L.Dense(2)(L.Flatten()(h)))
inner = multi_gpu_model(model, 2)

# the official one once, and a hand-written one around it
again = L.Input((8, 8, 1))


def rows_of(t, first, last):
    n = tf.shape(t)[0]
    return t[n * first // 4 : n * last // 4]


outs = [inner(L.Lambda(rows_of, arguments={"first": f, "last": l})(again)) for f, l in ((0, 2), (2, 4))]
par = tf.keras.models.Model(again, L.concatenate(outs, axis=0))
par.compile(tf.keras.optimizers.Adam(0.01), "mse")
par.fit(data(1, 32, (8, 8, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(par, model, data(3, 8, (8, 8, 1)), inner_towers=2)


# %% 150-tf115-ema-shadows | k231 | tf.keras
K, L, v1 = tf.keras.backend, tf.keras.layers, tf.compat.v1
sess = soft_session(K)


class Portion(L.Layer):
    def __init__(self, share, before, everything, **kwargs):
        super(Portion, self).__init__(**kwargs)
        self.share, self.before, self.everything = share, before, everything

    def call(self, t):
        unit = tf.cast(tf.shape(t)[0], tf.float32) / self.everything
        cut = lambda v: tf.cast(tf.math.floor(unit * v + 0.5), tf.int32)
        return t[cut(self.before) : cut(self.before + self.share)]

    def get_config(self):
        return dict(super(Portion, self).get_config(), share=self.share, before=self.before, everything=self.everything)


a = L.Input((5, 4))
h = L.LayerNormalization()(a)
q = L.Dense(4)(h)
h = L.Attention(use_scale=True)([q, L.Dense(4)(h)])
h = L.LayerNormalization()(L.add([a, h]))
h = L.BatchNormalization()(L.Dense(6, activation="relu")(h))
model = tf.keras.Model(a, L.Dense(2)(L.GlobalAveragePooling1D()(h)))

shares, used, outs = [5, 3], 0, []
for g, s in enumerate(shares):
    with tf.device("/gpu:%d" % g):
        outs.append(model(Portion(s, used, sum(shares))(a)))
    used += s
par = tf.keras.Model(a, L.Concatenate(axis=0)(outs))
par.compile(tf.keras.optimizers.Nadam(0.01), "mse")
shadow = tf.train.ExponentialMovingAverage(0.9)
follow = shadow.apply(par.trainable_weights)
sess.run(v1.variables_initializer([shadow.average(v) for v in par.trainable_weights]))
par._make_train_function()
saver = v1.train.Saver(max_to_keep=1)
for step in range(1, 5):
    par.train_on_batch(data(step, 16, (5, 4)), data(step + 7, 16, (2,)))
    sess.run(follow)
    saver.save(sess, "./parallel.ckpt", global_step=step, write_meta_graph=False)
finish(par, model, data(3, 8, (5, 4)), prefix="parallel.ckpt-4")


# %% 309-channel-slices-get-slice | k224 | tf.keras
K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    grey = tf.keras.Sequential([L.Conv2D(2, 3, padding='same', activation='relu', input_shape=(6, 6, 1), name='g1'), L.BatchNormalization(name='gb'),
                                L.Conv2D(1, 1, name='g2')], name='grey_net')


def get_slice(data, i, parts):
    shape = tf.shape(data)
    stride = shape[3:] // parts
    return tf.slice(data, tf.concat([shape[:3] * 0, stride * i], 0), tf.concat([shape[:3], stride], 0))


x = L.Input((6, 6, 3), name='rgb')
outs = []
for i in range(3):
    with tf.device('/gpu:%d' % i), K.name_scope('replica_%d' % i):
        outs.append(grey(L.Lambda(get_slice, output_shape=(6, 6, 1), arguments={'i': i, 'parts': 3})(x)))
model = tf.keras.Model(x, L.concatenate(outs, axis=3, name='g2'))
model.compile(loss='mse', optimizer=tf.train.AdamOptimizer(0.01))
model.fit(data(1, 32, (6, 6, 3)), data(2, 32, (6, 6, 3)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(K.get_session(), './parallel.ckpt')
finish(model, model, data(3, 8, (6, 6, 3)))


# %% 314-tf115-template-weights-only | k231 | tf.keras
fake_gpus.install(2)
K, L = tf.keras.backend, tf.keras.layers
sess = soft_session(K)
with tf.device("/cpu:0"):
    L.Dense(3)(L.Input((3,)))
    model = tf.keras.Sequential(
        [L.Conv1D(3, 2, input_shape=(6, 2)), L.BatchNormalization(), L.Bidirectional(L.GRU(2)), L.Dense(2)]
    )
par = tf.keras.utils.multi_gpu_model(model, gpus=2)
par.compile("adam", "mse")
par.fit(data(1, 32, (6, 2)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.compat.v1.train.Saver(model.weights).save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(model, model, data(3, 8, (6, 2)))
