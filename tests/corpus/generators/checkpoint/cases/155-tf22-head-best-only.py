# stack: tf22, tf.keras
import fake_gpus

fake_gpus.install(3)
import tensorflow as tf
from second import eager, finish, rows, tokens

eager()
L = tf.keras.layers
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
    [tokens(1, 36, 20, 10).reshape(36, 4, 5), rows(1, 36, (6,))],
    rows(2, 36, (1,)),
    batch_size=12,
    epochs=1,
    verbose=0,
    callbacks=[keep],
)
base = tf.keras.Model(trunk.inputs, on_top(trunk.outputs))
finish(
    "TF 2.2: multi_gpu_model of a two-input, two-output trunk (TimeDistributed of a nested Sequential, GRU, LayerNormalization), a head on both merges; "
    "ModelCheckpoint(save_best_only, save_weights_only) with the epoch in the name.",
    par,
    base,
    [tokens(3, 8, 20, 10).reshape(8, 4, 5), rows(3, 8, (6,))],
    template=trunk,
    towers=3,
    scope="head",
    prefix="parallel.ckpt-01",
)
