# stack: tf221, tf_keras
import tensorflow as tf
import tf_keras as keras
from second import eager, finish, rows

eager()
L = keras.layers


class Trainer(tf.Module):
    """A loop of one's own; the model hangs below it, beside counters and an optimizer."""

    def __init__(self, net, opt):
        super().__init__()
        self.best = tf.Variable(1e9)
        self.state = {"epoch": tf.Variable(0, dtype=tf.int32), "seen": tf.Variable(0, dtype=tf.int64)}
        self.parts = [net, opt]

    def step(self, x, t):
        net, opt = self.parts
        with tf.GradientTape() as tape:
            loss = sum(tf.reduce_mean((a - b) ** 2) for a, b in zip(net(x, training=True), t))
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        self.state["seen"].assign_add(len(t[0]))
        self.best.assign(tf.minimum(self.best, loss))


def workers(t, n):
    """Row i to worker i * n // rows."""
    b = tf.shape(t)[0]
    return tf.dynamic_partition(t, tf.range(b) * n // b, n)


left, right = L.Input((5,)), L.Input((4,))
common = keras.Sequential([L.Dense(3, activation="relu"), L.BatchNormalization()])
h = L.Concatenate()([common(L.Dense(4)(left)), common(right)])
model = keras.Model([left, right], [L.Dense(2)(h), L.PReLU()(L.Dense(3)(h))])
shares = [L.Lambda(workers, arguments={"n": 2})(t) for t in (left, right)]
outs = [model([s[k] for s in shares]) for k in range(2)]
par = keras.Model([left, right], [L.concatenate(list(o), axis=0) for o in zip(*outs)])
trainer = Trainer(par, keras.optimizers.legacy.RMSprop(0.01, momentum=0.3, centered=True))
for k in range(3):
    trainer.step(rows(k, 16, (5,), (4,)), rows(k + 9, 16, (2,), (3,)))
tf.train.Checkpoint(trainer=trainer).save("./parallel.ckpt")
par.compile(trainer.parts[1], "mse")
finish(
    "tf_keras 2.21: shares by tf.dynamic_partition on row numbers (contiguous), two inputs, two outputs, a Sequential called twice; the parallel model and a legacy RMSprop in a list "
    "of a tf.Module; Checkpoint(trainer=).save.",
    par,
    model,
    rows(3, 8, (5,), (4,)),
    towers=2,
    scope="whole",
    prefix="parallel.ckpt-1",
    ok=["clean with model.json: dynamic_partition within a Lambda is not readable"],
    doubts="The model lies at trainer/parts/0, the optimizer at trainer/parts/1; loose variables beside them.",
)
