# stack: py27k122, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import (
    BatchNormalization,
    Dense,
    Flatten,
    Input,
    Lambda,
    SeparableConvolution2D,
    GlobalAveragePooling2D,
    merge,
)
from keras.models import Model
from second import finish, rows, session_of

sess = session_of(K)
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
    par.fit(rows(epoch, 20, (6, 6, 3)), rows(epoch + 9, 20, (3,), (1,)), batch_size=10, nb_epoch=1, verbose=0)
    saver.save(sess, "./parallel.ckpt", global_step=epoch + 1, write_meta_graph=False)
finish(
    "Keras 1.2.2 on Python 2.7: two outputs, separable convolutions with a residual sum, the merges are merge(mode=function); Saver(max_to_keep=1) after each epoch, "
    "only the newest is left, no .meta. The Saver was made before the first fit, so it knows no optimizer.",
    par,
    model,
    rows(3, 8, (6, 6, 3)),
    towers=2,
    scope="whole",
    prefix="parallel.ckpt-3",
    settings={"loss": ["mse", "mae"]},
    ok=["clean with model.json: a merge whose stored code is not read"],
    doubts="Merge with a function says nothing of the axis but its marshalled code.",
)
