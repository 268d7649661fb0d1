# stack: tf23, tf.keras
import tensorflow as tf
from second import finish, rows, two_cpus

both = two_cpus()
L = tf.keras.layers


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
par.fit(rows(1, 32, (9, 2)), rows(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights("./parallel.ckpt")
finish(
    "TF 2.3: a script moved to MirroredStrategy (two virtual CPUs) with its old hand-written wrapper (tf.strided_slice) left in; Adagrad; save_weights.",
    par,
    model,
    rows(3, 8, (9, 2)),
    towers=2,
    scope="whole",
)
