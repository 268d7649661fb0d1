# stack: tf22, tf.keras
import tensorflow as tf
from second import eager, finish, rows

eager()
L = tf.keras.layers

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
par.fit(rows(1, 16, (4, 4, 1)), rows(2, 16, (2,)), batch_size=8, epochs=2, verbose=0)
par.save_weights("./parallel.ckpt")
finish(
    "TF 2.2: layers that augment images at random, whose generators' state is in the checkpoint and no weight of theirs; save_weights.",
    par,
    model,
    rows(3, 8, (4, 4, 1)),
    towers=2,
    scope="whole",
    prefix="parallel.ckpt",
)
