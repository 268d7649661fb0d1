# stack: k224, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import Add, BatchNormalization, Conv1D, Dense, GRU, Input, Lambda
from keras.models import Model, Sequential
from keras.optimizers import Adagrad
from second import finish, rows, session_of

sess = session_of(K)


def one_model():
    block = Sequential([Conv1D(3, 3, padding="same", input_shape=(None, 3)), BatchNormalization()])
    inside = Input((None, 3))
    pre = Model(inside, Add()([inside, block(inside)]))
    seq = Input((6, 3))
    h = pre(seq)
    h = pre(h)
    h = GRU(3)(h)
    return Model(seq, Dense(2)(BatchNormalization()(h)))


def distribute(model, n):
    x = Input((6, 3))
    outs = []
    for k in range(n):
        with tf.device("/device:GPU:%d" % k):
            outs.append(model(Lambda(lambda v, k, n: tf.split(v, n)[k], arguments={"k": k, "n": n})(x)))
    return Model(x, Lambda(lambda parts: tf.concat(parts, axis=0))(outs))


for seed in (1, 2):
    model = one_model()
    par = distribute(model, 2)
    par.compile(Adagrad(0.02), "mse")
    par.fit(rows(seed, 32, (6, 3)), rows(seed + 5, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(
    "Keras 2.2.4, two runs in one session, nested sub-models with automatic names (sequential_2 in model_4 in model_5), one of them called twice; tf.split in Lambdas, "
    "the merge a Lambda with tf.concat; default Saver without .meta.",
    par,
    model,
    rows(3, 8, (6, 3)),
    towers=2,
    scope="whole",
    doubts="The first run's model (conv1d_1, ...) has the same shapes; slots are training/Adagrad/Variable.. and training_1/Adagrad/Variable...",
)
