# stack: tf210, tf.keras
import tensorflow as tf
from second import finish, rows, two_cpus

both = two_cpus()
L = tf.keras.layers
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
model.fit(rows(1, 32, (7, 7, 1)), rows(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=model, optimizer=model.optimizer).save("./parallel.ckpt")
finish(
    "TF 2.10 under MirroredStrategy (two virtual CPUs): five crops through one Sequential, stacked and averaged; Checkpoint(model=, optimizer=).save.",
    model,
    model,
    rows(3, 8, (7, 7, 1)),
    expected="clean",
    prefix="parallel.ckpt-1",
    without_ok=["clean"],
)
