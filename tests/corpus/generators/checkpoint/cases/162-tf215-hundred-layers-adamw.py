# stack: tf215, tf.keras
import tensorflow as tf
from second import eager, finish, rows

eager()
L = tf.keras.layers


@tf.keras.utils.register_keras_serializable("lab")
class RowsOf(L.Layer):
    """Rows of one worker; the last takes what is over."""

    def __init__(self, worker, workers, **kwargs):
        super().__init__(**kwargs)
        self.worker, self.workers = worker, workers

    def call(self, t):
        each = tf.shape(t)[0] // self.workers
        return (
            t[self.worker * each :]
            if self.worker == self.workers - 1
            else t[self.worker * each : (self.worker + 1) * each]
        )

    def get_config(self):
        return {**super().get_config(), "worker": self.worker, "workers": self.workers}


net = tf.keras.Sequential([L.Input((3,))])
for depth in range(100):
    net.add(L.Dense(2 if depth % 2 else 3, activation="selu"))
    if depth % 10 == 9:
        net.add(L.BatchNormalization())
net.add(L.Dense(1))
x = L.Input((3,))
par = tf.keras.Model(x, L.Concatenate(axis=0)([net(RowsOf(w, 2)(x)) for w in range(2)]))
par.compile(tf.keras.optimizers.AdamW(0.001, weight_decay=0.01, amsgrad=True), "mse")
par.fit(rows(1, 16, (3,)), rows(2, 16, (1,)), batch_size=16, verbose=0)
par.save_weights("./parallel.ckpt")
finish(
    "TF 2.15: a Sequential of 111 tiny layers with automatic names under an own registered slice layer; AdamW with amsgrad; save_weights.",
    par,
    net,
    rows(3, 8, (3,)),
    towers=2,
    scope="whole",
)
