# stack: tf215, tf.keras
import tensorflow as tf
from second import eager, finish, rows, tokens

eager()
L = tf.keras.layers
tf.keras.Sequential([L.Dense(1, input_shape=(2,)), L.BatchNormalization()])
words = L.Input((6,), dtype="int32")
h = L.Embedding(11, 3, mask_zero=True)(words)
h = L.Bidirectional(L.GRU(2, return_sequences=True))(h)
h = L.TimeDistributed(L.Dense(3))(h)
reader = tf.keras.Model(words, L.LayerNormalization()(L.LSTM(3)(h)))


def by_gather(t, k, n):
    b = tf.shape(t)[0]
    return tf.gather(t, tf.range((b * k) // n, (b * (k + 1)) // n))


question, answer = L.Input((6,), dtype="int32"), L.Input((4,))
q = L.Lambda(lambda ts: tf.concat(ts, 0))(
    [reader(L.Lambda(by_gather, arguments={"k": k, "n": 2})(question)) for k in range(2)]
)
left, norm, dot, out = L.Dense(3, activation="gelu"), L.BatchNormalization(), L.Dot(1), L.Dense(1, activation="sigmoid")


def after(q):
    v = norm(left(answer))
    return out(L.concatenate([dot([q, v]), q, v]))


par = tf.keras.Model([question, answer], after(q))
par.compile(tf.keras.optimizers.Lion(tf.keras.optimizers.schedules.CosineDecay(0.01, 20), weight_decay=0.01), "mse")
par.fit([tokens(1, 32, 6, 11), rows(1, 32, (4,))], rows(2, 32, (1,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save("./parallel.ckpt")
base = tf.keras.Model([question, answer], after(reader(question)))
# For base.h5: the same optimizer, its momentums in the base model's order of variables
by_variable = {id(v): m for v, m in zip(par.trainable_variables, par.optimizer.momentums)}
ordered = tf.keras.optimizers.Lion.from_config(par.optimizer.get_config())
ordered.build(base.trainable_variables)
ordered.iterations.assign(par.optimizer.iterations)
for v, m in zip(base.trainable_variables, ordered.momentums):
    m.assign(by_variable[id(v)])
finish(
    "TF 2.15: a text reader (Embedding with mask, bidirectional GRU, TimeDistributed, LSTM) cut by tf.gather inside a question-answer model; Lion with weight decay on a cosine schedule; "
    "Checkpoint(model=, optimizer=).save.",
    par,
    base,
    [tokens(3, 8, 6, 11), rows(3, 8, (4,))],
    template=reader,
    towers=2,
    scope="embedded",
    prefix="parallel.ckpt-1",
    base_optimizer=ordered,
    doubts="The variables are in another order in the base than in the parallel model, and so is the optimizer state in base.h5.",
)
