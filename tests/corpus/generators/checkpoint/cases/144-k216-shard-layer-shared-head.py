# stack: k216, keras
import tensorflow as tf
from keras import backend as K
from keras.engine.topology import Layer
from keras.layers import BatchNormalization, Concatenate, Conv1D, Dense, GlobalMaxPooling1D, Input, Multiply
from keras.models import Model
from second import finish, rows, session_of

sess = session_of(K)


class Shard(Layer):
    """The index-th of count parts; earlier parts get one row more where it does not divide."""

    def __init__(self, index=0, count=1, **kwargs):
        super(Shard, self).__init__(**kwargs)
        self.index, self.count = index, count

    def call(self, t):
        n = K.shape(t)[0]
        low, extra = n // self.count, n % self.count
        at = lambda k: k * low + tf.minimum(k, extra)
        return t[at(self.index) : at(self.index + 1)]

    def get_config(self):
        return dict(super(Shard, self).get_config(), index=self.index, count=self.count)


class Highway(Layer):
    """Made out of order: a count, the gate's bias, then the kernels; a limit that is not trained between them."""

    def build(self, shape):
        d = shape[-1]
        self.bias = self.add_weight("gate_bias", (d,), initializer="ones")
        self.limit = self.add_weight("limit", (d,), initializer="ones", trainable=False)
        self.kernel = self.add_weight("kernel", (d, d), initializer="glorot_uniform")
        self.gate = self.add_weight("gate", (d, d), initializer="glorot_uniform")
        super(Highway, self).build(shape)

    def call(self, t):
        g = K.sigmoid(K.dot(t, self.gate) + self.bias)
        return (g * K.tanh(K.dot(t, self.kernel)) + (1 - g) * t) * self.limit


Dense(3)(Input((2,)))
a, b = Input((7, 2)), Input((7, 2))
conv, norm = Conv1D(4, 3), BatchNormalization()
ha, hb = norm(conv(a)), norm(conv(b))
h = Multiply()([GlobalMaxPooling1D()(ha), GlobalMaxPooling1D()(hb)])
trunk = Model([a, b], Highway()(h))

outs = []
for k in range(3):
    with tf.device("/gpu:%d" % k):
        outs.append(trunk([Shard(k, 3)(a), Shard(k, 3)(b)]))
top = [Dense(5, activation="relu"), BatchNormalization(), Dense(1)]
h = Concatenate(axis=0)(outs)
for layer in top:
    h = layer(h)
par = Model([a, b], h)
par.compile("adadelta", "mse")
par.fit(rows(1, 36, (7, 2), (7, 2)), rows(2, 36, (1,)), batch_size=9, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
h = trunk.outputs[0]
for layer in top:
    h = layer(h)
base = Model([a, b], h)
finish(
    "Keras 2.1.6, own slice Layer (first shards take the remainder), two inputs through shared layers, a custom layer with weights made in odd order, a head of three layers; "
    "automatic names; default Saver with .meta.",
    par,
    base,
    rows(3, 8, (7, 2), (7, 2)),
    template=trunk,
    towers=3,
    scope="head",
    without="parallel",
)
