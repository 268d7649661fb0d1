# stack: tf221, keras 3
import keras
import tensorflow as tf
from keras import layers as L
from second import finish, rows, two_cpus

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
par.fit(rows(1, 40, (6, 6, 1)), rows(2, 40, (2,)), batch_size=20, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save("./parallel.ckpt")
with both.scope():
    h = trunk.outputs[0]
    for layer in top:
        h = layer(h)
    base = keras.Model(trunk.inputs, h)
finish(
    "Keras 3 under MirroredStrategy (two virtual CPUs): three towers of 4, 3 and 3 tenths, a head on the merge; Lion; Checkpoint(model=, optimizer=).save.",
    par,
    base,
    rows(3, 8, (6, 6, 1)),
    template=trunk,
    towers=3,
    scope="head",
    prefix="parallel.ckpt-1",
)
