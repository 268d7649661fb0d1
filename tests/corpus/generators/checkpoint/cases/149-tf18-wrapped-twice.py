# stack: k216, tf.keras
import fake_gpus

fake_gpus.install(2)
import tensorflow as tf
from tensorflow.python.keras.utils import multi_gpu_model
from second import finish, rows, session_of

K, L = tf.keras.backend, tf.keras.layers
sess = session_of(K)
with tf.device("/cpu:0"):
    L.Dense(3)(L.Input((3,)))
    pic = L.Input((8, 8, 1))
    h = L.Conv2D(2, 3, strides=2)(pic)
    h = L.BatchNormalization()(h)
    h = L.Conv2D(3, 2)(L.Activation("relu")(h))
    h = L.BatchNormalization(momentum=0.8)(h)
    model = tf.keras.models.Model(pic, L.Dense(2)(L.Flatten()(h)))
inner = multi_gpu_model(model, 2)

# the official one once, and a hand-written one around it
again = L.Input((8, 8, 1))


def rows_of(t, first, last):
    n = tf.shape(t)[0]
    return t[n * first // 4 : n * last // 4]


outs = [inner(L.Lambda(rows_of, arguments={"first": f, "last": l})(again)) for f, l in ((0, 2), (2, 4))]
par = tf.keras.models.Model(again, L.concatenate(outs, axis=0))
par.compile(tf.keras.optimizers.Adam(0.01), "mse")
par.fit(rows(1, 32, (8, 8, 1)), rows(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(
    "tf.keras of TF 1.8: multi_gpu_model, and a hand-written wrapper around its result; automatic names (conv2d, conv2d_1), tf.keras's own Adam; default Saver with .meta.",
    par,
    model,
    rows(3, 8, (8, 8, 1)),
    towers=2,
    scope="whole",
    without="parallel",
    depth=2,
    inner_towers=2,
)
