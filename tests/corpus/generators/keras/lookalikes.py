"""Models that look like wrappers and are none: they must be left alone."""
import numpy as np

import templates as T
from common import case, onehot, rows


def alone(how, par, X, Y, compile_par, files=("keras",), **kw):
    return dict(how=how, par=par, base=None, template=None, X=X, Y=Y, compile_par=compile_par, expected="clean", files=files, **kw)


@case(301, "siamese-batch-joined", "keras3.15")
def _():
    L = K.layers
    net = T.mlp(K, name="twin", out=3)
    a, b = K.Input((5,), name="anchor"), K.Input((5,), name="positive")
    par = K.Model([a, b], L.Concatenate(axis=0, name="embeddings")([net(a), net(b)]), name="siamese")
    return alone(
        "A siamese net: one shared encoder on two different inputs, the embeddings put on top of each other (axis 0) for a contrastive loss. Nothing is sliced.",
        par, [rows(5), rows(5, seed=1)], None, None)


@case(302, "experts-per-part", "keras3.15")
def _():
    L = K.layers
    nets = [T.mlp(K, name="expert_%d" % k, out=2) for k in range(2)]
    x = K.Input((5,), name="x")
    par = K.Model(x, K.ops.concatenate([n(p) for n, p in zip(nets, K.ops.split(x, 2, axis=0))], axis=0), name="experts")
    return alone(
        "The batch is split, but every part has a network of its own (same architecture, different weights).",
        par, rows(5), rows(2, seed=1), dict(optimizer="adam", loss="mse"), files=("keras", "weights"))


@case(303, "tta-flips", "keras3.15")
def _():
    L = K.layers
    net = T.cnn(K, name="net", prefix="n_")
    x = K.Input((8, 8, 1), batch_size=8, name="im")
    views = K.ops.concatenate([x, K.ops.flip(x, axis=2)], axis=0)
    y = net(views)
    par = K.Model(x, L.Average(name="avg")(K.ops.split(y, 2, axis=0)), name="tta")
    return alone(
        "Test-time augmentation: the image and its mirror image are joined into one batch of double size, the network is called once, the result is split and averaged.",
        par, rows(8, 8, 1), onehot(3), dict(optimizer="adam", loss="categorical_crossentropy"))


@case(304, "channel-slices", "tf215")
def _():
    L = K.layers
    i = K.Input((6, 6, 2), name="pair")
    net = K.Model(i, L.Conv2D(2, 3, name="c")(i), name="half_net")
    x = K.Input((6, 6, 4), name="four")
    par = K.Model(x, tf.concat([net(x[:, :, :, :2]), net(x[:, :, :, 2:])], axis=-1), name="group_conv")
    return alone(
        "Grouped convolution by hand: x[:, :, :, :2] and x[:, :, :, 2:] through one shared net, concatenated on the channel axis.",
        par, rows(6, 6, 4), rows(4, 4, 4), dict(optimizer="adam", loss="mse"), files=("keras", "weights"))


@case(305, "time-windows", "tf_keras2.21")
def _():
    L = K.layers
    i = K.Input((4, 3), name="window")
    net = K.Model(i, L.LSTM(2, name="lstm")(i), name="window_net")
    x = K.Input((8, 3), name="long")
    par = K.Model(x, L.Concatenate(axis=1, name="both")([net(w) for w in tf.split(x, 2, axis=1)]), name="windows")
    return alone(
        "tf.split on the time axis (1), one shared LSTM model per window, concatenated on the feature axis.",
        par, rows(8, 3), rows(4, seed=1), dict(optimizer="rmsprop", loss="mse"))


@case(306, "gan-joint-batch", "keras3.15")
def _():
    L = K.layers
    z, real = K.Input((3,), batch_size=8, name="z"), K.Input((5,), batch_size=8, name="real")
    gen = K.Sequential([K.Input((3,)), L.Dense(5, name="g1"), L.BatchNormalization(name="gbn")], name="generator")
    dis = K.Sequential([K.Input((5,)), L.Dense(4, activation="relu", name="d1"), L.Dense(1, name="d2")], name="discriminator")
    both = K.ops.concatenate([real, gen(z)], axis=0)
    scores = dis(both)
    r, f = K.ops.split(scores, 2, axis=0)
    par = K.Model([z, real], [r, f], name="gan")
    return alone(
        "Real and generated rows joined on axis 0, one call of the discriminator, its scores split again.",
        par, [rows(3), rows(5, seed=1)], [rows(1), rows(1, seed=1)], dict(optimizer="adam", loss=["mse", "mse"]))


@case(307, "heads-by-slicing", "keras3.3")
def _():
    L = K.layers
    x = K.Input((6, 8), name="seq")
    q = L.Dense(8, name="qkv")(x)
    i = K.Input((6, 4), name="head_in")
    att = K.Model(i, L.Attention(name="dot")([i, i]), name="head")
    heads = [att(q[:, :, k * 4:(k + 1) * 4]) for k in range(2)]
    par = K.Model(x, L.Dense(2, name="o")(L.Concatenate(name="heads")(heads)), name="mini_mha")
    return alone(
        "Attention heads: slices of the last axis through one shared attention model, concatenated on the last axis.",
        par, rows(6, 8), rows(6, 2), dict(optimizer="adam", loss="mse"))


@case(308, "layer-called-often", "keras3.6")
def _():
    L = K.layers
    x = K.Input((5,), name="x")
    d = L.Dense(5, activation="tanh", name="again")
    bn = L.BatchNormalization(name="bn")
    h = x
    for _k in range(3):
        h = bn(d(h))
    par = K.Model(x, L.Concatenate(axis=1, name="out")([h, d(x), d(h)]), name="recurrent_by_hand")
    return alone("One Dense called five times, its outputs concatenated on axis 1.", par, rows(5), rows(15, seed=1), dict(optimizer="sgd", loss="mse"))


@case(309, "overlapping-batch-slices", "keras3.15")
def _():
    net = T.mlp(K, name="net")
    x = K.Input((5,), batch_size=8, name="x")
    par = K.Model(x, K.ops.concatenate([net(x[0:5, :]), net(x[3:8, :])], axis=0), name="overlap")
    return alone(
        "Rows 0 to 5 and 3 to 8: the slices overlap, ten rows come out of eight.",
        par, rows(5), None, None)


@case(310, "interleaved-then-concatenated", "keras3.15")
def _():
    net = T.mlp(K, name="net")
    x = K.Input((5,), batch_size=8, name="x")
    par = K.Model(x, K.layers.Concatenate(axis=0, name="cat")([net(x[::2, :]), net(x[1::2, :])]), name="evens_then_odds")
    return alone(
        "Even rows, then odd rows: a concatenation does not put them back, the rows come out in another order.",
        par, rows(5), rows(2, seed=1), dict(optimizer="adam", loss="mse"),
        also=["refused with a reason"], doubts="A careless wrapper might have been meant; taking the template out would change the predictions' order.")


@case(311, "swapped-halves", "tf_keras2.21")
def _():
    net = T.mlp(K, name="net")
    x = K.Input((5,), name="x")
    a, b = tf.split(x, 2)
    par = K.Model(x, tf.concat([net(b), net(a)], axis=0), name="swapped")
    return alone(
        "tf.split in halves, concatenated in the opposite order (rows exchanged, for a mixup-like trick).",
        par, rows(5), rows(2, seed=1), dict(optimizer="adam", loss="mse"), also=["refused with a reason"])


@case(312, "rows-dropped", "keras3.15")
def _():
    net = T.cnn(K, name="net", prefix="q_")
    x = K.Input((8, 8, 1), batch_size=8, name="x")
    par = K.Model(x, K.ops.concatenate([net(x[0:3, ...]), net(x[4:7, ...])], axis=0), name="two_of_three")
    return alone(
        "Rows 3 and 7 are left out on purpose (each group of four ends with a context row): six rows come out of eight.",
        par, rows(8, 8, 1), None, None, also=["refused with a reason"])


@case(313, "contrastive-halves", "tf215")
def _():
    L = K.layers
    net = T.mlp(K, name="encoder", out=4)
    x = K.Input((5,), name="views")
    n = tf.shape(x)[0] // 2
    u, v = net(x[:n]), net(x[n:])
    sim = tf.matmul(tf.math.l2_normalize(u, axis=1), tf.math.l2_normalize(v, axis=1), transpose_b=True)
    par = K.Model(x, [tf.concat([u, v], axis=0), sim], name="simclr")
    return alone(
        "SimCLR: the batch holds two views of every image in its halves; each half is encoded by the shared net, concatenated, and the similarity of the two halves is a second output.",
        par, rows(5), None, None, doubts="The first output alone is a wrapper; the second one uses the towers' outputs by themselves.", files=("keras",))


@case(314, "training-differs-per-part", "keras3.15")
def _():
    net = T.mlp(K, name="student")
    x = K.Input((5,), name="x")
    a, b = K.ops.split(x, 2, axis=0)
    par = K.Model(x, K.ops.concatenate([net(a, training=True), net(b, training=False)], axis=0), name="mc_dropout_half")
    return alone(
        "The first half is always run in training mode (Monte Carlo dropout), the second never.",
        par, rows(5), rows(2, seed=1), dict(optimizer="adam", loss="mse"), also=["refused with a reason"],
        doubts="p0 of the first half is random, and BatchNormalization moves at every call.")


@case(315, "half-of-batch-bypasses", "tf215")
def _():
    L = K.layers
    net = T.mlp(K, name="net", out=5)
    x = K.Input((5,), name="x")
    a, b = tf.split(x, 2, axis=0)
    par = K.Model(x, tf.concat([net(a), b], axis=0), name="half_replaced")
    return alone(
        "Half of the batch goes through the network, the other half is concatenated as it came (a mixed batch for a critic).",
        par, rows(5), rows(5, seed=1), dict(optimizer="adam", loss="mse"), files=("keras", "weights"))


@case(316, "lambda-named-get-slice-time", "keras3.15")
def _():
    L = K.layers

    def get_slice(data, i, parts):
        step = data.shape[1] // parts
        return data[:, i * step:(i + 1) * step]

    i = K.Input((4, 2), name="chunk")
    net = K.Model(i, L.GRU(3, name="gru")(i), name="chunk_net")
    x = K.Input((8, 2), name="x")
    outs = [net(L.Lambda(get_slice, arguments={"i": k, "parts": 2}, output_shape=(4, 2), name="gpu_%d_slice" % k)(x)) for k in range(2)]
    par = K.Model(x, L.Concatenate(axis=-1, name="chunks")(outs), name="chunks_in_time")
    return alone(
        "A Lambda called get_slice with i and parts that cuts the time axis, not the batch; merged on the last axis.",
        par, rows(8, 2), rows(6, seed=1), dict(optimizer="adam", loss="mse"), custom={"get_slice": get_slice})


@case(317, "crops-of-one-image-weights", "keras3.0")
def _():
    L = K.layers
    net = T.cnn(K, name="crop_net", prefix="k_", shape=(4, 8, 1))
    x = K.Input((8, 8, 1), name="im")
    top, bottom = L.Cropping2D(((0, 4), (0, 0)), name="top")(x), L.Cropping2D(((4, 0), (0, 0)), name="bottom")(x)
    par = K.Model(x, L.Average(name="mean")([net(top), net(bottom)]), name="crops")
    return alone(
        "Two crops of one image through one net, averaged.",
        par, rows(8, 8, 1), onehot(3), dict(optimizer="adam", loss="categorical_crossentropy"), files=("keras", "weights"))
