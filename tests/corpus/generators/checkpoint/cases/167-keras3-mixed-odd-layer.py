# stack: tf221, keras 3
import keras
import tensorflow as tf
from keras import layers as L, ops
from second import finish, rows

keras.utils.set_random_seed(167)


@keras.saving.register_keras_serializable("own")
class Codebook(L.Layer):
    """Usage counts first (integers), the book, then a Dense of its own, then a second table in bfloat16."""

    def __init__(self, codes=4, **kwargs):
        super().__init__(**kwargs)
        self.codes = codes
        self.after = L.Dense(3)

    def build(self, shape):
        self.used = self.add_weight(
            shape=(self.codes,), dtype="int32", trainable=False, initializer="zeros", name="used"
        )
        self.book = self.add_weight(shape=(self.codes, shape[-1]), initializer="random_normal", name="book")
        self.after.build((None, shape[-1]))
        self.coarse = self.add_weight(
            shape=(self.codes, shape[-1]),
            dtype="bfloat16",
            trainable=False,
            initializer="random_normal",
            name="coarse",
            autocast=False,
        )

    def call(self, t):
        book = ops.cast(self.book, t.dtype) + ops.cast(self.coarse, t.dtype)
        soft = ops.softmax(ops.matmul(t, ops.transpose(book)))
        return self.after(t + ops.matmul(soft, book))

    def get_config(self):
        return {**super().get_config(), "codes": self.codes}


keras.mixed_precision.set_dtype_policy("mixed_float16")
a = L.Input((4,))
h = Codebook()(L.Dense(4)(a))
h = L.BatchNormalization()(h)
model = keras.Model(a, [L.Dense(2, dtype="float32")(h), L.Activation("sigmoid", dtype="float32")(L.Dense(1)(h))])
x = L.Input(batch_shape=(8, 4))
outs = [model(x[:5, :]), model(x[5:, :])]
par = keras.Model(x, [ops.concatenate(list(o), axis=0) for o in zip(*outs)])
par.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.Adamax(0.01)), "mse")
par.fit(rows(1, 32, (4,)), rows(2, 32, (2,), (1,)), batch_size=8, epochs=2, verbose=0)
tf.train.Checkpoint(net=par, opt=par.optimizer).write("./parallel.ckpt")
finish(
    "Keras 3, mixed_float16: a codebook layer with integer and bfloat16 variables and a sub-layer in odd order, two outputs, x[:5, :] and x[5:, :] of a fixed batch of 8; LossScaleOptimizer around Adamax; "
    "Checkpoint(net=, opt=).write.",
    par,
    model,
    rows(3, 8, (4,)),
    towers=2,
    scope="whole",
    tolerance=5e-3,
    doubts="Keras 3 writes the bfloat16 variable to base.weights.h5 as two opaque bytes with an attribute dtype = bfloat16.",
)
