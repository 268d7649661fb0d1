# stack: k231, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import (
    Bidirectional,
    Concatenate,
    Conv2D,
    Dense,
    Flatten,
    GRU,
    Input,
    Lambda,
    TimeDistributed,
    BatchNormalization,
)
from keras.models import Model, Sequential
from keras.optimizers import Adam
from second import finish, rows, session_of

sess = session_of(K)
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
    par.train_on_batch(rows(step, 16, (3, 5, 5, 1), (2,)), rows(step + 7, 16, (2,)))
    if step == 1:  # Keras makes the slots with the first batch
        saver = tf.compat.v1.train.Saver(max_to_keep=1)
    saver.save(sess, "./parallel.ckpt", global_step=step * 100)
base = Model([video, meta], out(both([encoder(video), side])))
finish(
    "Keras 2.3.1: a video encoder (TimeDistributed CNN, Bidirectional GRU) in three bands of 50, 25 and 25 percent by K.slice, inside a larger model with a second input; "
    "automatic names; Saver(max_to_keep=1), the newest of three, with .meta.",
    par,
    base,
    rows(3, 8, (3, 5, 5, 1), (2,)),
    template=encoder,
    towers=3,
    scope="embedded",
    without="parallel",
    prefix="parallel.ckpt-300",
)
