# stack: k231, keras
import fake_gpus

fake_gpus.install(3)
import tensorflow as tf
from keras import backend as K
from keras.layers import Add, BatchNormalization, Dense, Input
from keras.models import Model
from keras.utils import multi_gpu_model
from second import finish, rows, session_of

sess = session_of(K)
with tf.device("/cpu:0"):
    x = Input((3,))
    h = x
    for _ in range(50):
        h = Add()([h, Dense(3, activation="tanh", use_bias=False)(BatchNormalization()(h))])
    model = Model(x, Dense(1)(h))
par = multi_gpu_model(model, gpus=3)
par.compile("sgd", "mse")
par.fit(rows(1, 24, (3,)), rows(2, 24, (1,)), batch_size=12, epochs=1, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(
    "Keras 2.3.1: a residual net of a hundred tiny layers (dense_1 to dense_51, batch_normalization_1 to 50) under multi_gpu_model over three GPUs; default Saver without .meta.",
    par,
    model,
    rows(3, 8, (3,)),
    towers=3,
    scope="whole",
    doubts="dense_10 sorts before dense_2 in the index; many shapes are equal.",
)
