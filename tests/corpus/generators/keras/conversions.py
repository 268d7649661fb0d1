"""The same model as .h5 and as .keras, by the same software and process; every form of losses and metrics."""
import numpy as np

import templates as T
from common import case, onehot, rows
from wrap_keras2 import dyn


def both(how, par, X, Y, compile_par, cannot=(), **kw):
    return dict(how=how, par=par, base=None, template=par, X=X, Y=Y, compile_par=compile_par, expected="clean", conversion=True, cannot=cannot, **kw)


@case(201, "k315-cnn-objects", "keras3.15")
def _():
    return both(
        "Functional CNN; loss object, list of metric objects and names, Adam with ExponentialDecay, clipvalue and EMA.",
        T.cnn(K, name="cnn"), rows(8, 8, 1), onehot(3),
        dict(optimizer=K.optimizers.Adam(K.optimizers.schedules.ExponentialDecay(1e-2, 10, 0.9, staircase=True), clipvalue=0.5, use_ema=True, ema_momentum=0.9),
             loss=K.losses.CategoricalCrossentropy(label_smoothing=0.1, reduction="sum_over_batch_size"),
             metrics=["accuracy", K.metrics.TopKCategoricalAccuracy(2, name="top2"), "mse"], weighted_metrics=[K.metrics.CategoricalCrossentropy(name="wce")], steps_per_execution=1))


@case(202, "k315-multi-dicts", "keras3.15")
def _():
    return both(
        "Two inputs, two outputs; dictionaries by output name: a name and an object as losses, a string, lists and objects as metrics, loss weights.",
        T.two_in_two_out(K), [rows(6, 6, 1), rows(4, seed=1)], [onehot(3), rows(1, seed=5)],
        dict(optimizer="adamw", loss={"klass": "categorical_crossentropy", "age": K.losses.Huber(0.3)}, loss_weights={"klass": 0.3, "age": 1},
             metrics={"klass": ["accuracy", K.metrics.Precision(name="prec")], "age": "mae"}, weighted_metrics={"age": [K.metrics.MeanSquaredError()]}))


@case(203, "k315-functions", "keras3.15")
def _():
    @K.saving.register_keras_serializable(package="own")
    def blend(y_true, y_pred):
        return K.ops.mean(K.ops.abs(y_true - y_pred), axis=-1) * 0.5

    def plain_error(y_true, y_pred):
        return K.ops.mean(K.ops.square(y_true - y_pred), axis=-1)

    return both(
        "Residual net with SeparableConv2D; a registered function as loss, Keras's own function, an unregistered function and a name as metrics; SGD with momentum given as a string-free object.",
        T.residual(K), rows(8, 8, 2), rows(4, seed=1),
        dict(optimizer=K.optimizers.SGD(0.01, momentum=0.9, nesterov=True, weight_decay=1e-4), loss=blend, metrics=[K.metrics.mean_absolute_error, plain_error, "cosine_similarity"]),
        custom={"plain_error": plain_error})


@case(204, "k315-recurrent-lists", "keras3.15")
def _():
    L = K.layers
    x = K.Input((6, 4), name="seq")
    h = L.Bidirectional(L.LSTM(3, return_sequences=True, recurrent_dropout=0.1, name="f"), backward_layer=L.GRU(3, return_sequences=True, go_backwards=True, name="b"), merge_mode="concat", name="bi")(x)
    h = L.RNN([L.GRUCell(3), L.SimpleRNNCell(2)], return_sequences=True, name="cells")(h)
    h = L.MultiHeadAttention(2, 3, name="mha")(h, h)
    h = L.ConvLSTM1D(2, 2, padding="same", return_sequences=True, name="cl")(L.Reshape((6, 2, 1), name="rs")(h))
    h = L.TimeDistributed(L.BatchNormalization(name="tbn"), name="td")(h)
    h = L.Flatten(name="fl")(h)
    a, b = L.Dense(2, activation="softmax", name="a")(h), L.Dense(1, name="b")(h)
    par = K.Model(x, [a, b], name="zoo_rnn")
    return both(
        "Bidirectional with a different backward layer, RNN over a list of cells, MultiHeadAttention, ConvLSTM1D, TimeDistributed(BatchNormalization); losses, weights and metrics as lists and lists of lists.",
        par, rows(6, 4), [onehot(2), rows(1, seed=1)],
        dict(optimizer=K.optimizers.Nadam(1e-3), loss=["categorical_crossentropy", K.losses.MeanAbsolutePercentageError()], loss_weights=[1.0, 0.01], metrics=[["accuracy"], ["mae", K.metrics.MeanSquaredError(name="sq")]]))


@case(205, "k315-parallel-multi", "keras3.15")
def _():
    L = K.layers
    t = T.two_in_two_out(K)

    def lap(track, runner, runners):
        long_ = tf.shape(track)[0] // runners
        start = runner * long_
        return track[start:] if runner + 1 == runners else track[start:start + long_]

    a, b = K.Input((6, 6, 1), name="picture"), K.Input((4,), name="meta")
    outs = [t([L.Lambda(lap, arguments={"runner": i, "runners": 2}, output_shape=tuple(v.shape)[1:])(v) for v in (a, b)]) for i in range(2)]
    par = K.Model([a, b], [L.concatenate([o[k] for o in outs], axis=0) for k in range(2)])
    p, q = par.output_names
    cp = dict(optimizer="adam", loss={p: "categorical_crossentropy", q: "mse"}, metrics={p: ["accuracy"], q: [K.metrics.MeanAbsoluteError(name="err")]}, loss_weights={p: 1.0, q: 0.5})
    cb = dict(loss={"klass": "categorical_crossentropy", "age": "mse"}, metrics={"klass": ["accuracy"], "age": [K.metrics.MeanAbsoluteError(name="err")]}, loss_weights={"klass": 1.0, "age": 0.5})
    return dict(
        how="source.h5 is the parallel model (Lambda with arguments, Concatenate layers with automatic names that key the losses), expected.keras and expected.h5 the base.",
        par=par, base=lambda: t, template=t, X=[rows(6, 6, 1), rows(4, seed=1)], Y=[onehot(3), rows(1, seed=5)], compile_par=cp, compile_base=cb, towers=2, scope="whole",
        conversion=True, custom={"lap": lap}, extra={"parallel_output_names": [p, q]})


@case(206, "k315-preprocessing", "keras3.15")
def _():
    L = K.layers
    rng = np.random.RandomState(7)
    num = (rng.rand(16, 3) * 5).astype("float32")
    ids = rng.randint(0, 5, (16, 1)).astype("int64")
    norm = L.Normalization(name="norm")
    norm.adapt(num)
    disc = L.Discretization(num_bins=4, name="disc", output_mode="one_hot")
    disc.adapt(num[:, :1])
    look = L.IntegerLookup(vocabulary=[0, 1, 2, 3], name="look", output_mode="one_hot")
    hashed = L.CategoryEncoding(num_tokens=6, name="enc", output_mode="one_hot")
    a, b = K.Input((3,), name="num"), K.Input((1,), dtype="int64", name="id")
    h = L.Concatenate(name="mix")([norm(a), disc(a[:, :1]), look(b), hashed(b)])
    h = L.GaussianDropout(0.2, seed=5, name="gd")(L.Dense(4, activation="silu", name="h")(h))
    par = K.Model({"num": a, "id": b}, {"p": L.Dense(1, activation="sigmoid", name="p")(h)}, name="tab")
    return both(
        "Dictionary input and output; adapted Normalization and Discretization, IntegerLookup with a given vocabulary, CategoryEncoding, a slicing operation, GaussianDropout with a seed.",
        par, {"num": num, "id": ids}, {"p": rng.randint(0, 2, (16, 1)).astype("float32")},
        dict(optimizer="rmsprop", loss={"p": "binary_crossentropy"}, metrics={"p": ["accuracy", K.metrics.AUC(name="auc")]}),
        feed_names=["id", "num"])


@case(207, "tfk-sequential-strings", "tf_keras2.21")
def _():
    L = K.layers
    par = K.Sequential([K.Input((8, 8, 1)), L.Conv2D(3, 3, kernel_regularizer="l2", kernel_constraint="max_norm"), L.BatchNormalization(renorm=False), L.PReLU(), L.DepthwiseConv2D(2), L.GaussianNoise(0.1), L.Flatten(), L.Dense(3, activation="softmax", bias_initializer=K.initializers.Constant(0.1))], name="seq")
    return both(
        "Sequential with automatic names, regularizer and constraint by name, an initializer object; everything in compile by name.",
        par, rows(8, 8, 1), onehot(3), dict(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy", "categorical_crossentropy"]))


@case(208, "tfk-multi-everything", "tf_keras2.21")
def _():
    def penalty(y_true, y_pred):
        return tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)

    return both(
        "Two outputs; losses as a dictionary of an unregistered function and an object, metrics as a dictionary of lists with objects and functions, loss weights, weighted metrics; AdamW with a PolynomialDecay schedule.",
        T.two_in_two_out(K), [rows(6, 6, 1), rows(4, seed=1)], [onehot(3), rows(1, seed=5)],
        dict(optimizer=K.optimizers.AdamW(K.optimizers.schedules.PolynomialDecay(1e-2, 100), weight_decay=0.01), loss={"klass": K.losses.CategoricalCrossentropy(label_smoothing=0.05), "age": penalty},
             loss_weights={"klass": 1.0, "age": 0.1}, metrics={"klass": ["accuracy", K.metrics.categorical_crossentropy], "age": [K.metrics.MeanSquaredError(name="sq"), "mae"]}, weighted_metrics={"klass": ["accuracy"]}),
        custom={"penalty": penalty})


@case(209, "tf215-ops-and-lists", "tf215")
def _():
    L = K.layers
    x = K.Input((6, 4), name="seq")
    h = tf.nn.relu(x * 2.0 + 1.0)
    h = tf.concat([h, x[:, ::-1, :]], axis=-1)
    h = L.Bidirectional(L.LSTM(3, name="l"), name="bi")(h)
    a = L.Dense(2, name="a")(h)
    b = tf.math.reduce_sum(L.Dense(3, name="bb")(h), axis=1, keepdims=True)
    par = K.Model(x, [a, b], name="opsy")
    return both(
        "A functional model with TFOpLambda and SlicingOpLambda layers; losses, loss weights and metrics as lists, one output without metrics.",
        par, rows(6, 4), [rows(2), rows(1, seed=1)],
        dict(optimizer=K.optimizers.SGD(0.01, momentum=0.9), loss=["mse", K.losses.LogCosh()], loss_weights=[1, 2], metrics=[["mae", K.metrics.RootMeanSquaredError()], []]))


@case(210, "tf215-parallel-slicing", "tf215")
def _():
    L = K.layers
    t = T.residual(K, name="res")
    x = K.Input((8, 8, 2), name="img")
    par = K.Model(x, L.Concatenate(axis=0, name="logits")([t(dyn(tf, x, i, 2)) for i in range(2)]), name="res_parallel")
    c = dict(optimizer=K.optimizers.Adam(K.optimizers.schedules.InverseTimeDecay(1e-2, 10, 0.5)), loss=K.losses.MeanSquaredError(), metrics=[K.metrics.MeanAbsoluteError(), "mse"])
    return dict(
        how="source.h5 is the parallel model (slicing operators, a Concatenate layer named like the template's output), expected.keras and expected.h5 the base.",
        par=par, base=lambda: t, template=t, X=rows(8, 8, 2), Y=rows(4, seed=1), compile_par=c, compile_base=c, towers=2, scope="whole", conversion=True)


@case(211, "k30-cnn", "keras3.0")
def _():
    return both(
        "Functional CNN; loss class instance, a metric class instance and a name.",
        T.cnn(K, name="cnn", prefix="a_"), rows(8, 8, 1), onehot(3),
        dict(optimizer=K.optimizers.RMSprop(1e-3, momentum=0.5, centered=True), loss=K.losses.MeanSquaredError(), metrics=[K.metrics.MeanAbsoluteError(), "mse"]))


@case(212, "k36-mixed-precision", "keras3.6")
def _():
    L = K.layers
    K.mixed_precision.set_global_policy("mixed_float16")
    x = K.Input((6, 3), name="x")
    h = L.GroupNormalization(2, name="gn")(L.Conv1D(4, 2, name="c")(x))
    h = L.GRU(3, name="g")(h)
    par = K.Model(x, L.Dense(2, dtype="float32", name="o")(h), name="mp")
    return both(
        "mixed_float16: dtype policies in the layers' configs, LossScaleOptimizer around Lion.",
        par, rows(6, 3), rows(2, seed=1), dict(optimizer=K.optimizers.Lion(1e-3), loss="mean_squared_error", metrics=["mae"]), tol=2e-3)


@case(213, "tfk-legacy-optimizer-lookup", "tf_keras2.21")
def _():
    L = K.layers
    words = np.array([["red"], ["green"], ["blue"], ["pink"]] * 4)
    i = K.Input((1,), dtype=tf.string, name="w")
    h = L.StringLookup(vocabulary=["red", "green", "blue"], name="ids")(i)
    h = L.Flatten(name="f")(L.Embedding(5, 3, name="e")(h))
    par = K.Model(i, L.Dense(2, activation="softmax", name="o")(h), name="words")
    return both(
        "StringLookup with a given vocabulary (in the config), Embedding; a legacy Adam, whose state the .keras format may not hold.",
        par, words, onehot(2), dict(optimizer=K.optimizers.legacy.Adam(1e-2, decay=1e-3), loss=K.losses.CategoricalCrossentropy(), metrics=["accuracy"]),
        cannot=["the .keras writer leaves a legacy optimizer's state out without a word; the .h5 has it"])


@case(214, "tf215-metrics-per-output-strings", "tf215")
def _():
    return both(
        "Two outputs; one loss name for both, metrics as a plain list for both, weights as a dictionary; Adafactor.",
        T.two_in_two_out(K, name="mt"), [rows(6, 6, 1), rows(4, seed=1)], [onehot(3), rows(1, seed=5)],
        dict(optimizer=K.optimizers.Adafactor(1e-3), loss="mse", loss_weights={"klass": 1.0, "age": 2.0}, metrics=["mae"]))


@case(215, "k33-nested-registered-objects", "keras3.3")
def _():
    L = K.layers

    @K.saving.register_keras_serializable(package="lossy")
    class Pinball(K.losses.Loss):
        def __init__(self, tau=0.5, **kw):
            super().__init__(**kw)
            self.tau = tau

        def call(self, y_true, y_pred):
            e = y_true - y_pred
            return K.ops.mean(K.ops.maximum(self.tau * e, (self.tau - 1) * e), axis=-1)

        def get_config(self):
            return {"tau": self.tau, "name": self.name, "reduction": self.reduction}

    @K.saving.register_keras_serializable(package="lossy")
    class Bias(K.metrics.Mean):
        def update_state(self, y_true, y_pred, sample_weight=None):
            return super().update_state(K.ops.mean(y_pred - y_true))

    i = K.Input((4,), name="inner_in")
    inner = K.Model(i, L.BatchNormalization(name="ib")(L.Dense(3, name="id")(i)), name="inner")
    x = K.Input((4,), name="x")
    par = K.Model(x, L.Dense(1, name="o")(inner(x)), name="outer")
    return both(
        "A nested sub-model with BatchNormalization; a registered Loss class with an argument and a registered Metric class.",
        par, rows(4), rows(1, seed=1), dict(optimizer=K.optimizers.Adam(K.optimizers.schedules.CosineDecay(1e-2, 50, warmup_target=2e-2, warmup_steps=3)), loss=Pinball(0.9, name="pb"), metrics=[Bias(name="bias"), "mae"]))
