# stack: k216, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Concatenate, Dense, Input, Lambda
from keras.models import Model, Sequential
from second import finish, rows, session_of

sess = session_of(K)
x = Input((5,))
features = BatchNormalization()(Dense(4, activation="relu")(x))


def half(t, i, parts):
    step = tf.shape(t)[0] // parts
    return t[i * step : (i + 1) * step]


experts, joined = [], []
for i in range(2):
    with tf.device("/gpu:%d" % i):
        expert = Sequential([Dense(3, activation="tanh", input_shape=(4,)), Dense(2)])
        experts.append(expert)
        joined.append(expert(Lambda(half, arguments={"i": i, "parts": 2})(features)))
model = Model(x, Concatenate(axis=0)(joined))
model.compile("adamax", "mse")
model.fit(rows(1, 32, (5,)), rows(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
assert any((a != b).any() for a, b in zip(experts[0].get_weights(), experts[1].get_weights()))
finish(
    "Keras 2.1.6, two domains in one batch: the first half goes to one expert, the second to another of the same form with weights of its own, joined along the batch; "
    "slices with {i, parts} on two GPUs; default Saver with .meta.",
    model,
    model,
    rows(3, 8, (5,)),
    expected="clean",
    without="clean",
    doubts="Slices of the batch and a concat along it are all there: only that sequential_1 and sequential_2 are two models tells.",
)
