import fake_gpus
import tensorflow as tf
from kit import *

L = tf.keras.layers


# %% 153-tf20-bilstm-amsgrad-schedule | tf20 | tf.keras
fake_gpus.install(4)
eager()
with tf.device("/cpu:0"):
    tf.keras.Sequential([L.Dense(2, input_shape=(3,)), L.Dense(2)])
    model = tf.keras.Sequential(
        [
            L.Embedding(13, 3, input_length=5),
            L.Bidirectional(L.LSTM(2, return_sequences=True)),
            L.SpatialDropout1D(0.1),
            L.Bidirectional(L.GRU(2), merge_mode="sum"),
            L.Dense(3, activation="relu"),
            L.BatchNormalization(),
            L.Dense(2, activation="softmax"),
        ]
    )
par = tf.keras.utils.multi_gpu_model(model, gpus=4)
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.02, 3, 0.9, staircase=True)
par.compile(tf.keras.optimizers.Adam(rate, amsgrad=True), "mse")
par.fit(ids(1, 32, 5, 13), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights("./parallel.ckpt")
finish(par, model, ids(3, 8, 5, 13))


# %% 154-tf20-one-cutter-ftrl | tf20 | tf.keras
eager()


class Cutter(L.Layer):
    """All shares of the batch at once, as a list."""

    def __init__(self, pieces=2, **kwargs):
        super().__init__(**kwargs)
        self.pieces = pieces

    def call(self, t):
        n = tf.shape(t)[0]
        sizes = [n // self.pieces] * (self.pieces - 1)
        return tf.split(t, sizes + [n - sum(sizes)], axis=0, num=self.pieces)

    def get_config(self):
        return dict(super().get_config(), pieces=self.pieces)


class Glue(L.Layer):
    def call(self, ts):
        return tf.concat(ts, 0)


class Mixer(L.Layer):
    """Sub-layers and weights in an order of their own: a weight, a Dense, two weights in a list, a dictionary of layers, a counter."""

    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.width = width

    def build(self, shape):
        self.zeta = self.add_weight("zeta", (self.width,), trainable=False, initializer="ones")
        self.inside = L.Dense(self.width)
        self.alphas = [self.add_weight("alpha%d" % i, (self.width,), initializer="uniform") for i in range(2)]
        self.more = {"low": L.BatchNormalization(), "high": L.Dense(self.width, use_bias=False)}
        self.calls = self.add_weight("calls", (), dtype=tf.int64, trainable=False, initializer="zeros")
        super().build(shape)

    def call(self, t, training=None):
        h = self.more["low"](self.inside(t) * self.zeta, training=training)
        return self.more["high"](tf.tanh(h * self.alphas[0] + self.alphas[1]))

    def get_config(self):
        return dict(super().get_config(), width=self.width)


a = L.Input((5,))
h = Mixer(4)(a)
h = Mixer(3)(h)
model = tf.keras.Model(a, L.Dense(2)(h))
x = L.Input((5,))
par = tf.keras.Model(x, Glue()([model(s) for s in Cutter(3)(x)]))
par.compile(tf.keras.optimizers.Ftrl(0.05, l1_regularization_strength=1e-3), "mse")
par.fit(data(1, 33, (5,)), data(2, 33, (2,)), batch_size=11, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save("./parallel.ckpt")
finish(par, model, data(3, 8, (5,)), prefix="parallel.ckpt-1")


# %% 155-tf22-head-best-only | tf22 | tf.keras
fake_gpus.install(3)
eager()
with tf.device("/cpu:0"):
    L.Dense(2)(L.Input((2,)))
    word = tf.keras.Sequential([L.Embedding(10, 3), L.GlobalMaxPooling1D(), L.Dense(3)])
    words, dense = L.Input((4, 5), dtype="int32"), L.Input((6,))
    h = L.TimeDistributed(word)(words)
    h = L.GRU(3, reset_after=False)(h)
    d = L.LayerNormalization()(L.Dense(3)(dense))
    trunk = tf.keras.Model([words, dense], [L.Average()([h, d]), L.Subtract()([h, d])])
multi = tf.keras.utils.multi_gpu_model(trunk, gpus=3)
top = [L.Concatenate(), L.BatchNormalization(), L.Dense(4, activation="elu"), L.Dense(1)]


def on_top(h):
    for layer in top:
        h = layer(h)
    return h


par = tf.keras.Model(multi.inputs, on_top(multi.outputs))
par.compile(tf.keras.optimizers.SGD(0.05, momentum=0.9), "mse")
keep = tf.keras.callbacks.ModelCheckpoint(
    "parallel.ckpt-{epoch:02d}", monitor="loss", save_best_only=True, save_weights_only=True
)
par.fit(
    [ids(1, 36, 20, 10).reshape(36, 4, 5), data(1, 36, (6,))],
    data(2, 36, (1,)),
    batch_size=12,
    epochs=1,
    verbose=0,
    callbacks=[keep],
)
base = tf.keras.Model(trunk.inputs, on_top(trunk.outputs))
finish(par, base, [ids(3, 8, 20, 10).reshape(8, 4, 5), data(3, 8, (6,))], template=trunk, prefix="parallel.ckpt-01")


# %% 156-tf23-relocated-manager | tf23 | tf.keras
fake_gpus.install(2)
eager()
img = L.Input((8, 8, 3))
h = L.SeparableConv2D(4, 3, use_bias=False)(img)
h = L.BatchNormalization()(h)
h = L.ReLU(6.0)(h)
h = L.SeparableConv2D(3, 3, depth_multiplier=2)(h)
h = L.LayerNormalization(axis=[1, 2])(h)
model = tf.keras.Model(img, [L.Dense(2)(L.GlobalAveragePooling2D()(h)), L.Conv2DTranspose(1, 3)(h)])
par = tf.keras.utils.multi_gpu_model(model, gpus=2, cpu_relocation=True)
par.compile(tf.keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True), "mse")
step = tf.Variable(0, dtype=tf.int64)
kept = tf.train.CheckpointManager(
    tf.train.Checkpoint(step=step, model=par, opt=par.optimizer), ".", max_to_keep=1, checkpoint_name="parallel.ckpt"
)
for _ in range(3):
    step.assign_add(1)
    par.fit(data(int(step), 32, (8, 8, 3)), data(int(step) + 5, 32, (2,), (6, 6, 1)), batch_size=16, verbose=0)
    kept.save()
(inner,) = [l for l in par.layers if isinstance(l, tf.keras.Model)]
assert inner is not model
finish(par, inner, data(3, 8, (8, 8, 3)), prefix="parallel.ckpt-3")


# %% 157-tf23-under-mirrored | tf23 | tf.keras
both = two_cpus()


def cut(t, k, n):
    rest = len(t.shape) - 1
    b = tf.shape(t)[0]
    begin = tf.stack([b * k // n] + [0] * rest)
    end = tf.concat([[b * (k + 1) // n], tf.shape(t)[1:]], 0)
    return tf.strided_slice(t, begin, end)


with both.scope():
    sig = L.Input((9, 2))
    h = L.Conv1D(3, 3, activation="relu")(sig)
    h = L.BatchNormalization()(h)
    h = L.LSTM(3)(h)
    model = tf.keras.Model(sig, L.Dense(2)(h))
    x = L.Input((9, 2))
    par = tf.keras.Model(
        x, L.concatenate([model(L.Lambda(cut, arguments={"k": k, "n": 2})(x)) for k in range(2)], axis=0)
    )
    par.compile(tf.keras.optimizers.Adagrad(0.05), "mse")
par.fit(data(1, 32, (9, 2)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights("./parallel.ckpt")
finish(par, model, data(3, 8, (9, 2)))


# %% 158-tf27-mirrored-preprocessing | tf27 | tf.keras
both = two_cpus()
scale = data(9, 40, (3,)) * 2 + 1
with both.scope():
    norm, bins = L.Normalization(), L.Discretization(num_bins=4)
    norm.adapt(scale)
    bins.adapt(scale[:, :1])
    nums, age = L.Input((3,)), L.Input((1,))
    e = L.Flatten()(L.Embedding(5, 2)(bins(age)))
    h = L.Concatenate()([L.Rescaling(0.5)(norm(nums)), e])
    h = L.Dense(4, activation="swish")(h)
    h = L.BatchNormalization()(h)
    model = tf.keras.Model([nums, age], {"mean": L.Dense(1)(h), "spread": L.Dense(1, activation="softplus")(h)})
    n = tf.shape(nums)[0]
    outs = [model([t[n * k // 3 : n * (k + 1) // 3] for t in (nums, age)]) for k in range(3)]
    par = tf.keras.Model([nums, age], [tf.concat([o[key] for o in outs], 0) for key in ("mean", "spread")])
    par.compile(tf.keras.optimizers.Nadam(0.01), "mse")
par.fit(data(1, 36, (3,), (1,)), data(2, 36, (1,), (1,)), batch_size=18, epochs=2, verbose=0)
with both.scope():
    tf.train.Checkpoint(model=par, optimizer=par.optimizer).save("./parallel.ckpt")

with both.scope():
    base = tf.keras.Model(model.inputs, [model.output["mean"], model.output["spread"]])
finish(par, base, data(3, 8, (3,), (1,)), template=model, prefix="parallel.ckpt-1")


# %% 159-tf27-mixed-twice-own-layer | tf27 | tf.keras
eager()
tf.keras.mixed_precision.set_global_policy("mixed_float16")


class Spectral(L.Layer):
    """A Dense whose power-iteration vector is made first and never trained."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.u = self.add_weight(
            name="u", shape=(1, self.units), trainable=False, initializer="ones", experimental_autocast=False
        )
        self.offset = self.add_weight(name="offset", shape=(self.units,), initializer="zeros")
        self.w = self.add_weight(name="w", shape=(shape[-1], self.units))

    def call(self, t):
        w32 = tf.cast(self.w, "float32")
        size = tf.norm(tf.matmul(self.u, w32, transpose_b=True)) + 1.0
        return tf.matmul(t, tf.cast(w32 / size, t.dtype)) + self.offset

    def get_config(self):
        return {**super().get_config(), "units": self.units}


a = L.Input((6,))
h = L.ReLU()(Spectral(5)(a))
h = L.BatchNormalization()(h)
h = Spectral(3)(h)
model = tf.keras.Model(a, L.Activation("linear", dtype="float32")(h))


def fan(net, n):
    x = L.Input(net.input_shape[1:])
    return tf.keras.Model(x, L.Concatenate(axis=0, dtype="float32")([net(p) for p in tf.split(x, n)]))


par = fan(fan(model, 2), 2)
par.compile(tf.keras.optimizers.Adam(0.01), "mse")  # becomes a LossScaleOptimizer under the policy
keep = tf.keras.callbacks.ModelCheckpoint("parallel.ckpt", save_weights_only=True)
par.fit(data(1, 32, (6,)), data(2, 32, (3,)), batch_size=16, epochs=2, verbose=0, callbacks=[keep])
finish(par, model, data(3, 8, (6,)), tolerance=5e-3, inner_towers=2)


# %% 160-tf210-reshape-unstack | tf210 | tf.keras
eager()
a = L.Input((4, 3))
h = L.MultiHeadAttention(2, 2)(a, a)
h = L.LayerNormalization()(a + h)
h = L.GroupNormalization(groups=1)(h) if hasattr(L, "GroupNormalization") else h
h = L.Bidirectional(L.GRU(2), merge_mode="concat")(h)
model = tf.keras.Model(a, L.Dense(2)(L.BatchNormalization()(h)))
x = L.Input((4, 3))
blocks = tf.reshape(x, (2, -1, 4, 3))  # contiguous rows, as many for each
par = tf.keras.Model(x, tf.concat([model(b) for b in tf.unstack(blocks, num=2)], axis=0))
par.compile(tf.keras.optimizers.experimental.SGD(0.02, momentum=0.9, use_ema=True, ema_momentum=0.9), "mse")
par.fit(data(1, 32, (4, 3)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights("./parallel.ckpt")
finish(par, model, data(3, 8, (4, 3)))


# %% 161-tf215-lion-embedded | tf215 | tf.keras
eager()
tf.keras.Sequential([L.Dense(1, input_shape=(2,)), L.BatchNormalization()])
words = L.Input((6,), dtype="int32")
h = L.Embedding(11, 3, mask_zero=True)(words)
h = L.Bidirectional(L.GRU(2, return_sequences=True))(h)
h = L.TimeDistributed(L.Dense(3))(h)
reader = tf.keras.Model(words, L.LayerNormalization()(L.LSTM(3)(h)))


def by_gather(t, k, n):
    b = tf.shape(t)[0]
    return tf.gather(t, tf.range((b * k) // n, (b * (k + 1)) // n))


question, answer = L.Input((6,), dtype="int32"), L.Input((4,))
q = L.Lambda(lambda ts: tf.concat(ts, 0))(
    [reader(L.Lambda(by_gather, arguments={"k": k, "n": 2})(question)) for k in range(2)]
)
left, norm, dot, out = L.Dense(3, activation="gelu"), L.BatchNormalization(), L.Dot(1), L.Dense(1, activation="sigmoid")


def after(q):
    v = norm(left(answer))
    return out(L.concatenate([dot([q, v]), q, v]))


par = tf.keras.Model([question, answer], after(q))
par.compile(tf.keras.optimizers.Lion(tf.keras.optimizers.schedules.CosineDecay(0.01, 20), weight_decay=0.01), "mse")
par.fit([ids(1, 32, 6, 11), data(1, 32, (4,))], data(2, 32, (1,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save("./parallel.ckpt")
base = tf.keras.Model([question, answer], after(reader(question)))
# For base.h5: the same optimizer, its momentums in the base model's order of variables
by_variable = {id(v): m for v, m in zip(par.trainable_variables, par.optimizer.momentums)}
ordered = tf.keras.optimizers.Lion.from_config(par.optimizer.get_config())
ordered.build(base.trainable_variables)
ordered.iterations.assign(par.optimizer.iterations)
for v, m in zip(base.trainable_variables, ordered.momentums):
    m.assign(by_variable[id(v)])
finish(par, base, [ids(3, 8, 6, 11), data(3, 8, (4,))], template=reader, prefix="parallel.ckpt-1", base_optimizer=ordered)


# %% 162-tf215-hundred-layers-adamw | tf215 | tf.keras
eager()


@tf.keras.utils.register_keras_serializable("lab")
class RowsOf(L.Layer):
    """Rows of one worker; the last takes what is over."""

    def __init__(self, worker, workers, **kwargs):
        super().__init__(**kwargs)
        self.worker, self.workers = worker, workers

    def call(self, t):
        each = tf.shape(t)[0] // self.workers
        return (
            t[self.worker * each :]
            if self.worker == self.workers - 1
            else t[self.worker * each : (self.worker + 1) * each]
        )

    def get_config(self):
        return {**super().get_config(), "worker": self.worker, "workers": self.workers}


net = tf.keras.Sequential([L.Input((3,))])
for depth in range(100):
    net.add(L.Dense(2 if depth % 2 else 3, activation="selu"))
    if depth % 10 == 9:
        net.add(L.BatchNormalization())
net.add(L.Dense(1))
x = L.Input((3,))
par = tf.keras.Model(x, L.Concatenate(axis=0)([net(RowsOf(w, 2)(x)) for w in range(2)]))
par.compile(tf.keras.optimizers.AdamW(0.001, weight_decay=0.01, amsgrad=True), "mse")
par.fit(data(1, 16, (3,)), data(2, 16, (1,)), batch_size=16, verbose=0)
par.save_weights("./parallel.ckpt")
finish(par, net, data(3, 8, (3,)), towers=2, scope="whole",
       how="TF 2.15: a Sequential of 111 tiny layers with automatic names under an own registered slice layer; AdamW with amsgrad; save_weights.")


# %% 163-tf215-bfloat16 | tf215 | tf.keras
eager()
b16 = tf.keras.mixed_precision.Policy("bfloat16")
a = L.Input((6,))
h = L.Dense(5, activation="relu", dtype=b16)(a)
h = L.Dense(4, activation="tanh", dtype=b16)(h)
h = L.BatchNormalization()(h)
model = tf.keras.Model(a, L.Dense(2)(h))
x = L.Input((6,))
half = tf.shape(x)[0] // 2
par = tf.keras.Model(x, tf.concat([model(x[:half]), model(x[half:])], 0))
par.compile(tf.keras.optimizers.SGD(0.05, momentum=0.9), "mse")
par.fit(data(1, 32, (6,)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights("./parallel.ckpt")
finish(par, model, data(3, 8, (6,)), tolerance=2e-2)


# %% 164-tf215-mirrored-template-json | tf215 | tf.keras
both = two_cpus()
with both.scope():
    L.Dense(2)(L.Input((2,)))
    model = tf.keras.Sequential(
        [
            L.Input((7, 7, 2)),
            L.Conv2D(3, 3),
            L.BatchNormalization(),
            L.ReLU(),
            L.DepthwiseConv2D(2),
            L.BatchNormalization(),
            L.Flatten(),
            L.Dense(3),
        ]
    )
    x = L.Input((7, 7, 2))
    outs = [
        model(
            L.Lambda(lambda t, k: t[k * (tf.shape(t)[0] // 2) : (k + 1) * (tf.shape(t)[0] // 2)], arguments={"k": k})(x)
        )
        for k in range(2)
    ]
    par = tf.keras.Model(x, L.Concatenate(axis=0)(outs))
    par.compile(tf.keras.optimizers.Adam(0.01), "mse")
    kept = tf.train.CheckpointManager(
        tf.train.Checkpoint(net=par, optimizer=par.optimizer), ".", max_to_keep=1, checkpoint_name="parallel.ckpt"
    )
for epoch in range(2):
    par.fit(data(epoch, 32, (7, 7, 2)), data(epoch + 5, 32, (3,)), batch_size=16, verbose=0)
    kept.save()
finish(par, model, data(3, 8, (7, 7, 2)), prefix="parallel.ckpt-2", json_of="template")


# %% 165-tf-keras-trainer-module | tf221 | tf_keras
import tf_keras as keras

eager()
L = keras.layers


class Trainer(tf.Module):
    """A loop of one's own; the model hangs below it, beside counters and an optimizer."""

    def __init__(self, net, opt):
        super().__init__()
        self.best = tf.Variable(1e9)
        self.state = {"epoch": tf.Variable(0, dtype=tf.int32), "seen": tf.Variable(0, dtype=tf.int64)}
        self.parts = [net, opt]

    def step(self, x, t):
        net, opt = self.parts
        with tf.GradientTape() as tape:
            loss = sum(tf.reduce_mean((a - b) ** 2) for a, b in zip(net(x, training=True), t))
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        self.state["seen"].assign_add(len(t[0]))
        self.best.assign(tf.minimum(self.best, loss))


def workers(t, n):
    """Row i to worker i * n // rows."""
    b = tf.shape(t)[0]
    return tf.dynamic_partition(t, tf.range(b) * n // b, n)


left, right = L.Input((5,)), L.Input((4,))
common = keras.Sequential([L.Dense(3, activation="relu"), L.BatchNormalization()])
h = L.Concatenate()([common(L.Dense(4)(left)), common(right)])
model = keras.Model([left, right], [L.Dense(2)(h), L.PReLU()(L.Dense(3)(h))])
shares = [L.Lambda(workers, arguments={"n": 2})(t) for t in (left, right)]
outs = [model([s[k] for s in shares]) for k in range(2)]
par = keras.Model([left, right], [L.concatenate(list(o), axis=0) for o in zip(*outs)])
trainer = Trainer(par, keras.optimizers.legacy.RMSprop(0.01, momentum=0.3, centered=True))
for k in range(3):
    trainer.step(data(k, 16, (5,), (4,)), data(k + 9, 16, (2,), (3,)))
tf.train.Checkpoint(trainer=trainer).save("./parallel.ckpt")
par.compile(trainer.parts[1], "mse")
finish(par, model, data(3, 8, (5,), (4,)), prefix="parallel.ckpt-1")


# %% 169-tf22-random-generators | tf22 | tf.keras
eager()

a = L.Input((4, 4, 1))
h = L.experimental.preprocessing.RandomFlip("horizontal", seed=3)(a)
h = L.experimental.preprocessing.RandomContrast(0.2)(h)
h = L.BatchNormalization()(L.Conv2D(2, 3)(h))
model = tf.keras.Model(a, L.Dense(2)(L.Flatten()(h)))
x = L.Input((4, 4, 1))
halves = [
    L.Lambda(lambda t, i, n: t[i * (tf.shape(t)[0] // n) : (i + 1) * (tf.shape(t)[0] // n)], arguments={"i": i, "n": 2})(x)
    for i in range(2)
]
par = tf.keras.Model(x, L.Concatenate(axis=0)([model(half) for half in halves]))
par.compile(tf.keras.optimizers.Adam(0.01), "mse")
par.fit(data(1, 16, (4, 4, 1)), data(2, 16, (2,)), batch_size=8, epochs=2, verbose=0)
par.save_weights("./parallel.ckpt")
finish(par, model, data(3, 8, (4, 4, 1)), prefix="parallel.ckpt")


# %% 315-tf22-contrastive-halves | tf22 | tf.keras
eager()
net = tf.keras.Sequential([L.Dense(4, activation="relu", input_shape=(5,)), L.BatchNormalization(), L.Dense(3)])
x = L.Input((5,))
first = L.Lambda(lambda t: t[: tf.shape(t)[0] // 2])(x)
second = L.Lambda(lambda t: t[tf.shape(t)[0] // 2 :])(x)
alike = L.Dot(1, normalize=True)([net(first), net(second)])
model = tf.keras.Model(x, alike)
opt = tf.keras.optimizers.SGD(0.05, momentum=0.9)
for k in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(data(k, 16, (5,)), training=True) - 1.0) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
model.compile(opt, "mse")
model.save_weights("./parallel.ckpt")
finish(model, model, data(3, 8, (5,)))


# %% 316-tf210-five-crops-mirrored | tf210 | tf.keras
both = two_cpus()
with both.scope():
    net = tf.keras.Sequential(
        [
            L.Conv2D(2, 3, activation="relu", input_shape=(5, 5, 1)),
            L.BatchNormalization(),
            L.Flatten(),
            L.Dense(2, activation="softmax"),
        ]
    )
    x = L.Input((7, 7, 1))
    crops = [x[:, a : a + 5, b : b + 5] for a, b in ((0, 0), (0, 2), (2, 0), (2, 2), (1, 1))]
    model = tf.keras.Model(x, tf.reduce_mean(tf.stack([net(c) for c in crops]), axis=0))
    model.compile(tf.keras.optimizers.experimental.RMSprop(0.01, centered=True), "mse")
model.fit(data(1, 32, (7, 7, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=model, optimizer=model.optimizer).save("./parallel.ckpt")
finish(model, model, data(3, 8, (7, 7, 1)), prefix="parallel.ckpt-1")


# %% 317-tf215-gan-concat-split | tf215 | tf.keras
eager()
maker = tf.keras.Sequential([L.Dense(4, activation="relu", input_shape=(2,)), L.BatchNormalization(), L.Dense(3)])
judge = tf.keras.Sequential([L.Dense(4, input_shape=(3,)), L.LeakyReLU(), L.LayerNormalization(), L.Dense(1)])
noise, real = L.Input((2,)), L.Input((3,))
both = L.Concatenate(axis=0)([real, maker(noise)])
verdicts = tf.split(judge(both), 2)
model = tf.keras.Model([noise, real], verdicts)
model.compile(tf.keras.optimizers.AdamW(0.01), "mse")
kept = tf.train.CheckpointManager(
    tf.train.Checkpoint(gan=model, opt=model.optimizer), ".", 1, checkpoint_name="parallel.ckpt"
)
for k in range(2):
    model.fit(data(k, 32, (2,), (3,)), data(k + 5, 32, (1,), (1,)), batch_size=16, verbose=0)
    kept.save()
finish(model, model, data(3, 8, (2,), (3,)), prefix="parallel.ckpt-2")
