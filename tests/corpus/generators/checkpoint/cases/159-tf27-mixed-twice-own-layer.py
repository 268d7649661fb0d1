# stack: tf27, tf.keras
import tensorflow as tf
from second import eager, finish, rows

eager()
tf.keras.mixed_precision.set_global_policy("mixed_float16")
L = tf.keras.layers


class Spectral(L.Layer):
    """A Dense whose power-iteration vector is made first and never trained."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.u = self.add_weight(
            name="u", shape=(1, self.units), trainable=False, initializer="ones", experimental_autocast=False
        )
        self.offset = self.add_weight(name="offset", shape=(self.units,), initializer="zeros")
        self.w = self.add_weight(name="w", shape=(shape[-1], self.units))

    def call(self, t):
        w32 = tf.cast(self.w, "float32")
        size = tf.norm(tf.matmul(self.u, w32, transpose_b=True)) + 1.0
        return tf.matmul(t, tf.cast(w32 / size, t.dtype)) + self.offset

    def get_config(self):
        return {**super().get_config(), "units": self.units}


a = L.Input((6,))
h = L.ReLU()(Spectral(5)(a))
h = L.BatchNormalization()(h)
h = Spectral(3)(h)
model = tf.keras.Model(a, L.Activation("linear", dtype="float32")(h))


def fan(net, n):
    x = L.Input(net.input_shape[1:])
    return tf.keras.Model(x, L.Concatenate(axis=0, dtype="float32")([net(p) for p in tf.split(x, n)]))


par = fan(fan(model, 2), 2)
par.compile(tf.keras.optimizers.Adam(0.01), "mse")  # becomes a LossScaleOptimizer under the policy
keep = tf.keras.callbacks.ModelCheckpoint("parallel.ckpt", save_weights_only=True)
par.fit(rows(1, 32, (6,)), rows(2, 32, (3,)), batch_size=16, epochs=2, verbose=0, callbacks=[keep])
finish(
    "TF 2.7, mixed_float16: tf.split towers, wrapped twice (2 of 2), an own layer with weights in odd order, Adam in a LossScaleOptimizer; ModelCheckpoint(save_weights_only=True).",
    par,
    model,
    rows(3, 8, (6,)),
    towers=2,
    scope="whole",
    tolerance=5e-3,
    depth=2,
    inner_towers=2,
)
