# stack: py27k122, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import Dense, Embedding, Input, LSTM, Lambda, merge
from keras.models import Model
from kit import data, finish, ids, soft_session

session = soft_session(K)


def piece(t, pieces, number):
    """Piece `number` of a batch, the last one with what is left over."""
    size = K.shape(t)[0] / pieces
    return t[number * size :] if number + 1 == pieces else t[number * size : (number + 1) * size]


def replicate(template, gpus):
    """Inputs of its own like the template's, a call of the template for every GPU, the answers merged."""
    with tf.device("/cpu:0"):
        outer = [
            Input(shape[1:], name=name, dtype=K.dtype(x))
            for shape, name, x in zip(template.input_shape, template.input_names, template.inputs)
        ]
    answers = []
    for gpu in range(gpus):
        with tf.device("/gpu:%d" % gpu):
            answers.append(
                template(
                    [Lambda(piece, lambda shape: shape, arguments={"pieces": gpus, "number": gpu})(x) for x in outer]
                )
            )
    with tf.device("/cpu:0"):
        return Model(input=outer, output=merge(answers, mode="concat", concat_axis=0))


words = Input((7,), dtype="int32", name="words")
extra = Input((4,), name="extra")
h = Embedding(20, 5, input_length=7)(words)
h = LSTM(4)(h)
e = Dense(4, activation="relu")(extra)
h = merge([h, e], mode="concat")
model = Model(input=[words, extra], output=Dense(2, activation="softmax", name="label")(h))

par = replicate(model, 3)
par.compile(loss="mse", optimizer="rmsprop")
par.fit([ids(1, 24, 7, 20), data(2, 24, (4,))], data(3, 24, (2,)), batch_size=12, nb_epoch=2, verbose=0)
tf.train.Saver().save(session, "./parallel.ckpt", write_meta_graph=False)

finish(
    "The other early scheme (Inputs of its own outside, slices by index), widened to two inputs; the last tower takes the remainder. "
    "Saver over the session, write_meta_graph=False.",
    par,
    model,
    [ids(4, 8, 7, 20), data(5, 8, (4,))],
    towers=3,
    scope="whole",
)
