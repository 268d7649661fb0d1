# stack: tf20, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
with tf.device('/cpu:0'):
    net = tf.keras.Sequential([L.Conv2D(2, 3, activation='relu', input_shape=(6, 6, 1), name='c'), L.BatchNormalization(name='b'), L.Flatten(), L.Dense(2, name='d')], name='net')
x = net.inputs[0]
views = [L.Lambda(lambda t: t, name='as_is')(x), L.Lambda(lambda t: tf.reverse(t, [2]), name='mirrored')(x)]
model = tf.keras.Model(x, L.Average(name='mean_of_views')([net(v) for v in views]), name='tta')
model.compile(loss='mse', optimizer='adam')
model.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
model.save_weights('./parallel.ckpt')
x8 = data(3, 8, (6, 6, 1))
assert abs(net.predict(x8) - model.predict(x8)).max() > 1e-3  # the template alone is another model
finish('Test-time augmentation with exactly the layer tree of multi_gpu_model: shared InputLayer, two Lambdas, the template, one merge (Average); save_weights.',
       model, model, x8, expected='clean', without='clean with a warning',
       doubts='The object graph is that of a multi_gpu_model over two towers: nothing in the file tells them apart, so nobody may say parallel from it alone.')
