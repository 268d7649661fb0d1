# stack: k122, keras
import tensorflow as tf
import keras
from keras import backend as K
from keras.layers import (
    Activation,
    BatchNormalization,
    Convolution2D,
    Dense,
    Dropout,
    Flatten,
    Lambda,
    MaxPooling2D,
    merge,
)
from keras.models import Model, Sequential
from kit import data, finish, soft_session

session = soft_session(K)


def rows_of(t, which, of):
    """The rows of tower `which`, counted in whole shares of the batch."""
    share = tf.shape(t)[0] // of
    rest = [0] * (t.get_shape().ndims - 1)
    return tf.slice(t, tf.stack([which * share] + rest), tf.concat([[share], tf.shape(t)[1:]], 0))


def on_gpus(template, count):
    """A tower per GPU on the template's own inputs, every output joined on the CPU."""
    towers = []
    for gpu in range(count):
        with tf.device("/gpu:%d" % gpu), tf.name_scope("tower_%d" % gpu):
            shares = [
                Lambda(rows_of, output_shape=K.int_shape(x)[1:], arguments={"which": gpu, "of": count})(x)
                for x in template.inputs
            ]
            answer = template(shares)
            towers.append(answer if isinstance(answer, list) else [answer])
    with tf.device("/cpu:0"):
        joined = [merge(list(parts), mode="concat", concat_axis=0) for parts in zip(*towers)]
    return Model(input=template.inputs, output=joined)


net = Sequential(name="convnet")
net.add(Convolution2D(4, 3, 3, border_mode="same", input_shape=(8, 8, 3), dim_ordering="tf"))
net.add(BatchNormalization())
net.add(Activation("relu"))
net.add(MaxPooling2D((2, 2), dim_ordering="tf"))
net.add(Flatten())
net.add(Dense(6, activation="tanh"))
net.add(Dropout(0.2))
net.add(Dense(3, activation="softmax"))

par = on_gpus(net, 2)
par.compile(loss="categorical_crossentropy", optimizer=keras.optimizers.Adam(lr=0.01))
x, t = data(1, 32, (8, 8, 3), (3,))
par.fit(x, (t == t.max(1, keepdims=True)).astype("float32"), batch_size=16, nb_epoch=2, verbose=0)
tf.train.Saver().save(session, "./parallel.ckpt")

finish(
    "The scheme of make_parallel by kuza55 (Lambdas with tf.slice on the inputs of the template itself, merge on the CPU) over a Sequential CNN with BatchNorm; tf.train.Saver() over the whole Keras session, with .meta.",
    par,
    net,
    data(2, 8, (8, 8, 3)),
    towers=2,
    scope="whole",
    without="parallel",
    compile_with={"loss": "categorical_crossentropy"},
)
