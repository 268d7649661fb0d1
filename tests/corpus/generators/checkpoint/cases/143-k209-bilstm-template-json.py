# stack: k209, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import Bidirectional, Concatenate, Dense, Dropout, Embedding, Input, Lambda, LSTM
from keras.models import Model, Sequential
from keras.optimizers import RMSprop
from second import finish, rows, session_of, tokens

sess = session_of(K)


def language_model():
    m = Sequential()
    m.add(Embedding(14, 4, input_length=6))
    m.add(Bidirectional(LSTM(3, return_sequences=True)))
    m.add(Dropout(0.2))
    m.add(Bidirectional(LSTM(2, implementation=2), merge_mode="ave"))
    m.add(Dense(14, activation="softmax"))
    return m


language_model()
model = language_model()


def shard(t, which, of):
    per = K.shape(t)[0] // of
    return t[which * per : (which + 1) * per] if which < of - 1 else t[which * per :]


whole = Input((6,), dtype="int32")
outs = []
for which in range(2):
    with tf.device("/gpu:%d" % which):
        outs.append(model(Lambda(shard, arguments=dict(which=which, of=2))(whole)))
par = Model(whole, Concatenate(axis=0)(outs))
par.compile(RMSprop(lr=0.01, decay=1e-3), "mse")
par.fit(tokens(1, 32, 6, 14), rows(2, 32, (14,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(
    "Keras 2.0.9, own wrapper around a Sequential of two Bidirectional(LSTM), automatic names on the second build; default Saver without .meta. Only the template's JSON was kept.",
    par,
    model,
    tokens(3, 8, 6, 14),
    towers=2,
    scope="whole",
    json_of="template",
    ok=[
        "clean with the template's JSON: nothing in a name-based file without .meta tells of the wrapper; a conversion gives base_weights.h5 all the same"
    ],
    doubts="The abandoned first build (embedding_1, bidirectional_1, ...) has the same shapes. Whether the verdict is parallel or clean matters little; the weights must be those of the names in the JSON.",
)
