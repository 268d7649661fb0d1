# stack: tf20, tf.keras
import tensorflow as tf
from second import eager, finish, rows

eager()
L = tf.keras.layers


class Cutter(L.Layer):
    """All shares of the batch at once, as a list."""

    def __init__(self, pieces=2, **kwargs):
        super().__init__(**kwargs)
        self.pieces = pieces

    def call(self, t):
        n = tf.shape(t)[0]
        sizes = [n // self.pieces] * (self.pieces - 1)
        return tf.split(t, sizes + [n - sum(sizes)], axis=0, num=self.pieces)

    def get_config(self):
        return dict(super().get_config(), pieces=self.pieces)


class Glue(L.Layer):
    def call(self, ts):
        return tf.concat(ts, 0)


class Mixer(L.Layer):
    """Sub-layers and weights in an order of their own: a weight, a Dense, two weights in a list, a dictionary of layers, a counter."""

    def __init__(self, width=3, **kwargs):
        super().__init__(**kwargs)
        self.width = width

    def build(self, shape):
        self.zeta = self.add_weight("zeta", (self.width,), trainable=False, initializer="ones")
        self.inside = L.Dense(self.width)
        self.alphas = [self.add_weight("alpha%d" % i, (self.width,), initializer="uniform") for i in range(2)]
        self.more = {"low": L.BatchNormalization(), "high": L.Dense(self.width, use_bias=False)}
        self.calls = self.add_weight("calls", (), dtype=tf.int64, trainable=False, initializer="zeros")
        super().build(shape)

    def call(self, t, training=None):
        h = self.more["low"](self.inside(t) * self.zeta, training=training)
        return self.more["high"](tf.tanh(h * self.alphas[0] + self.alphas[1]))

    def get_config(self):
        return dict(super().get_config(), width=self.width)


a = L.Input((5,))
h = Mixer(4)(a)
h = Mixer(3)(h)
model = tf.keras.Model(a, L.Dense(2)(h))
x = L.Input((5,))
par = tf.keras.Model(x, Glue()([model(s) for s in Cutter(3)(x)]))
par.compile(tf.keras.optimizers.Ftrl(0.05, l1_regularization_strength=1e-3), "mse")
par.fit(rows(1, 33, (5,)), rows(2, 33, (2,)), batch_size=11, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save("./parallel.ckpt")
finish(
    "TF 2.0: one layer gives all shares as a list, an own layer joins them; custom layers in the template with weights, sub-layers, a list and a dictionary in odd order; Ftrl; "
    "Checkpoint(model=, optimizer=).save.",
    par,
    model,
    rows(3, 8, (5,)),
    towers=3,
    scope="whole",
    prefix="parallel.ckpt-1",
)
