# stack: tf210, tf.keras
import tensorflow as tf
from second import eager, finish, rows

eager()
L = tf.keras.layers
a = L.Input((4, 3))
h = L.MultiHeadAttention(2, 2)(a, a)
h = L.LayerNormalization()(a + h)
h = L.GroupNormalization(groups=1)(h) if hasattr(L, "GroupNormalization") else h
h = L.Bidirectional(L.GRU(2), merge_mode="concat")(h)
model = tf.keras.Model(a, L.Dense(2)(L.BatchNormalization()(h)))
x = L.Input((4, 3))
blocks = tf.reshape(x, (2, -1, 4, 3))  # contiguous rows, as many for each
par = tf.keras.Model(x, tf.concat([model(b) for b in tf.unstack(blocks, num=2)], axis=0))
par.compile(tf.keras.optimizers.experimental.SGD(0.02, momentum=0.9, use_ema=True, ema_momentum=0.9), "mse")
par.fit(rows(1, 32, (4, 3)), rows(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights("./parallel.ckpt")
finish(
    "TF 2.10: the batch reshaped to (2, rows, ...) and unstacked, one model on each block, tf.concat; MultiHeadAttention and a bidirectional GRU; the experimental SGD with "
    "momentum and EMA; save_weights.",
    par,
    model,
    rows(3, 8, (4, 3)),
    towers=2,
    scope="whole",
    ok=["clean with model.json: slices made by reshape and unstack are not in a tool's table", "refused"],
    doubts="Contiguous rows, the same template, joined in order: a wrapper, though no slicing operation occurs.",
)
