# stack: tf221, keras 3
import keras
import tensorflow as tf
from keras import layers as L, ops
from kit import data, finish

keras.utils.set_random_seed(138)
inner = keras.Sequential([L.Input((4,)), L.Dense(5, activation='relu', name='i1'), L.BatchNormalization(name='ibn')], name='inner')
a, b = L.Input((4,), name='a'), L.Input((4,), name='b')
h = L.Multiply(name='mul')([inner(a), inner(b)])
trunk = keras.Model([a, b], L.Dense(3, name='o1')(h), name='trunk')
xa, xb = L.Input((4,), name='batch_a'), L.Input((4,), name='batch_b')
towers = [trunk([p, q]) for p, q in zip(ops.split(xa, 2), ops.split(xb, 2))]
joined = ops.concatenate(towers, axis=0)
head = L.Dense(1, activation='sigmoid', name='head')
par = keras.Model([xa, xb], head(joined), name='pair_parallel')
par.compile(loss='mse', optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True))
par.fit(list(data(1, 32, (4,), (4,))), data(2, 32, (1,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(par).write('./parallel.ckpt')
base = keras.Model([a, b], head(trunk.outputs[0]), name='pair')
finish('Keras 3 on TensorFlow: ops.split of two own inputs, ops.concatenate, a Dense head on the merged rows; Checkpoint(model).write, the model as root.',
       par, base, list(data(3, 8, (4,), (4,))), template=trunk, towers=2, scope='head')
