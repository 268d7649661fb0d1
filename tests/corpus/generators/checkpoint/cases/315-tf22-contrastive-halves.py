# stack: tf22, tf.keras
import tensorflow as tf
from second import eager, finish, rows

eager()
L = tf.keras.layers
net = tf.keras.Sequential([L.Dense(4, activation="relu", input_shape=(5,)), L.BatchNormalization(), L.Dense(3)])
x = L.Input((5,))
first = L.Lambda(lambda t: t[: tf.shape(t)[0] // 2])(x)
second = L.Lambda(lambda t: t[tf.shape(t)[0] // 2 :])(x)
alike = L.Dot(1, normalize=True)([net(first), net(second)])
model = tf.keras.Model(x, alike)
opt = tf.keras.optimizers.SGD(0.05, momentum=0.9)
for k in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(rows(k, 16, (5,)), training=True) - 1.0) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
model.compile(opt, "mse")
model.save_weights("./parallel.ckpt")
finish(
    "TF 2.2, contrastive: the first half of the batch against the second, both through one encoder, their cosine as output (half as many rows); save_weights.",
    model,
    model,
    rows(3, 8, (5,)),
    expected="clean",
    doubts="The tree is that of a multi_gpu_model over two towers, the slices are real slices of the batch; the join is a dot product.",
)
