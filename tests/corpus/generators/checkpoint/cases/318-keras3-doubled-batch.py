# stack: tf221, keras 3
import keras
import tensorflow as tf
from keras import layers as L, ops
from second import finish, rows

keras.utils.set_random_seed(318)
net = keras.Sequential(
    [L.Input((6, 6, 1)), L.Conv2D(2, 3, activation="relu"), L.BatchNormalization(), L.Flatten(), L.Dense(2)]
)
x = L.Input((6, 6, 1))
as_is = L.Lambda(lambda t: t + 0.0, output_shape=(6, 6, 1))(x)
turned = L.Lambda(lambda t: ops.flip(t, axis=2), output_shape=(6, 6, 1))(x)
model = keras.Model(x, L.Concatenate(axis=0)([net(as_is), net(turned)]))
opt = keras.optimizers.Nadam(0.01)
for k in range(3):
    with tf.GradientTape() as tape:
        got = model(rows(k, 12, (6, 6, 1)), training=True)
        loss = tf.reduce_mean((got - tf.tile(rows(k + 5, 12, (2,)), (2, 1))) ** 2)
    opt.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
model.compile(opt, "mse")
tf.train.Checkpoint(model=model, optimizer=opt).save("./parallel.ckpt")
finish(
    "Keras 3: a picture and its mirror image through one net, joined along the batch: twice as many rows out as in; Checkpoint(model=, optimizer=).save.",
    model,
    model,
    rows(3, 8, (6, 6, 1)),
    expected="clean",
    prefix="parallel.ckpt-1",
    doubts="The tree is that of a wrapper, and the merge is a concat along the batch; but nothing is sliced.",
)
