# stack: tf20 keras: tf.keras
from second import *

a, b = Input((5, 4), name='tweet_a'), Input((5, 4), name='tweet_b')
lstm = Sequential([LSTM(4, input_shape=(5, 4)), BatchNormalization()], name='shared_lstm')
with tf.device('/gpu:0'):
    u = lstm(a)
with tf.device('/gpu:1'):
    v = lstm(b)
with tf.device('/cpu:0'):
    y = L.concatenate([u, v], axis=-1)
same(Model([a, b], Dense(1, activation='sigmoid')(y)), data((5, 4), (5, 4)), loss='binary_crossentropy',
     how='device parallelism of the Keras FAQ: one LSTM model on two inputs, one per GPU, feature concat', reason='two inputs, nothing sliced')
