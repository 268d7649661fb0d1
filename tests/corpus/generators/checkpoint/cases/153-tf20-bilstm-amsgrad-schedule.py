# stack: tf20, tf.keras
import fake_gpus

fake_gpus.install(4)
import tensorflow as tf
from second import eager, finish, rows, tokens

eager()
L = tf.keras.layers
with tf.device("/cpu:0"):
    tf.keras.Sequential([L.Dense(2, input_shape=(3,)), L.Dense(2)])
    model = tf.keras.Sequential(
        [
            L.Embedding(13, 3, input_length=5),
            L.Bidirectional(L.LSTM(2, return_sequences=True)),
            L.SpatialDropout1D(0.1),
            L.Bidirectional(L.GRU(2), merge_mode="sum"),
            L.Dense(3, activation="relu"),
            L.BatchNormalization(),
            L.Dense(2, activation="softmax"),
        ]
    )
par = tf.keras.utils.multi_gpu_model(model, gpus=4)
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.02, 3, 0.9, staircase=True)
par.compile(tf.keras.optimizers.Adam(rate, amsgrad=True), "mse")
par.fit(tokens(1, 32, 5, 13), rows(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
par.save_weights("./parallel.ckpt")
finish(
    'TF 2.0 multi_gpu_model, four towers over a Sequential of bidirectional layers, automatic names, Adam with amsgrad on a learning-rate schedule; save_weights("parallel.ckpt").',
    par,
    model,
    tokens(3, 8, 5, 13),
    towers=4,
    scope="whole",
)
