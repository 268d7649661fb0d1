import fake_gpus
import tensorflow as tf
import keras
from keras import backend as K
from keras.layers import *
from keras.models import Model, Sequential
from kit import *


# %% 101-kuza55-cnn | k122 | keras
session = soft_session(K)


def rows_of(t, which, of):
    """The rows of tower `which`, counted in whole shares of the batch."""
    share = tf.shape(t)[0] // of
    rest = [0] * (t.get_shape().ndims - 1)
    return tf.slice(t, tf.stack([which * share] + rest), tf.concat([[share], tf.shape(t)[1:]], 0))


def on_gpus(template, count):
    """A tower per GPU on the template's own inputs, every output joined on the CPU."""
    towers = []
    for gpu in range(count):
        with tf.device("/gpu:%d" % gpu), tf.name_scope("tower_%d" % gpu):
            shares = [
                Lambda(rows_of, output_shape=K.int_shape(x)[1:], arguments={"which": gpu, "of": count})(x)
                for x in template.inputs
            ]
            answer = template(shares)
            towers.append(answer if isinstance(answer, list) else [answer])
    with tf.device("/cpu:0"):
        joined = [merge(list(parts), mode="concat", concat_axis=0) for parts in zip(*towers)]
    return Model(input=template.inputs, output=joined)


net = Sequential(name="convnet")
net.add(Convolution2D(4, 3, 3, border_mode="same", input_shape=(8, 8, 3), dim_ordering="tf"))
net.add(BatchNormalization())
net.add(Activation("relu"))
net.add(MaxPooling2D((2, 2), dim_ordering="tf"))
net.add(Flatten())
net.add(Dense(6, activation="tanh"))
net.add(Dropout(0.2))
net.add(Dense(3, activation="softmax"))

par = on_gpus(net, 2)
par.compile(loss="categorical_crossentropy", optimizer=keras.optimizers.Adam(lr=0.01))
x, t = data(1, 32, (8, 8, 3), (3,))
par.fit(x, (t == t.max(1, keepdims=True)).astype("float32"), batch_size=16, nb_epoch=2, verbose=0)
tf.train.Saver().save(session, "./parallel.ckpt")

finish(par, net, data(2, 8, (8, 8, 3)), settings={"loss": "categorical_crossentropy"})


# %% 102-to-multi-gpu-two-inputs-py27 | py27k122 | keras
session = soft_session(K)


def piece(t, pieces, number):
    """Piece `number` of a batch, the last one with what is left over."""
    size = K.shape(t)[0] / pieces
    return t[number * size :] if number + 1 == pieces else t[number * size : (number + 1) * size]


def replicate(template, gpus):
    """Inputs of its own like the template's, a call of the template for every GPU, the answers merged."""
    with tf.device("/cpu:0"):
        outer = [
            Input(shape[1:], name=name, dtype=K.dtype(x))
            for shape, name, x in zip(template.input_shape, template.input_names, template.inputs)
        ]
    answers = []
    for gpu in range(gpus):
        with tf.device("/gpu:%d" % gpu):
            answers.append(
                template(
                    [Lambda(piece, lambda shape: shape, arguments={"pieces": gpus, "number": gpu})(x) for x in outer]
                )
            )
    with tf.device("/cpu:0"):
        return Model(input=outer, output=merge(answers, mode="concat", concat_axis=0))


words = Input((7,), dtype="int32", name="words")
extra = Input((4,), name="extra")
h = Embedding(20, 5, input_length=7)(words)
h = LSTM(4)(h)
e = Dense(4, activation="relu")(extra)
h = merge([h, e], mode="concat")
model = Model(input=[words, extra], output=Dense(2, activation="softmax", name="label")(h))

par = replicate(model, 3)
par.compile(loss="mse", optimizer="rmsprop")
par.fit([ids(1, 24, 7, 20), data(2, 24, (4,))], data(3, 24, (2,)), batch_size=12, nb_epoch=2, verbose=0)
tf.train.Saver().save(session, "./parallel.ckpt", write_meta_graph=False)

finish(par, model, [ids(4, 8, 7, 20), data(5, 8, (4,))])


# %% 103-fixed-batch-head-varlist | k122 | keras
session = soft_session(K)
BATCH = 8

img = Input((6, 6, 2), name='img')
h = Convolution2D(3, 3, 3, activation='relu', dim_ordering='tf', name='c1')(img)
h = BatchNormalization(name='bn1')(h)
h = AveragePooling2D((2, 2), dim_ordering='tf')(h)
trunk = Model(img, Flatten()(h), name='trunk')

big = Input(batch_shape=(BATCH, 6, 6, 2), name='all_images')
parts = []
for gpu, (a, b) in enumerate([(0, 3), (3, 6), (6, BATCH)]):
    with tf.device('/gpu:%d' % gpu):
        parts.append(trunk(Lambda(lambda v, a=a, b=b: v[a:b], output_shape=lambda s: s, name='rows_%d_to_%d' % (a, b))(big)))
features = Merge(mode='concat', concat_axis=0, name='gather')(parts)
top = [Dropout(0.1, name='drop'), Dense(5, activation='relu', name='fc'), Dense(2, name='score')]
h = features
for layer in top:
    h = layer(h)
par = Model(big, h)
par.compile(loss='mse', optimizer=keras.optimizers.SGD(lr=0.05, momentum=0.9))
x, t = data(1, 32, (6, 6, 2), (2,))
par.fit(x, t, batch_size=BATCH, nb_epoch=2, verbose=0)
tf.train.Saver(var_list=par.weights).save(session, './parallel.ckpt')

h = trunk.outputs[0]
for layer in top:
    h = layer(h)
base = Model(trunk.inputs, h)
finish(par, base, data(2, 8, (6, 6, 2)), template=trunk, optimizer=False)


# %% 141-k1-gather-third-try | k122 | keras
sess = soft_session(K)


def build(units):
    net = Sequential()
    net.add(Embedding(12, 3, input_length=5))
    net.add(TimeDistributed(Dense(units)))
    net.add(TimeDistributed(Dense(3)))
    net.add(BatchNormalization())
    net.add(Activation("tanh"))
    net.add(GRU(2))
    net.add(Dense(2, activation="sigmoid"))
    return net


build(2)  # two earlier tries of the same notebook stay in the session
first = build(4)
first.compile("sgd", "mse")
first.train_on_batch(ids(7, 8, 5, 12), data(7, 8, (2,)))
net = build(4)


def pick_rows(v, me, total):
    count = tf.shape(v)[0]
    return tf.gather(v, tf.range(me * count // total, (me + 1) * count // total))


def spread(net, workers):
    inp = net.inputs[0]
    pieces = []
    for me in range(workers):
        with tf.device("/gpu:%d" % me):
            mine = Lambda(pick_rows, output_shape=lambda s: s, arguments={"me": me, "total": workers})(inp)
            pieces.append(net(mine))
    with tf.device("/cpu:0"):
        return Model(input=inp, output=merge(pieces, mode="concat", concat_axis=0))


par = spread(net, 2)
par.compile(optimizer="adamax", loss="mse")
par.fit(ids(1, 32, 5, 12), data(2, 32, (2,)), batch_size=16, nb_epoch=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(par, net, ids(3, 8, 5, 12))


# %% 142-k1-merge-function-newest-py27 | py27k122 | keras
sess = soft_session(K)
Dense(2)(Input((3,)))  # leftovers
BatchNormalization()(Dense(2)(Input((4,))))

pic = Input((6, 6, 3))
h = SeparableConvolution2D(4, 3, 3, border_mode="same", dim_ordering="tf")(pic)
h = BatchNormalization()(h)
skip = h
h = SeparableConvolution2D(4, 3, 3, border_mode="same", activation="relu", dim_ordering="tf", bias=False)(h)
h = BatchNormalization(mode=0)(h)
h = merge([skip, h], mode="sum")
pooled = GlobalAveragePooling2D(dim_ordering="tf")(h)
model = Model(pic, [Dense(3, activation="softmax")(pooled), Dense(1)(Flatten()(h))])


def on_devices(model, n):
    whole = Input(model.input_shape[1:])
    ends = [[] for _ in model.outputs]
    for d in range(n):
        with tf.device("/gpu:%d" % d):

            def portion(t, d=d, n=n):
                b = tf.shape(t)[0]
                lo = d * (b // n)
                hi = b if d == n - 1 else lo + b // n
                return tf.slice(t, [lo, 0, 0, 0], [hi - lo, -1, -1, -1])

            res = model(Lambda(portion, output_shape=lambda s: s)(whole))
            for slot, r in zip(ends, res):
                slot.append(r)
    joined = [merge(e, mode=lambda ts: K.concatenate(ts, 0), output_shape=lambda ss: ss[0]) for e in ends]
    return Model(whole, joined)


par = on_devices(model, 2)
par.compile(optimizer="nadam", loss=["mse", "mae"])
saver = tf.train.Saver(max_to_keep=1)
for epoch in range(3):
    par.fit(data(epoch, 20, (6, 6, 3)), data(epoch + 9, 20, (3,), (1,)), batch_size=10, nb_epoch=1, verbose=0)
    saver.save(sess, "./parallel.ckpt", global_step=epoch + 1, write_meta_graph=False)
finish(par, model, data(3, 8, (6, 6, 3)), prefix="parallel.ckpt-3", settings={"loss": ["mse", "mae"]})


# %% 302-ensemble | k122 | keras
session = soft_session(K)


def member(i):
    m = Sequential(name='member_%d' % i)
    m.add(Convolution2D(3, 3, 3, activation='relu', input_shape=(6, 6, 1), dim_ordering='tf'))
    m.add(Flatten())
    m.add(Dense(2, activation='softmax'))
    return m


x = Input((6, 6, 1))
outs = []
for i in range(3):
    with tf.device('/gpu:%d' % i):
        outs.append(member(i)(x))
model = Model(x, merge(outs, mode='ave'))
model.compile(loss='mse', optimizer='adagrad')
model.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, nb_epoch=2, verbose=0)
tf.train.Saver().save(session, './parallel.ckpt', write_meta_graph=False)
finish(model, model, data(3, 8, (6, 6, 1)))


# %% 311-k1-siamese-two-inputs | k122 | keras
sess = soft_session(K)
Dense(2)(Input((2,)))
leg = Sequential()
leg.add(LSTM(3, input_shape=(4, 2)))
leg.add(BatchNormalization())
leg.add(Dense(3))
one, two = Input((4, 2)), Input((4, 2))
with tf.device("/gpu:0"):
    f1 = leg(one)
with tf.device("/gpu:1"):
    f2 = leg(two)
away = merge([f1, f2], mode=lambda fs: K.abs(fs[0] - fs[1]), output_shape=lambda ss: ss[0])
model = Model([one, two], Dense(1, activation="sigmoid")(away))
model.compile("rmsprop", "mse")
model.fit(data(1, 32, (4, 2), (4, 2)), data(2, 32, (1,)), batch_size=16, nb_epoch=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(model, model, data(3, 8, (4, 2), (4, 2)))
