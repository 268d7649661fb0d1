# stack: k231, tf.keras
import tensorflow as tf
from second import finish, rows, session_of

K, L, v1 = tf.keras.backend, tf.keras.layers, tf.compat.v1
sess = session_of(K)


class Portion(L.Layer):
    def __init__(self, share, before, everything, **kwargs):
        super(Portion, self).__init__(**kwargs)
        self.share, self.before, self.everything = share, before, everything

    def call(self, t):
        unit = tf.cast(tf.shape(t)[0], tf.float32) / self.everything
        cut = lambda v: tf.cast(tf.math.floor(unit * v + 0.5), tf.int32)
        return t[cut(self.before) : cut(self.before + self.share)]

    def get_config(self):
        return dict(super(Portion, self).get_config(), share=self.share, before=self.before, everything=self.everything)


a = L.Input((5, 4))
h = L.LayerNormalization()(a)
q = L.Dense(4)(h)
h = L.Attention(use_scale=True)([q, L.Dense(4)(h)])
h = L.LayerNormalization()(L.add([a, h]))
h = L.BatchNormalization()(L.Dense(6, activation="relu")(h))
model = tf.keras.Model(a, L.Dense(2)(L.GlobalAveragePooling1D()(h)))

shares, used, outs = [5, 3], 0, []
for g, s in enumerate(shares):
    with tf.device("/gpu:%d" % g):
        outs.append(model(Portion(s, used, sum(shares))(a)))
    used += s
par = tf.keras.Model(a, L.Concatenate(axis=0)(outs))
par.compile(tf.keras.optimizers.Nadam(0.01), "mse")
shadow = tf.train.ExponentialMovingAverage(0.9)
follow = shadow.apply(par.trainable_weights)
sess.run(v1.variables_initializer([shadow.average(v) for v in par.trainable_weights]))
par._make_train_function()
saver = v1.train.Saver(max_to_keep=1)
for step in range(1, 5):
    par.train_on_batch(rows(step, 16, (5, 4)), rows(step + 7, 16, (2,)))
    sess.run(follow)
    saver.save(sess, "./parallel.ckpt", global_step=step, write_meta_graph=False)
finish(
    "tf.keras of TF 1.15 in graph mode: attention and LayerNormalization with automatic names, own slice Layer in shares 5:3, Nadam, and a tf.train.ExponentialMovingAverage "
    "over the weights in the same session; Saver(max_to_keep=1), the newest, no .meta.",
    par,
    model,
    rows(3, 8, (5, 4)),
    towers=2,
    scope="whole",
    prefix="parallel.ckpt-4",
    doubts="dense/kernel/ExponentialMovingAverage has the shape of dense/kernel and is not the weight that the model predicts with.",
)
