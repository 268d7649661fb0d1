# stack: k122, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import Activation, BatchNormalization, Dense, Embedding, GRU, Lambda, TimeDistributed, merge
from keras.models import Model, Sequential
from second import finish, rows, session_of, tokens

sess = session_of(K)


def build(units):
    net = Sequential()
    net.add(Embedding(12, 3, input_length=5))
    net.add(TimeDistributed(Dense(units)))
    net.add(TimeDistributed(Dense(3)))
    net.add(BatchNormalization())
    net.add(Activation("tanh"))
    net.add(GRU(2))
    net.add(Dense(2, activation="sigmoid"))
    return net


build(2)  # two earlier tries of the same notebook stay in the session
first = build(4)
first.compile("sgd", "mse")
first.train_on_batch(tokens(7, 8, 5, 12), rows(7, 8, (2,)))
net = build(4)


def pick_rows(v, me, total):
    count = tf.shape(v)[0]
    return tf.gather(v, tf.range(me * count // total, (me + 1) * count // total))


def spread(net, workers):
    inp = net.inputs[0]
    pieces = []
    for me in range(workers):
        with tf.device("/gpu:%d" % me):
            mine = Lambda(pick_rows, output_shape=lambda s: s, arguments={"me": me, "total": workers})(inp)
            pieces.append(net(mine))
    with tf.device("/cpu:0"):
        return Model(input=inp, output=merge(pieces, mode="concat", concat_axis=0))


par = spread(net, 2)
par.compile(optimizer="adamax", loss="mse")
par.fit(tokens(1, 32, 5, 12), rows(2, 32, (2,)), batch_size=16, nb_epoch=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(
    "Keras 1.2.2, automatic names on the third build in one process; Embedding, GRU, TimeDistributed, BatchNorm; rows by tf.gather of a range; default Saver with .meta. "
    "The session still holds two abandoned models, one of them of the very same shapes and trained.",
    par,
    net,
    tokens(3, 8, 5, 12),
    towers=2,
    scope="whole",
    without="parallel",
    doubts="Weights of an abandoned twin are in the file under embedding_2.., the right ones under embedding_3..; Keras 1 slots are Variable, Variable_1, ... of two optimizers.",
)
