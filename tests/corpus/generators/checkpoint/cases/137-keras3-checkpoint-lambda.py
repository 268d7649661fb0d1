# stack: tf221, keras 3
import keras
import tensorflow as tf
from keras import layers as L
from kit import data, finish

keras.utils.set_random_seed(137)
a = L.Input((6, 6, 1), name='image')
h = L.Conv2D(3, 3, name='conv')(a)
h = L.BatchNormalization(name='bn')(h)
h = L.Dropout(0.2, name='drop')(L.Flatten(name='flat')(h))
model = keras.Model(a, L.Dense(2, name='out')(h), name='template')


def get_slice(data, i, parts):
    step = keras.ops.shape(data)[0] // parts
    return data[i * step:] if i == parts - 1 else data[i * step:(i + 1) * step]


par = keras.Model(a, L.Concatenate(axis=0, name='merge')(
    [model(L.Lambda(get_slice, arguments={'i': i, 'parts': 2}, output_shape=(6, 6, 1), name='slice_%d' % i)(a)) for i in range(2)]), name='parallel')
par.compile(loss='mse', optimizer=keras.optimizers.Adam(0.01))
par.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save('./parallel.ckpt')
finish('Keras 3 on TensorFlow: Lambda slices of a named function, Checkpoint(model=, optimizer=).save.',
       par, model, data(3, 8, (6, 6, 1)), towers=2, scope='whole', prefix='parallel.ckpt-1')
