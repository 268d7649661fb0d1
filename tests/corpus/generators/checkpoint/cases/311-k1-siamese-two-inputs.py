# stack: k122, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Dense, Input, LSTM, merge
from keras.models import Model, Sequential
from second import finish, rows, session_of

sess = session_of(K)
Dense(2)(Input((2,)))
leg = Sequential()
leg.add(LSTM(3, input_shape=(4, 2)))
leg.add(BatchNormalization())
leg.add(Dense(3))
one, two = Input((4, 2)), Input((4, 2))
with tf.device("/gpu:0"):
    f1 = leg(one)
with tf.device("/gpu:1"):
    f2 = leg(two)
away = merge([f1, f2], mode=lambda fs: K.abs(fs[0] - fs[1]), output_shape=lambda ss: ss[0])
model = Model([one, two], Dense(1, activation="sigmoid")(away))
model.compile("rmsprop", "mse")
model.fit(rows(1, 32, (4, 2), (4, 2)), rows(2, 32, (1,)), batch_size=16, nb_epoch=2, verbose=0)
tf.train.Saver().save(sess, "./parallel.ckpt")
finish(
    "Keras 1.2.2: a siamese net on two GPUs, two inputs through one Sequential, the absolute difference through a Dense; automatic names; default Saver with .meta.",
    model,
    model,
    rows(3, 8, (4, 2), (4, 2)),
    expected="clean",
    without="clean",
)
