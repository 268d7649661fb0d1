# stack: k224, keras
import fake_gpus

fake_gpus.install(2)
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Conv2D, Dense, Flatten, Input, LeakyReLU, MaxPooling2D
from keras.models import Model
from keras.utils import multi_gpu_model
from second import finish, rows, session_of

sess = session_of(K)
x, t = rows(1, 48, (8, 8, 1), (2,))
for fold in range(3):
    keep = [i for i in range(48) if i % 3 != fold]
    with tf.device("/cpu:0"):
        image = Input((8, 8, 1))
        h = image
        for width in (2, 3):
            h = Conv2D(width, 3, padding="same", use_bias=False)(h)
            h = BatchNormalization()(h)
            h = LeakyReLU(0.1)(h)
            h = MaxPooling2D()(h)
        model = Model(image, Dense(2, activation="softmax")(Flatten()(h)))
    par = multi_gpu_model(model, gpus=2)
    par.compile("adam", "mse")
    par.fit(x[keep], t[keep], batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(
    "Cross validation in one process: three folds, each its own multi_gpu_model of Keras 2.2.4 with automatic names, all in one session; the default Saver with .meta keeps all three. "
    "The JSON given is the last fold's (conv2d_5, conv2d_6, dense_3).",
    par,
    model,
    rows(3, 8, (8, 8, 1)),
    towers=2,
    scope="whole",
    without="parallel",
    ok=["without_architecture: fix refused, naming that the file holds three parallel models"],
    doubts="Three parallel models of equal shapes in one .meta: without the JSON nobody knows which is meant. Slots: training, training_1, training_2.",
)
