# stack: py27k224, keras
import fake_gpus

fake_gpus.install(3)
import tensorflow as tf
from keras import backend as K
from keras.layers import (
    BatchNormalization,
    Dense,
    Embedding,
    Flatten,
    Input,
    SeparableConv2D,
    GlobalAveragePooling2D,
    concatenate,
)
from keras.models import Model
from keras.optimizers import SGD
from keras.utils import multi_gpu_model
from second import finish, rows, session_of, tokens

sess = session_of(K)
with tf.device("/cpu:0"):
    Model(*[(i, Dense(2)(i)) for i in [Input((4,))]][0])
    img, tags = Input((6, 6, 2)), Input((3,))
    h = SeparableConv2D(3, 3, depth_multiplier=2)(img)
    h = BatchNormalization(scale=False)(h)
    e = Embedding(9, 2)(tags)
    shared = Dense(4, activation="relu")
    h = concatenate([shared(GlobalAveragePooling2D()(h)), shared(Dense(3)(Flatten()(e)))])
    h = BatchNormalization(center=False)(h)
    model = Model([img, tags], [Dense(1)(h), Dense(2, activation="softmax")(h)])
par = multi_gpu_model(model, gpus=3)
par.compile(SGD(0.05, momentum=0.9, nesterov=True), "mse")
par.fit([rows(1, 36, (6, 6, 2)), tokens(1, 36, 3, 9)], rows(2, 36, (1,), (2,)), batch_size=12, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(
    "Keras 2.2.4 on Python 2.7, multi_gpu_model over three GPUs, two inputs, two outputs, BatchNorms without scale or without center, a shared Dense; automatic names; "
    "Saver without .meta. Only the template's JSON was kept.",
    par,
    model,
    [rows(3, 8, (6, 6, 2)), tokens(3, 8, 3, 9)],
    towers=3,
    scope="whole",
    json_of="template",
    ok=[
        "clean with the template's JSON: nothing in a name-based file without .meta tells of the wrapper; a conversion gives base_weights.h5 all the same"
    ],
)
