"""Wrappers written with tf_keras 2.21 and with TensorFlow 2.15's own Keras."""
import numpy as np

import templates as T
from common import case, onehot, rows

S = "tf_keras2.21"
O = "tf215"


def dyn(tf, x, i, parts):
    n = tf.shape(x)[0]
    return x[i * n // parts:(i + 1) * n // parts]


def shard_layer(K, tf, package=None, name="Shard"):
    class Shard(K.layers.Layer):
        def __init__(self, rank, world, **kwargs):
            super().__init__(**kwargs)
            self.rank, self.world = rank, world

        def call(self, x):
            n = tf.shape(x)[0]
            step = n // self.world
            if self.rank == self.world - 1:
                return x[self.rank * step:]
            return x[self.rank * step:(self.rank + 1) * step]

        def compute_output_shape(self, shape):
            return tf.TensorShape([None]).concatenate(tf.TensorShape(shape)[1:])

        def get_config(self):
            return {**super().get_config(), "rank": self.rank, "world": self.world}

    Shard.__name__ = Shard.__qualname__ = name
    return K.saving.register_keras_serializable(package=package)(Shard) if package else Shard


@case(140, "tfk-lambda-arguments-frozen-cnn", S)
def _():
    L = K.layers
    t = T.cnn(K, name="model_1")
    t.layers[1].trainable = False

    def acre(field, farmer, farmers):
        B = K.backend
        rows_, others = B.shape(field)[0], B.shape(field)[1:]
        wide = rows_ // farmers
        first = wide * farmer
        mine = rows_ - first if farmer == farmers - 1 else wide
        corner = B.concatenate([B.reshape(first, (1,)), B.zeros_like(others)], axis=0)
        return tf.slice(field, corner, B.concatenate([B.reshape(mine, (1,)), others], axis=0))

    def harvest(farmer, farmers):
        with tf.device("/gpu:%d" % farmer), K.backend.name_scope("replica_%d" % farmer):
            return t(L.Lambda(acre, output_shape=t.input_shape[1:], arguments=dict(farmer=farmer, farmers=farmers))(t.input))

    barns = [harvest(farmer, 2) for farmer in range(2)]
    with tf.device("/cpu:0"):
        par = K.Model(t.inputs, [L.concatenate(barns, axis=0, name=t.output_names[0])])
    c = dict(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
    return dict(
        how="What multi_gpu_model of Keras 2.3 did, written for tf_keras: tf.slice in a Lambda of a named function with farmer and farmers, the last takes the remainder, on the template's own input, name scopes, the merge named after the output; the convolution is frozen. The template had been compiled too, with the same optimizer, when the parallel model was saved.",
        template_compiled=True, par=par, base=lambda: t, template=t, X=rows(8, 8, 1), Y=onehot(3), compile_par=c, compile_base=c, towers=2, scope="whole", files=("keras", "h5", "weights"), custom={"acre": acre},
        doubts="layers/functional/metrics/... in the parallel files are metrics of the template's own compile, never updated; base's metrics/... were updated later.")


@case(141, "tfk-split-concat-ops-multi", S)
def _():
    t = T.two_in_two_out(K)
    a, b = K.Input((6, 6, 1), name="pictures"), K.Input((4,), name="metas")
    res = [t([u, v]) for u, v in zip(tf.split(a, 2), tf.split(b, 2, axis=0))]
    y = tf.concat([r[0] for r in res], axis=0)
    z = tf.concat([r[1] for r in res], 0)
    par = K.Model([a, b], [y, z], name="split2")
    p, q = par.output_names
    cp = dict(optimizer=K.optimizers.Adam(1e-3), loss={p: "categorical_crossentropy", q: "mse"}, loss_weights={p: 2.0, q: 0.25}, metrics={p: ["accuracy"], q: ["mae", "mse"]})
    cb = dict(loss={"klass": "categorical_crossentropy", "age": "mse"}, loss_weights={"klass": 2.0, "age": 0.25}, metrics={"klass": ["accuracy"], "age": ["mae", "mse"]})
    return dict(
        how="tf.split on both inputs and tf.concat per output (TFOpLambda), loss, metrics and weights keyed by tf.concat and tf.concat_1.",
        par=par, base=lambda: t, template=t, X=[rows(6, 6, 1), rows(4, seed=1)], Y=[onehot(3), rows(1, seed=5)], compile_par=cp, compile_base=cb, towers=2, scope="whole", extra={"parallel_output_names": [p, q]}, files=("keras", "h5", "weights"))


@case(142, "tfk-slicing-op-bilstm", S)
def _():
    t = T.bilstm(K)
    x = K.Input((6,), dtype="int32", name="ids")
    par = K.Model(x, tf.concat([t(dyn(tf, x, i, 3)) for i in range(3)], axis=0), name="three")
    c = dict(optimizer=K.optimizers.RMSprop(1e-2, momentum=0.2), loss="categorical_crossentropy", metrics=["accuracy"])
    return dict(
        how="x[i*n//3:(i+1)*n//3] with n = tf.shape(x)[0] on the Keras tensor (SlicingOpLambda and arithmetic TFOpLambdas), tf.concat; recurrent template.",
        par=par, base=lambda: t, template=t, X=np.random.RandomState(3).randint(0, 12, (16, 6)).astype("int32"), Y=onehot(2), compile_par=c, compile_base=c, towers=3, scope="whole", files=("keras", "h5", "weights"))


@case(143, "tfk-shard-mha-weights-only", S)
def _():
    L = K.layers
    t = T.attention(K, name="enc")
    Shard = shard_layer(K, tf)
    x = K.Input((6, 4), name="seq")
    par = K.Model(x, L.Concatenate(axis=0, name="score")([t(Shard(r, 2)(x)) for r in range(2)]), name="enc_2x")
    c = dict(optimizer=K.optimizers.AdamW(K.optimizers.schedules.CosineDecayRestarts(1e-2, 5), weight_decay=0.01), loss="mse", metrics=["mae"])
    return dict(
        how="Weights only (.weights.h5 of the parallel model) and the JSON of the parallel model; unregistered layer Shard(rank, world), template with MultiHeadAttention, AdamW with a schedule.",
        par=par, base=lambda: t, template=t, X=rows(6, 4), Y=rows(2, seed=1), compile_par=c, compile_base=c, towers=2, scope="whole", files=("weights", "h5"), custom={"Shard": Shard}, json_first=True)


@case(144, "tfk-gather-stacked-cells", S)
def _():
    t = T.stacked(K, name="deep_rnn")
    x = K.Input((5, 3), name="series")
    n = tf.shape(x)[0]
    half = n // 2
    first = tf.gather(x, tf.range(half))
    second = tf.gather(x, tf.range(half, n))
    par = K.Model(x, tf.concat([t(first), t(second)], 0), name="gathered")
    c = dict(optimizer=K.optimizers.Lion(1e-3), loss="mae")
    return dict(
        how="tf.gather with tf.range of row numbers for each half, StackedRNNCells of LSTM, GRU and SimpleRNN cells.",
        par=par, base=lambda: t, template=t, X=rows(5, 3), Y=rows(1, seed=1), compile_par=c, compile_base=c, towers=2, scope="whole",
        also=["clean, unchanged", "refused with a reason"], doubts="gather by a range is a slice only if the range is understood.")


@case(145, "tfk-text-and-lookup-assets", S)
def _():
    L = K.layers
    text = np.array([["the cat sat"], ["a dog ran off"], ["the dog sat down"], ["cats and dogs"]] * 4)
    lang = np.array([["en"], ["de"], ["fr"], ["en"]] * 4)
    vec = L.TextVectorization(max_tokens=20, output_sequence_length=4, name="vec")
    vec.adapt(text)
    look = L.StringLookup(name="lang_ids", output_mode="one_hot")
    look.adapt(lang)
    a = K.Input((1,), dtype=tf.string, name="text")
    b = K.Input((1,), dtype=tf.string, name="lang")
    h = L.GlobalAveragePooling1D(name="avg")(L.Embedding(20, 3, name="emb")(vec(a)))
    h = L.Concatenate(name="cat")([h, look(b)])
    t = K.Model([a, b], L.Dense(2, activation="softmax", name="topic")(h), name="topics")
    A, B = K.Input((1,), dtype=tf.string, name="all_text"), K.Input((1,), dtype=tf.string, name="all_lang")
    halves = list(zip(tf.split(A, 2), tf.split(B, 2)))
    par = K.Model([A, B], L.Concatenate(axis=0, name="topic")([t(list(h)) for h in halves]), name="topics_2")
    c = dict(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
    return dict(
        how="Adapted TextVectorization and StringLookup in the template (vocabulary assets), two string inputs cut with tf.split, a Concatenate layer.",
        par=par, base=lambda: t, template=t, X=[text, lang], Y=onehot(2), compile_par=c, compile_base=c, towers=2, scope="whole",
        doubts="base.h5 may hold or lack the vocabularies, see loads_in_its_own_stack.")


@case(146, "tfk-mixed-precision-head", S)
def _():
    L = K.layers
    K.mixed_precision.set_global_policy("mixed_float16")
    Shard = shard_layer(K, tf, "mp")
    i = K.Input((8, 8, 1), name="im")
    h = L.BatchNormalization(name="bn")(L.Conv2D(3, 3, name="cv")(i))
    t = K.Model(i, L.GlobalAveragePooling2D(name="gp")(L.ReLU(name="re")(h)), name="features")
    x = K.Input((8, 8, 1), name="im")
    d = L.Dense(4, activation="relu", name="d")
    o = L.Dense(2, dtype="float32", name="o")
    par = K.Model(x, o(d(L.Concatenate(axis=0, name="merged")([t(Shard(r, 2, name="gpu%d" % r)(x)) for r in range(2)]))), name="classifier")
    c = dict(optimizer=K.optimizers.SGD(0.05, momentum=0.9), loss="mse", metrics=["mae"])
    return dict(
        how="mixed_float16 (LossScaleOptimizer around SGD), registered slice layer, convolutional trunk in two towers, two Dense layers as head.",
        par=par, base=lambda: K.Model(t.inputs, o(d(t.outputs[0])), name="classifier"), template=t, X=rows(8, 8, 1), Y=rows(2, seed=1), compile_par=c, compile_base=c, towers=2, scope="head", tol=2e-3, files=("keras", "h5", "weights"))


@case(147, "tfk-legacy-optimizer-embedded", S)
def _():
    L = K.layers
    g = K.Sequential([K.Input((4,)), L.Dense(18, name="gd"), L.Reshape((3, 3, 2), name="gr"), L.Conv2DTranspose(1, 4, name="gt"), L.BatchNormalization(name="gb")], name="generator")
    di = K.Input((6, 6, 1), name="im")
    dh = L.LeakyReLU(0.2, name="dl")(L.Conv2D(3, 3, strides=2, name="dc")(di))
    dis = K.Model(di, L.Dense(1, activation="sigmoid", name="dp")(L.Flatten(name="df")(dh)), name="discriminator")
    dis.trainable = False
    z = K.Input((4,), name="z")
    img = g(z)
    n = tf.shape(img)[0]
    par = K.Model(z, L.Concatenate(axis=0, name="verdict")([dis(img[:n // 2]), dis(img[n // 2:])]), name="gan")
    c = dict(optimizer=K.optimizers.legacy.Adam(2e-4, beta_1=0.5), loss="binary_crossentropy")
    return dict(
        how="A GAN whose frozen discriminator is run in two towers on the generator's images (img[:n//2], img[n//2:]); legacy Adam.",
        par=par, base=lambda: K.Model(z, dis(g(z)), name="gan"), template=dis, X=rows(4), Y=np.ones((16, 1), "float32"), compile_par=c, compile_base=c, towers=2, scope="embedded",
        doubts="The container's own trainable=False is not in its config. Neither .keras nor .weights.h5 holds a legacy optimizer's state; base.h5 does, so it has more than the parallel file can give.", files=("keras", "h5", "weights"))


@case(148, "tfk-slice-op-double", S)
def _():
    L = K.layers
    t = T.residual(K, name="resnet")

    def data_parallel(m, k, name):
        x = K.Input((8, 8, 2), name=name + "_input")
        n = tf.shape(x)[0] // k
        parts = [tf.slice(x, [j * n, 0, 0, 0], [n, 8, 8, 2]) for j in range(k)]
        return K.Model(x, L.concatenate([m(p) for p in parts], axis=0, name=name + "_gather"), name=name)

    par = data_parallel(data_parallel(t, 2, "first"), 2, "second")
    c = dict(optimizer="adagrad", loss="mse")
    return dict(
        how="tf.slice with begin and size (rows that do not divide are dropped), wrapped twice.",
        par=par, base=lambda: t, template=t, X=rows(8, 8, 2), Y=rows(4, seed=1), compile_par=c, compile_base=c, towers=2, scope="whole", extra={"wrappers": 2})


# ---------------------------------------------------------------- TensorFlow 2.15


@case(150, "tf215-lambda-closure-spectral", O)
def _():
    L = K.layers
    i = K.Input((8, 8, 1), name="im")
    h = L.SpectralNormalization(L.Conv2D(3, 3, name="conv"), name="sn")(i)
    h = L.BatchNormalization(name="bn")(h)
    h = L.Flatten(name="fl")(L.PReLU(shared_axes=[1, 2], name="pr")(h))
    t = K.Model(i, L.Dense(2, name="o")(h), name="critic")
    # 2.15 cannot train SpectralNormalization inside a nested model: random weights instead
    rng = np.random.RandomState(9)
    t.set_weights([np.abs(rng.normal(1, 0.3, w.shape)).astype("float32") for w in t.get_weights()])

    def piece(i, parts):
        def f(x):
            n = K.backend.shape(x)[0] // parts
            return x[i * n:] if i == parts - 1 else x[i * n:(i + 1) * n]
        return L.Lambda(f, name="lambda_gpu_%d" % i)

    x = K.Input((8, 8, 1), name="im")
    par = K.Model(x, L.Concatenate(axis=0, name="o")([t(piece(j, 2)(x)) for j in range(2)]), name="critic_mgpu")
    c = dict(optimizer=K.optimizers.RMSprop(5e-5), loss="mse", metrics=["mae"])
    return dict(
        how="A factory of Lambdas with i and parts in the closure; template with SpectralNormalization, BatchNormalization and PReLU; compiled, not trained.", fit=False,
        par=par, base=lambda: t, template=t, X=rows(8, 8, 1), Y=rows(2, seed=1), compile_par=c, compile_base=c, towers=2, scope="whole", files=("keras", "h5", "weights"),
        doubts="2.15 cannot read its own SpectralNormalization back from any of these files; the files are whole all the same.")


@case(151, "tf215-split-nested-weights", O)
def _():
    t = T.nested_shared(K, name="pairs")
    ins = [K.Input((4,), name="left"), K.Input((4,), name="right")]
    s = [tf.split(i, num_or_size_splits=2, axis=0) for i in ins]
    par = K.Model(ins, tf.concat([t([s[0][k], s[1][k]]) for k in range(2)], axis=0, name="joined"), name="pairs_par")
    c = dict(optimizer=K.optimizers.SGD(0.05, momentum=0.9, nesterov=True), loss="mse")
    return dict(
        how="tf.split with named arguments, tf.concat with a name; nested sub-model called twice; archive, and weights with the JSON.",
        par=par, base=lambda: t, template=t, X=[rows(4), rows(4, seed=1)], Y=rows(2, seed=3), compile_par=c, compile_base=c, towers=2, scope="whole", files=("keras", "weights"))


@case(152, "tf215-halves-head", O)
def _():
    L = K.layers
    t = K.Sequential([K.Input((10, 2)), L.Conv1D(4, 3), L.BatchNormalization(), L.ReLU(), L.Dropout(0.2), L.GlobalMaxPooling1D()], name="seqnet")
    x = K.Input((10, 2), name="signal")
    n = tf.shape(x)[0]
    m = L.concatenate([t(x[: n // 2]), t(x[n // 2:])], axis=0)
    d1, d2 = L.Dense(4, activation="relu", name="hidden"), L.Dense(1, name="value")
    par = K.Model(x, d2(d1(m)), name="halves")
    c = dict(optimizer=K.optimizers.Adam(K.optimizers.schedules.ExponentialDecay(1e-2, 10, 0.5)), loss=K.losses.Huber(), metrics=[K.metrics.RootMeanSquaredError(name="rmse")])
    return dict(
        how="x[:n//2] and x[n//2:], a Sequential with automatic names, two Dense layers as head, Adam with a schedule.",
        par=par, base=lambda: K.Model(t.inputs, d2(d1(t.outputs[0])), name="halves"), template=t, X=rows(10, 2), Y=rows(1, seed=1), compile_par=c, compile_base=c, towers=2, scope="head", files=("keras", "h5", "weights"))


@case(153, "tf215-device-slice-embedded-td", O)
def _():
    L = K.layers
    fi = K.Input((6, 6, 1), name="frame")
    frame = K.Model(fi, L.Flatten(name="ff")(L.Conv2D(2, 3, name="fc")(fi)), name="frame_cnn")
    i = K.Input((3, 6, 6, 1), name="clip")
    h = L.TimeDistributed(frame, name="td")(i)
    h = L.Bidirectional(L.GRU(2, name="g"), name="bg")(h)
    t = K.Model(i, h, name="clip_encoder")
    Slice = shard_layer(K, tf, "devices", "DeviceSlice")
    x = K.Input((3, 6, 6, 1), name="clips")
    aux = K.Input((2,), name="aux")
    norm = L.LayerNormalization(axis=[2, 3, 4], name="ln")
    join = L.Concatenate(name="with_aux")
    out = L.Dense(2, activation="softmax", name="act")
    z = norm(x)
    enc = L.Concatenate(axis=0, name="clip_features")([t(Slice(r, 2, name="dev%d" % r)(z)) for r in range(2)])
    par = K.Model([x, aux], out(join([enc, aux])), name="action")
    c = dict(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
    return dict(
        how="A registered DeviceSlice layer; the template is a clip encoder, TimeDistributed over a nested CNN; a normalisation before and a second, unsplit input after it.",
        par=par, base=lambda: K.Model([x, aux], out(join([t(norm(x)), aux])), name="action"), template=t, X=[rows(3, 6, 6, 1), rows(2, seed=1)], Y=onehot(2), compile_par=c, compile_base=c, towers=2, scope="embedded", files=("keras", "h5", "weights"))


@case(154, "tf215-dynamic-partition", O)
def _():
    t = T.mlp(K, name="mlp")
    x = K.Input((5,), name="x")
    n = tf.shape(x)[0]
    owner = tf.range(n) * 2 // n
    a, b = tf.dynamic_partition(x, owner, 2)
    par = K.Model(x, tf.concat([t(tf.reshape(a, [-1, 5])), t(tf.reshape(b, [-1, 5]))], axis=0), name="partitioned")
    c = dict(optimizer="sgd", loss="mse")
    return dict(
        how="tf.dynamic_partition by the row's owner (row * 2 // n), concatenated in order, which keeps the rows' order.",
        par=par, base=lambda: t, template=t, X=rows(5), Y=rows(2, seed=1), compile_par=c, compile_base=c, towers=2, scope="whole",
        also=["clean, unchanged", "refused with a reason"], doubts="Correct only because owners are sorted; leaving it alone does no harm.")


@case(155, "tf215-mask-rcnn-like", O)
def _():
    L = K.layers
    i = K.Input((8, 8, 1), name="input_image")
    h = L.BatchNormalization(name="bn_conv1")(L.Conv2D(2, 3, name="conv1")(i))
    h = L.Flatten(name="flat")(h)
    p = L.Dense(3, name="mrcnn_class")(h)
    loss = L.Lambda(lambda v: K.backend.mean(K.backend.square(v)), name="rpn_loss")(p)
    t = K.Model(i, [p, loss], name="mask_rcnn")

    class Replicated(K.Model):
        pass

    def replicate(model, cards):
        dealt = zip(*[tf.split(v, cards) for v in model.inputs])
        answers = []
        for card, hand in enumerate(dealt):
            answers.append(model([L.Lambda(lambda s: s, name="card_%d_in_%d" % (card, k))(piece) for k, piece in enumerate(hand)]))

        def end(name, same):
            if same[0].shape.rank:
                return L.Concatenate(axis=0, name=name)(same)
            return L.Lambda(lambda losses, cards: tf.add_n(losses) / cards, arguments={"cards": cards}, name=name)(same)

        ends = [end(name, list(same)) for name, same in zip(model.output_names, zip(*answers))]
        return Replicated(model.inputs, ends, name="mask_rcnn_parallel")

    par = replicate(t, 2)
    return dict(
        how="The way of Mask R-CNN, a subclass of Model: tf.split on the template's own inputs, an identity Lambda per tower, Concatenate per output, Lambda mean for the scalar loss; not compiled.",
        par=par, base=lambda: t, template=t, X=rows(8, 8, 1), Y=None, towers=2, scope="whole", custom={"Replicated": Replicated},
        also=["refused with a reason", "clean, unchanged, with a warning"], doubts="An unregistered subclass of Model with a functional config; the mean Lambda's code holds the rule.")


@case(156, "tf215-preprocessing-sequential", O)
def _():
    L = K.layers
    data = rows(6, 6, 3)
    norm = L.Normalization(axis=-1)
    norm.adapt(data)
    t = K.Sequential([K.Input((6, 6, 3)), norm, L.RandomFlip("horizontal"), L.RandomZoom(0.1), L.Conv2D(3, 3), L.UnitNormalization(axis=-1), L.Dropout(0.3), L.Flatten(), L.Dense(2)], name="prep_net")
    x = K.Input((6, 6, 3))
    q = tf.shape(x)[0] // 4
    par = K.Model(x, tf.concat([t(x[:q]), t(x[q:2 * q]), t(x[2 * q:3 * q]), t(x[3 * q:])], axis=0))
    c = dict(optimizer=K.optimizers.Adamax(1e-3), loss="mse", metrics=["mae"])
    return dict(
        how="x[:q], x[q:2*q], x[2*q:3*q], x[3*q:] by hand; Sequential with an adapted Normalization and random augmentation.",
        par=par, base=lambda: t, template=t, X=data, Y=rows(2, seed=1), compile_par=c, compile_base=c, towers=4, scope="whole", files=("keras", "h5", "weights"))


@case(157, "tf215-extra-outer-input", O)
def _():
    L = K.layers
    t = T.cnn(K, name="inner_cnn", prefix="ic_")
    x = K.Input((8, 8, 1), name="x")
    wrapped = K.Model(x, L.Concatenate(axis=0, name="ic_probs")([t(L.Lambda(lambda v, i=i: v[i * (tf.shape(v)[0] // 2):(i + 1) * (tf.shape(v)[0] // 2)], name="half_%d" % i)(x)) for i in range(2)]), name="wrapped")
    y = K.Input((8, 8, 1), name="outer_input")
    par = K.Model(y, wrapped(y), name="outer")
    c = dict(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
    return dict(
        how="The parallel model called on one more Input (as a restored model is often used), nothing else around it; lambdas with a default argument.",
        par=par, base=lambda: K.Model(y, t(y), name="outer"), template=t, X=rows(8, 8, 1), Y=onehot(3), compile_par=c, compile_base=c, towers=2, scope="embedded",
        also=["scope whole, with the template itself as the result, if it predicts the same and holds the same tensors"])


@case(158, "tf215-custom-blocks-shared", O)
def _():
    L = K.layers

    @K.saving.register_keras_serializable(package="blocks")
    class SE(L.Layer):
        def __init__(self, ratio=2, **kw):
            super().__init__(**kw)
            self.ratio = ratio

        def build(self, shape):
            c = int(shape[-1])
            self.squeeze = L.Dense(max(1, c // self.ratio), activation="relu")
            self.excite = [L.Dense(c, activation="sigmoid")]
            self.gamma = self.add_weight(name="gamma", shape=(c,), initializer="ones")
            super().build(shape)

        def call(self, x):
            s = tf.reduce_mean(x, axis=[1, 2], keepdims=True)
            return x * self.excite[0](self.squeeze(s)) * self.gamma

        def get_config(self):
            return {**super().get_config(), "ratio": self.ratio}

    i = K.Input((8, 8, 2), name="img")
    conv = L.Conv2D(2, 3, padding="same", name="shared_conv")
    se = SE(name="se")
    h = se(conv(i))
    h = L.Add(name="plus")([i, se(conv(h))])
    t = K.Model(i, [L.GlobalAveragePooling2D(name="gap")(h), L.Dense(1, name="depth")(L.Flatten(name="fl")(h))], name="senet")
    x = K.Input((8, 8, 2), name="img")
    outs = [t(p) for p in tf.split(x, 2)]
    par = K.Model(x, [L.Concatenate(axis=0, name=nm)([o[k] for o in outs]) for k, nm in enumerate(("gap", "depth"))], name="senet_2")
    c = dict(optimizer=K.optimizers.AdamW(1e-3), loss={"gap": "mse", "depth": K.losses.MeanAbsoluteError()}, metrics={"depth": [K.metrics.MeanSquaredError()]})
    return dict(
        how="tf.split; layers named like the template's outputs merge them; the template calls a registered custom block with sub-layers and a convolution twice each; losses by output name need no change.",
        par=par, base=lambda: t, template=t, X=rows(8, 8, 2), Y=[rows(2), rows(1, seed=1)], compile_par=c, compile_base=c, towers=2, scope="whole", files=("keras", "h5", "weights"))
