# stack: tf221, keras 3
import keras
import tensorflow as tf
from keras import layers as L, ops
from second import finish, rows, tokens

keras.utils.set_random_seed(166)
keras.Sequential([L.Dense(2), L.BatchNormalization()]).build((None, 3))


@keras.saving.register_keras_serializable("own")
class Stripe(L.Layer):
    def __init__(self, nth, among, **kwargs):
        super().__init__(**kwargs)
        self.nth, self.among = nth, among

    def call(self, t):
        b = ops.shape(t)[0]
        return t[b * self.nth // self.among : b * (self.nth + 1) // self.among]

    def compute_output_shape(self, shape):
        return (None,) + tuple(shape[1:])

    def get_config(self):
        return {**super().get_config(), "nth": self.nth, "among": self.among}


words = L.Input((5,), dtype="int32")
h = L.Embedding(9, 3)(words)
h = L.Bidirectional(L.GRU(2, return_sequences=True))(h)
h = keras.Sequential([L.TimeDistributed(L.Dense(3)), L.LayerNormalization()])(h)
h = L.SeparableConv1D(3, 2)(h)
model = keras.Model(words, L.Dense(2)(L.BatchNormalization()(L.GlobalAveragePooling1D()(h))))
x = L.Input((5,), dtype="int32")
par = keras.Model(x, L.Concatenate(axis=0)([model(Stripe(k, 3)(x)) for k in range(3)]))
par.compile(
    keras.optimizers.AdamW(
        keras.optimizers.schedules.PiecewiseConstantDecay([3], [0.01, 0.001]), use_ema=True, ema_momentum=0.8
    ),
    "mse",
)
kept = tf.train.CheckpointManager(
    tf.train.Checkpoint(model=par, optimizer=par.optimizer, epoch=tf.Variable(0)),
    ".",
    1,
    checkpoint_name="parallel.ckpt",
)
for k in range(2):
    par.fit(tokens(k, 30, 5, 9), rows(k + 5, 30, (2,)), batch_size=15, verbose=0)
    kept.save()
finish(
    "Keras 3: an own slice layer among three, recurrent and nested layers with automatic names; AdamW with EMA on a piecewise schedule; CheckpointManager(max_to_keep=1) over "
    "model=, optimizer=, epoch=.",
    par,
    model,
    tokens(3, 8, 5, 9),
    towers=3,
    scope="whole",
    prefix="parallel.ckpt-2",
)
