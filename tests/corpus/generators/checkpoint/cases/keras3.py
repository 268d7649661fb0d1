import tensorflow as tf
import keras
from keras import layers as L, ops
from kit import *


# %% 137-keras3-checkpoint-lambda | tf221 | keras 3
keras.utils.set_random_seed(137)
a = L.Input((6, 6, 1), name='image')
h = L.Conv2D(3, 3, name='conv')(a)
h = L.BatchNormalization(name='bn')(h)
h = L.Dropout(0.2, name='drop')(L.Flatten(name='flat')(h))
model = keras.Model(a, L.Dense(2, name='out')(h), name='template')


def get_slice(data, i, parts):
    step = keras.ops.shape(data)[0] // parts
    return data[i * step:] if i == parts - 1 else data[i * step:(i + 1) * step]


par = keras.Model(a, L.Concatenate(axis=0, name='merge')(
    [model(L.Lambda(get_slice, arguments={'i': i, 'parts': 2}, output_shape=(6, 6, 1), name='slice_%d' % i)(a)) for i in range(2)]), name='parallel')
par.compile(loss='mse', optimizer=keras.optimizers.Adam(0.01))
par.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save('./parallel.ckpt')
finish(par, model, data(3, 8, (6, 6, 1)), prefix='parallel.ckpt-1')


# %% 138-keras3-write-ops-split | tf221 | keras 3
keras.utils.set_random_seed(138)
inner = keras.Sequential([L.Input((4,)), L.Dense(5, activation='relu', name='i1'), L.BatchNormalization(name='ibn')], name='inner')
a, b = L.Input((4,), name='a'), L.Input((4,), name='b')
h = L.Multiply(name='mul')([inner(a), inner(b)])
trunk = keras.Model([a, b], L.Dense(3, name='o1')(h), name='trunk')
xa, xb = L.Input((4,), name='batch_a'), L.Input((4,), name='batch_b')
towers = [trunk([p, q]) for p, q in zip(ops.split(xa, 2), ops.split(xb, 2))]
joined = ops.concatenate(towers, axis=0)
head = L.Dense(1, activation='sigmoid', name='head')
par = keras.Model([xa, xb], head(joined), name='pair_parallel')
par.compile(loss='mse', optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True))
par.fit(list(data(1, 32, (4,), (4,))), data(2, 32, (1,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(par).write('./parallel.ckpt')
base = keras.Model([a, b], head(trunk.outputs[0]), name='pair')
finish(par, base, list(data(3, 8, (4,), (4,))), template=trunk)


# %% 166-keras3-ema-manager | tf221 | keras 3
keras.utils.set_random_seed(166)
keras.Sequential([L.Dense(2), L.BatchNormalization()]).build((None, 3))


@keras.saving.register_keras_serializable("own")
class Stripe(L.Layer):
    def __init__(self, nth, among, **kwargs):
        super().__init__(**kwargs)
        self.nth, self.among = nth, among

    def call(self, t):
        b = ops.shape(t)[0]
        return t[b * self.nth // self.among : b * (self.nth + 1) // self.among]

    def compute_output_shape(self, shape):
        return (None,) + tuple(shape[1:])

    def get_config(self):
        return {**super().get_config(), "nth": self.nth, "among": self.among}


words = L.Input((5,), dtype="int32")
h = L.Embedding(9, 3)(words)
h = L.Bidirectional(L.GRU(2, return_sequences=True))(h)
h = keras.Sequential([L.TimeDistributed(L.Dense(3)), L.LayerNormalization()])(h)
h = L.SeparableConv1D(3, 2)(h)
model = keras.Model(words, L.Dense(2)(L.BatchNormalization()(L.GlobalAveragePooling1D()(h))))
x = L.Input((5,), dtype="int32")
par = keras.Model(x, L.Concatenate(axis=0)([model(Stripe(k, 3)(x)) for k in range(3)]))
par.compile(
    keras.optimizers.AdamW(
        keras.optimizers.schedules.PiecewiseConstantDecay([3], [0.01, 0.001]), use_ema=True, ema_momentum=0.8
    ),
    "mse",
)
kept = tf.train.CheckpointManager(
    tf.train.Checkpoint(model=par, optimizer=par.optimizer, epoch=tf.Variable(0)),
    ".",
    1,
    checkpoint_name="parallel.ckpt",
)
for k in range(2):
    par.fit(ids(k, 30, 5, 9), data(k + 5, 30, (2,)), batch_size=15, verbose=0)
    kept.save()
finish(par, model, ids(3, 8, 5, 9), prefix="parallel.ckpt-2")


# %% 167-keras3-mixed-odd-layer | tf221 | keras 3
keras.utils.set_random_seed(167)


@keras.saving.register_keras_serializable("own")
class Codebook(L.Layer):
    """Usage counts first (integers), the book, then a Dense of its own, then a second table in bfloat16."""

    def __init__(self, codes=4, **kwargs):
        super().__init__(**kwargs)
        self.codes = codes
        self.after = L.Dense(3)

    def build(self, shape):
        self.used = self.add_weight(
            shape=(self.codes,), dtype="int32", trainable=False, initializer="zeros", name="used"
        )
        self.book = self.add_weight(shape=(self.codes, shape[-1]), initializer="random_normal", name="book")
        self.after.build((None, shape[-1]))
        self.coarse = self.add_weight(
            shape=(self.codes, shape[-1]),
            dtype="bfloat16",
            trainable=False,
            initializer="random_normal",
            name="coarse",
            autocast=False,
        )

    def call(self, t):
        book = ops.cast(self.book, t.dtype) + ops.cast(self.coarse, t.dtype)
        soft = ops.softmax(ops.matmul(t, ops.transpose(book)))
        return self.after(t + ops.matmul(soft, book))

    def get_config(self):
        return {**super().get_config(), "codes": self.codes}


keras.mixed_precision.set_dtype_policy("mixed_float16")
a = L.Input((4,))
h = Codebook()(L.Dense(4)(a))
h = L.BatchNormalization()(h)
model = keras.Model(a, [L.Dense(2, dtype="float32")(h), L.Activation("sigmoid", dtype="float32")(L.Dense(1)(h))])
x = L.Input(batch_shape=(8, 4))
outs = [model(x[:5, :]), model(x[5:, :])]
par = keras.Model(x, [ops.concatenate(list(o), axis=0) for o in zip(*outs)])
par.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.Adamax(0.01)), "mse")
par.fit(data(1, 32, (4,)), data(2, 32, (2,), (1,)), batch_size=8, epochs=2, verbose=0)
tf.train.Checkpoint(net=par, opt=par.optimizer).write("./parallel.ckpt")
finish(par, model, data(3, 8, (4,)), tolerance=5e-3)


# %% 168-keras3-head-mirrored | tf221 | keras 3
both = two_cpus()
keras.utils.set_random_seed(168)


def tenths(t, lo, hi):
    n = keras.ops.shape(t)[0]
    return t[n * lo // 10 : n * hi // 10]


with both.scope():
    pic = L.Input((6, 6, 1))
    h = L.Conv2D(2, 3, use_bias=False)(pic)
    h = L.BatchNormalization()(h)
    h = L.Conv2D(3, 2, activation="relu")(h)
    trunk = keras.Model(pic, L.Flatten()(h))
    cuts = [0, 4, 7, 10]
    h = L.Concatenate(axis=0)(
        [
            trunk(L.Lambda(tenths, arguments={"lo": a, "hi": b}, output_shape=(6, 6, 1))(pic))
            for a, b in zip(cuts, cuts[1:])
        ]
    )
    top = [L.Dense(4, activation="relu"), L.BatchNormalization(), L.Dense(2)]
    for layer in top:
        h = layer(h)
    par = keras.Model(pic, h)
    par.compile(keras.optimizers.Lion(0.002), "mse")
par.fit(data(1, 40, (6, 6, 1)), data(2, 40, (2,)), batch_size=20, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save("./parallel.ckpt")
with both.scope():
    h = trunk.outputs[0]
    for layer in top:
        h = layer(h)
    base = keras.Model(trunk.inputs, h)
finish(par, base, data(3, 8, (6, 6, 1)), template=trunk, prefix="parallel.ckpt-1")


# %% 318-keras3-doubled-batch | tf221 | keras 3
keras.utils.set_random_seed(318)
net = keras.Sequential(
    [L.Input((6, 6, 1)), L.Conv2D(2, 3, activation="relu"), L.BatchNormalization(), L.Flatten(), L.Dense(2)]
)
x = L.Input((6, 6, 1))
as_is = L.Lambda(lambda t: t + 0.0, output_shape=(6, 6, 1))(x)
turned = L.Lambda(lambda t: ops.flip(t, axis=2), output_shape=(6, 6, 1))(x)
model = keras.Model(x, L.Concatenate(axis=0)([net(as_is), net(turned)]))
opt = keras.optimizers.Nadam(0.01)
for k in range(3):
    with tf.GradientTape() as tape:
        got = model(data(k, 12, (6, 6, 1)), training=True)
        loss = tf.reduce_mean((got - tf.tile(data(k + 5, 12, (2,)), (2, 1))) ** 2)
    opt.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
model.compile(opt, "mse")
tf.train.Checkpoint(model=model, optimizer=opt).save("./parallel.ckpt")
finish(model, model, data(3, 8, (6, 6, 1)), prefix="parallel.ckpt-1")
