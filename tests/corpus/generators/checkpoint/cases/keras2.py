import fake_gpus
import tensorflow as tf
import keras
from keras import backend as K
from keras.layers import *
from keras.models import Model, Sequential
from keras.utils import multi_gpu_model
from kit import *


# %% 104-first-official | k209 | keras
fake_gpus.install(2)
session = soft_session(K)
with tf.device('/cpu:0'):
    model = Sequential([Dense(6, input_shape=(5,), use_bias=False, name='hidden'), BatchNormalization(name='norm'), Dropout(0.3),
                        Dense(4, activation='relu', name='hidden2'), BatchNormalization(center=False, name='norm2'), Dense(3, name='logits')])
par = multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer=keras.optimizers.SGD(lr=0.01, momentum=0.9, nesterov=True, decay=1e-3))
par.fit(data(1, 48, (5,)), data(2, 48, (3,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
finish(par, model, data(3, 8, (5,)))


# %% 105-birnn-no-meta | k216 | keras
fake_gpus.install(4)
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
finish(par, model, ids(3, 8, 6, 15))


# %% 107-adam-nested-step | k224 | keras
fake_gpus.install(2)
session = soft_session(K)
with tf.device('/cpu:0'):
    block_in = Input((None, None, 3))
    b = Conv2D(3, 3, padding='same', use_bias=False, name='b_conv')(block_in)
    b = BatchNormalization(name='b_bn')(b)
    block = Model(block_in, b, name='block')
    image = Input((8, 8, 3), name='image')
    h = block(image)
    h = block(h)
    h = BatchNormalization(name='after')(h)
    side = Sequential([Conv2D(2, 1, name='s_conv', input_shape=(8, 8, 3)), BatchNormalization(name='s_bn')], name='side')(h)
    h = concatenate([GlobalMaxPooling2D()(h), GlobalMaxPooling2D()(side)])
    model = Model(image, Dense(3, activation='softmax', name='classes')(h), name='net')
par = multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer=keras.optimizers.Adam(lr=0.01, amsgrad=True))
for step in range(1, 4):
    par.train_on_batch(data(step, 16, (8, 8, 3)), data(10 + step, 16, (3,)))
tf.train.Saver(max_to_keep=5).save(session, './parallel.ckpt', global_step=30)
finish(par, model, data(3, 8, (8, 8, 3)), prefix='parallel.ckpt-30')


# %% 108-cpu-relocation | k224 | keras
fake_gpus.install(3)
session = soft_session(K)
model = Sequential([Conv2D(2, 3, activation='relu', input_shape=(6, 6, 1), name='conv'), BatchNormalization(name='bn'), Flatten(), Dense(2, name='fc')], name='lenet')
par = multi_gpu_model(model, gpus=3, cpu_relocation=True)
par.compile(loss='mse', optimizer='rmsprop')
par.fit(data(1, 36, (6, 6, 1)), data(2, 36, (2,)), batch_size=12, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
inner = [layer for layer in par.layers if layer.name == 'lenet'][0]
assert inner is not model
finish(par, inner, data(3, 8, (6, 6, 1)))


# %% 109-multi-io-shared | k224 | keras
fake_gpus.install(2)
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
finish(par, model, list(data(3, 8, (5,), (5,), (3,))), settings={'loss': {'same': 'mse', 'kind': 'mse', 'size': 'mae'}})


# %% 110-sharded-devices | k231 | keras
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
finish(par, model, data(3, 8, (6, 6, 2)))


# %% 111-double-wrapped | k231 | keras
fake_gpus.install(4)
session = soft_session(K)
with tf.device('/cpu:0'):
    a = Input((6,))
    h = Dense(5, activation='elu')(a)
    h = BatchNormalization()(h)
    model = Model(a, Dense(2)(h))
once = multi_gpu_model(model, gpus=2)
par = multi_gpu_model(once, gpus=2)
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (6,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver(pad_step_number=True).save(session, './parallel.ckpt', global_step=7)
finish(par, model, data(3, 8, (6,)), prefix='parallel.ckpt-00000007')


# %% 112-gan-embedded-py27 | py27k224 | keras
from keras.optimizers import Adam

session = soft_session(K)
G = Sequential([Dense(8, input_dim=5), BatchNormalization(momentum=0.8), LeakyReLU(0.2), Reshape((2, 2, 2)), UpSampling2D(), Conv2D(1, 3, padding='same', activation='tanh')],
               name='generator')
D = Sequential([Conv2D(2, 3, strides=2, input_shape=(4, 4, 1)), LeakyReLU(0.2), BatchNormalization(), Flatten(), Dense(1, activation='sigmoid')], name='discriminator')


def split_over(model, gpus):
    shape = model.input_shape[1:]
    x = Input(shape, name='noise')

    def cutter(i):
        def cut(t):
            n = tf.shape(t)[0]
            share = n // gpus
            begin = i * share
            size = share if i < gpus - 1 else n - begin
            return tf.slice(t, tf.stack([begin] + [0] * len(shape)), tf.stack([size] + list(shape)))
        return cut
    outs = []
    for i in range(gpus):
        with tf.device('/gpu:%d' % i):
            outs.append(model(Lambda(cutter(i), output_shape=shape)(x)))
    return x, Concatenate(axis=0)(outs)


z, fake = split_over(G, 2)
D.trainable = False
gan = Model(z, D(fake), name='gan')
gan.compile(loss='binary_crossentropy', optimizer=Adam(0.0002, 0.5))
for step in range(3):
    gan.train_on_batch(data(step, 16, (5,)), (data(9 + step, 16, (1,)) > 0).astype('float32'))
tf.train.Saver().save(session, './parallel.ckpt', write_meta_graph=False)
z1 = Input((5,), name='noise')
base = Model(z1, D(G(z1)), name='gan')
finish(gan, base, data(30, 8, (5,)), template=G, settings={'loss': 'binary_crossentropy'})


# %% 113-partitioned-embedding | k224 | keras
session = soft_session(K)


class ShardedEmbedding(Layer):
    def __init__(self, rows, cols, shards, **kwargs):
        super(ShardedEmbedding, self).__init__(**kwargs)
        self.rows, self.cols, self.shards = rows, cols, shards

    def build(self, input_shape):
        self.table = tf.get_variable(self.name + '/table', [self.rows, self.cols], partitioner=tf.fixed_size_partitioner(self.shards),
                                     initializer=tf.random_normal_initializer(stddev=0.1))
        self._trainable_weights.extend(list(self.table))
        super(ShardedEmbedding, self).build(input_shape)

    def call(self, x):
        return tf.nn.embedding_lookup(self.table, K.cast(x, 'int32'), partition_strategy='div')

    def compute_output_shape(self, s):
        return s + (self.cols,)

    def get_config(self):
        return dict(super(ShardedEmbedding, self).get_config(), rows=self.rows, cols=self.cols, shards=self.shards)


user = Input((3,), name='items')
h = ShardedEmbedding(11, 4, 3, name='item_table')(user)
model = Model(user, Dense(1, name='rating')(Flatten()(h)), name='recommender')

outs = []
for i in range(2):
    with tf.device('/gpu:%d' % i):
        outs.append(model(Lambda(lambda t, i: tf.split(t, 2)[i], arguments=dict(i=i), output_shape=(3,), name='half%d' % i)(user)))
par = Model(user, concatenate(outs, axis=0, name='rating_all'))
par.compile(loss='mse', optimizer=keras.optimizers.SGD(0.1, momentum=0.5))
par.fit(ids(1, 32, 3, 11), data(2, 32, (1,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
finish(par, model, ids(3, 8, 3, 11), complete=None)


# %% 114-trainable-only | k224 | keras
fake_gpus.install(2)
session = soft_session(K)
with tf.device('/cpu:0'):
    model = Sequential([Dense(5, input_shape=(4,), name='d1'), BatchNormalization(name='bn'), Dense(2, name='d2')], name='small')
par = multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer='sgd')
par.fit(data(1, 32, (4,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver(par.trainable_weights).save(session, './parallel.ckpt')
finish(par, model, data(3, 8, (4,)), complete=False, optimizer=False)


# %% 118-renamed-var-list | k224 | keras
fake_gpus.install(2)
session = soft_session(K)
with tf.device('/cpu:0'):
    a = Input((6, 3), name='audio')
    h = Conv1D(4, 3, padding='same', name='front')(a)
    h = BatchNormalization(name='front_bn')(h)
    h = Flatten(name='flat')(Conv1D(3, 2, strides=2, activation='relu', name='middle')(h))
    model = Model(a, Dense(2, name='keyword')(h), name='kws')
par = multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer='adam')
par.fit(data(1, 32, (6, 3)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
names = {'kws_v2/' + v.op.name.replace('/', '.'): v for v in model.weights}
tf.train.Saver(names).save(session, './parallel.ckpt')
finish(par, model, data(3, 8, (6, 3)), optimizer=False)


# %% 119-name-scopes-py27 | py27k224 | keras
from keras.optimizers import RMSprop

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
finish(par, model, data(3, 8, (5, 2)))


# %% 143-k209-bilstm-template-json | k209 | keras
from keras.optimizers import RMSprop

sess = soft_session(K)


def language_model():
    m = Sequential()
    m.add(Embedding(14, 4, input_length=6))
    m.add(Bidirectional(LSTM(3, return_sequences=True)))
    m.add(Dropout(0.2))
    m.add(Bidirectional(LSTM(2, implementation=2), merge_mode="ave"))
    m.add(Dense(14, activation="softmax"))
    return m


language_model()
model = language_model()


def shard(t, which, of):
    per = K.shape(t)[0] // of
    return t[which * per : (which + 1) * per] if which < of - 1 else t[which * per :]


whole = Input((6,), dtype="int32")
outs = []
for which in range(2):
    with tf.device("/gpu:%d" % which):
        outs.append(model(Lambda(shard, arguments=dict(which=which, of=2))(whole)))
par = Model(whole, Concatenate(axis=0)(outs))
par.compile(RMSprop(lr=0.01, decay=1e-3), "mse")
par.fit(ids(1, 32, 6, 14), data(2, 32, (14,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(par, model, ids(3, 8, 6, 14), json_of="template")


# %% 144-k216-shard-layer-shared-head | k216 | keras
from keras.engine.topology import Layer

sess = soft_session(K)


class Shard(Layer):
    """The index-th of count parts; earlier parts get one row more where it does not divide."""

    def __init__(self, index=0, count=1, **kwargs):
        super(Shard, self).__init__(**kwargs)
        self.index, self.count = index, count

    def call(self, t):
        n = K.shape(t)[0]
        low, extra = n // self.count, n % self.count
        at = lambda k: k * low + tf.minimum(k, extra)
        return t[at(self.index) : at(self.index + 1)]

    def get_config(self):
        return dict(super(Shard, self).get_config(), index=self.index, count=self.count)


class Highway(Layer):
    """Made out of order: a count, the gate's bias, then the kernels; a limit that is not trained between them."""

    def build(self, shape):
        d = shape[-1]
        self.bias = self.add_weight("gate_bias", (d,), initializer="ones")
        self.limit = self.add_weight("limit", (d,), initializer="ones", trainable=False)
        self.kernel = self.add_weight("kernel", (d, d), initializer="glorot_uniform")
        self.gate = self.add_weight("gate", (d, d), initializer="glorot_uniform")
        super(Highway, self).build(shape)

    def call(self, t):
        g = K.sigmoid(K.dot(t, self.gate) + self.bias)
        return (g * K.tanh(K.dot(t, self.kernel)) + (1 - g) * t) * self.limit


Dense(3)(Input((2,)))
a, b = Input((7, 2)), Input((7, 2))
conv, norm = Conv1D(4, 3), BatchNormalization()
ha, hb = norm(conv(a)), norm(conv(b))
h = Multiply()([GlobalMaxPooling1D()(ha), GlobalMaxPooling1D()(hb)])
trunk = Model([a, b], Highway()(h))

outs = []
for k in range(3):
    with tf.device("/gpu:%d" % k):
        outs.append(trunk([Shard(k, 3)(a), Shard(k, 3)(b)]))
top = [Dense(5, activation="relu"), BatchNormalization(), Dense(1)]
h = Concatenate(axis=0)(outs)
for layer in top:
    h = layer(h)
par = Model([a, b], h)
par.compile("adadelta", "mse")
par.fit(data(1, 36, (7, 2), (7, 2)), data(2, 36, (1,)), batch_size=9, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
h = trunk.outputs[0]
for layer in top:
    h = layer(h)
base = Model([a, b], h)
finish(par, base, data(3, 8, (7, 2), (7, 2)), template=trunk)


# %% 145-k224-third-fold | k224 | keras
fake_gpus.install(2)
sess = soft_session(K)
x, t = data(1, 48, (8, 8, 1), (2,))
for fold in range(3):
    keep = [i for i in range(48) if i % 3 != fold]
    with tf.device("/cpu:0"):
        image = Input((8, 8, 1))
        h = image
        for width in (2, 3):
            h = Conv2D(width, 3, padding="same", use_bias=False)(h)
            h = BatchNormalization()(h)
            h = LeakyReLU(0.1)(h)
            h = MaxPooling2D()(h)
        model = Model(image, Dense(2, activation="softmax")(Flatten()(h)))
    par = multi_gpu_model(model, gpus=2)
    par.compile("adam", "mse")
    par.fit(x[keep], t[keep], batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(par, model, data(3, 8, (8, 8, 1)))


# %% 146-k224-folds-nested-no-meta | k224 | keras
from keras.optimizers import Adagrad

sess = soft_session(K)


def one_model():
    block = Sequential([Conv1D(3, 3, padding="same", input_shape=(None, 3)), BatchNormalization()])
    inside = Input((None, 3))
    pre = Model(inside, Add()([inside, block(inside)]))
    seq = Input((6, 3))
    h = pre(seq)
    h = pre(h)
    h = GRU(3)(h)
    return Model(seq, Dense(2)(BatchNormalization()(h)))


def distribute(model, n):
    x = Input((6, 3))
    outs = []
    for k in range(n):
        with tf.device("/device:GPU:%d" % k):
            outs.append(model(Lambda(lambda v, k, n: tf.split(v, n)[k], arguments={"k": k, "n": n})(x)))
    return Model(x, Lambda(lambda parts: tf.concat(parts, axis=0))(outs))


for seed in (1, 2):
    model = one_model()
    par = distribute(model, 2)
    par.compile(Adagrad(0.02), "mse")
    par.fit(data(seed, 32, (6, 3)), data(seed + 5, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(par, model, data(3, 8, (6, 3)))


# %% 147-k231-video-embedded-newest | k231 | keras
from keras.optimizers import Adam

sess = soft_session(K)
frame_net = Sequential(
    [Conv2D(2, 3, activation="relu", input_shape=(5, 5, 1)), BatchNormalization(), Flatten(), Dense(3)]
)
clip = Input((3, 5, 5, 1))
h = TimeDistributed(frame_net)(clip)
h = Bidirectional(GRU(2, reset_after=True))(h)
encoder = Model(clip, h)


def band(t, lo, hi):
    """Rows from lo to hi hundredths."""
    n = K.shape(t)[0]
    begin, end = n * lo // 100, n * hi // 100
    rest = K.int_shape(t)[1:]
    return K.slice(t, K.stack([begin] + [0] * len(rest)), K.stack([end - begin] + list(rest)))


video, meta = Input((3, 5, 5, 1)), Input((2,))
side = Dense(3, activation="tanh")(meta)
codes, edges = [], [0, 50, 75, 100]
for g, (lo, hi) in enumerate(zip(edges, edges[1:])):
    with tf.device("/gpu:%d" % g):
        codes.append(encoder(Lambda(band, arguments={"lo": lo, "hi": hi})(video)))
code = Concatenate(axis=0)(codes)
both, out = Concatenate(), Dense(2, activation="softmax")
par = Model([video, meta], out(both([code, side])))
par.compile(Adam(0.01, decay=0.01), "mse")
for step in range(1, 4):
    par.train_on_batch(data(step, 16, (3, 5, 5, 1), (2,)), data(step + 7, 16, (2,)))
    if step == 1:  # Keras makes the slots with the first batch
        saver = tf.compat.v1.train.Saver(max_to_keep=1)
    saver.save(sess, "./parallel.ckpt", global_step=step * 100)
base = Model([video, meta], out(both([encoder(video), side])))
finish(par, base, data(3, 8, (3, 5, 5, 1), (2,)), template=encoder, prefix="parallel.ckpt-300")


# %% 148-py27-multi-io-template-json | py27k224 | keras
fake_gpus.install(3)
from keras.optimizers import SGD

sess = soft_session(K)
with tf.device("/cpu:0"):
    Model(*[(i, Dense(2)(i)) for i in [Input((4,))]][0])
    img, tags = Input((6, 6, 2)), Input((3,))
    h = SeparableConv2D(3, 3, depth_multiplier=2)(img)
    h = BatchNormalization(scale=False)(h)
    e = Embedding(9, 2)(tags)
    shared = Dense(4, activation="relu")
    h = concatenate([shared(GlobalAveragePooling2D()(h)), shared(Dense(3)(Flatten()(e)))])
    h = BatchNormalization(center=False)(h)
    model = Model([img, tags], [Dense(1)(h), Dense(2, activation="softmax")(h)])
par = multi_gpu_model(model, gpus=3)
par.compile(SGD(0.05, momentum=0.9, nesterov=True), "mse")
par.fit([data(1, 36, (6, 6, 2)), ids(1, 36, 3, 9)], data(2, 36, (1,), (2,)), batch_size=12, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(par, model, [data(3, 8, (6, 6, 2)), ids(3, 8, 3, 9)], json_of="template")


# %% 151-k224-float16 | k224 | keras
fake_gpus.install(2)
K.set_floatx("float16")
K.set_epsilon(1e-4)
from keras.optimizers import SGD

sess = soft_session(K)
with tf.device("/cpu:0"):
    model = Sequential()
    model.add(Conv2D(3, 3, input_shape=(6, 6, 2)))
    model.add(Activation("tanh"))
    model.add(Flatten())
    model.add(Dense(4, activation="tanh"))
    model.add(Dense(4, activation="tanh"))
    model.add(Dense(3))
par = multi_gpu_model(model, gpus=2)
par.compile(SGD(0.02, momentum=0.8), "mse")
par.fit(data(1, 32, (6, 6, 2)), data(2, 32, (3,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(par, model, data(3, 8, (6, 6, 2)).astype("float16"), tolerance=5e-3)


# %% 152-k231-hundred-layers | k231 | keras
fake_gpus.install(3)
sess = soft_session(K)
with tf.device("/cpu:0"):
    x = Input((3,))
    h = x
    for _ in range(50):
        h = Add()([h, Dense(3, activation="tanh", use_bias=False)(BatchNormalization()(h))])
    model = Model(x, Dense(1)(h))
par = multi_gpu_model(model, gpus=3)
par.compile("sgd", "mse")
par.fit(data(1, 24, (3,)), data(2, 24, (1,)), batch_size=12, epochs=1, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(par, model, data(3, 8, (3,)), how="Keras 2.3.1: a residual net of a hundred tiny layers (dense_1 to dense_51, batch_normalization_1 to 50) under "
       "multi_gpu_model over three GPUs; default Saver without .meta.", towers=3, scope="whole", doubts="dense_10 sorts before dense_2 in the index; many shapes are equal.")


# %% 301-siamese-saver | k224 | keras
session = soft_session(K)
twin = Sequential([Conv2D(2, 3, activation='relu', input_shape=(6, 6, 1)), BatchNormalization(), Flatten(), Dense(3)], name='twin')
pair = Input((2, 6, 6, 1), name='pair')
one = Lambda(lambda t: t[:, 0], name='first')(pair)
two = Lambda(lambda t: t[:, 1], name='second')(pair)
model = Model(pair, concatenate([twin(one), twin(two)], axis=-1, name='both'))
model.compile(loss='mse', optimizer='adam')
model.fit(data(1, 32, (2, 6, 6, 1)), data(2, 32, (6,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
finish(model, model, data(3, 8, (2, 6, 6, 1)))


# %% 304-windows-over-time | k231 | keras
session = soft_session(K)
local = Sequential([Conv1D(3, 2, activation='relu', input_shape=(4, 2)), GlobalMaxPooling1D(), Dense(2), Reshape((1, 2))], name='local')
a = Input((12, 2), name='recording')


def get_slice(data, i, parts):
    size = K.shape(data)[1] // parts
    return data[:, i * size:(i + 1) * size]


outs = []
for i in range(3):
    with tf.device('/gpu:%d' % i):
        outs.append(local(Lambda(get_slice, output_shape=(4, 2), arguments={'i': i, 'parts': 3})(a)))
model = Model(a, concatenate(outs, axis=1))
model.compile(loss='mse', optimizer='rmsprop')
model.fit(data(1, 32, (12, 2)), data(2, 32, (3, 2)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt')
finish(model, model, data(3, 8, (12, 2)))


# %% 312-py27-four-quadrants | py27k224 | keras
sess = soft_session(K)
look = Sequential([Conv2D(2, 2, activation="relu", input_shape=(4, 4, 1)), BatchNormalization(), Flatten(), Dense(2)])
pic = Input((8, 8, 1))
seen = []
for g, (top, left) in enumerate([(0, 0), (0, 4), (4, 0), (4, 4)]):
    with tf.device("/gpu:%d" % g), tf.name_scope("replica_%d" % g):
        seen.append(look(Cropping2D(((top, 4 - top), (left, 4 - left)))(pic)))
model = Model(pic, Dense(2)(Concatenate()(seen)))
model.compile("adam", "mse")
model.fit(data(1, 32, (8, 8, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(model, model, data(3, 8, (8, 8, 1)))


# %% 313-k216-two-domains | k216 | keras
sess = soft_session(K)
x = Input((5,))
features = BatchNormalization()(Dense(4, activation="relu")(x))


def half(t, i, parts):
    step = tf.shape(t)[0] // parts
    return t[i * step : (i + 1) * step]


experts, joined = [], []
for i in range(2):
    with tf.device("/gpu:%d" % i):
        expert = Sequential([Dense(3, activation="tanh", input_shape=(4,)), Dense(2)])
        experts.append(expert)
        joined.append(expert(Lambda(half, arguments={"i": i, "parts": 2})(features)))
model = Model(x, Concatenate(axis=0)(joined))
model.compile("adamax", "mse")
model.fit(data(1, 32, (5,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
assert any((a != b).any() for a, b in zip(experts[0].get_weights(), experts[1].get_weights()))
finish(model, model, data(3, 8, (5,)))
