# stack: k224, keras
import fake_gpus

fake_gpus.install(2)
import tensorflow as tf
from keras import backend as K

K.set_floatx("float16")
K.set_epsilon(1e-4)
from keras.layers import Activation, Conv2D, Dense, Flatten
from keras.models import Sequential
from keras.optimizers import SGD
from keras.utils import multi_gpu_model
from second import finish, rows, session_of

sess = session_of(K)
with tf.device("/cpu:0"):
    model = Sequential()
    model.add(Conv2D(3, 3, input_shape=(6, 6, 2)))
    model.add(Activation("tanh"))
    model.add(Flatten())
    model.add(Dense(4, activation="tanh"))
    model.add(Dense(4, activation="tanh"))
    model.add(Dense(3))
par = multi_gpu_model(model, gpus=2)
par.compile(SGD(0.02, momentum=0.8), "mse")
par.fit(rows(1, 32, (6, 6, 2)), rows(2, 32, (3,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(
    "Keras 2.2.4 with floatx float16: every variable is half precision; multi_gpu_model over a Sequential with automatic names; default Saver with .meta.",
    par,
    model,
    rows(3, 8, (6, 6, 2)).astype("float16"),
    towers=2,
    scope="whole",
    without="parallel",
    tolerance=5e-3,
)
