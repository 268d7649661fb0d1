# stack: py27k224, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Concatenate, Conv2D, Cropping2D, Dense, Flatten, Input
from keras.models import Model, Sequential
from second import finish, rows, session_of

sess = session_of(K)
look = Sequential([Conv2D(2, 2, activation="relu", input_shape=(4, 4, 1)), BatchNormalization(), Flatten(), Dense(2)])
pic = Input((8, 8, 1))
seen = []
for g, (top, left) in enumerate([(0, 0), (0, 4), (4, 0), (4, 4)]):
    with tf.device("/gpu:%d" % g), tf.name_scope("replica_%d" % g):
        seen.append(look(Cropping2D(((top, 4 - top), (left, 4 - left)))(pic)))
model = Model(pic, Dense(2)(Concatenate()(seen)))
model.compile("adam", "mse")
model.fit(rows(1, 32, (8, 8, 1)), rows(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt", write_meta_graph=False)
finish(
    "Keras 2.2.4 on Python 2.7: four quadrants of a picture on four GPUs through one CNN, features side by side; automatic names; default Saver without .meta.",
    model,
    model,
    rows(3, 8, (8, 8, 1)),
    expected="clean",
    without="clean",
    without_ok=["clean with a warning"],
)
