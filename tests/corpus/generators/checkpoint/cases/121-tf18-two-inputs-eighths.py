# stack: k216, tf.keras
import tensorflow as tf
from kit import data, finish, soft_session

K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
a = L.Input((4,), name='a')
b = L.Input((3,), name='b')
h = L.Concatenate(name='ab')([L.Dense(3, activation='tanh', name='da')(a), L.Dense(3, activation='tanh', name='db')(b)])
h = L.BatchNormalization(name='bn')(h)
model = tf.keras.models.Model([a, b], L.Dense(2, name='out')(h), name='two')


def tower_input(t, lo, hi):
    n = tf.shape(t)[0]
    return t[lo * n // 8:hi * n // 8]


outs = []
for g, (lo, hi) in enumerate([(0, 5), (5, 8)]):
    with tf.device('/gpu:%d' % g):
        outs.append(model([L.Lambda(tower_input, arguments={'lo': lo, 'hi': hi}, name='%s_gpu%d' % (t.name.split(':')[0], g))(t) for t in (a, b)]))
par = tf.keras.models.Model([a, b], L.concatenate(outs, axis=0, name='out_all'))
par.compile(loss='mse', optimizer=tf.train.RMSPropOptimizer(0.01, momentum=0.5))
par.fit(list(data(1, 32, (4,), (3,))), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Saver(par.weights + par.optimizer.optimizer.variables()).save(session, './parallel.ckpt', write_meta_graph=False)
finish('tf.keras of TF 1.8: hand-written towers in eighths (5 + 3), two inputs, TensorFlow RMSProp with momentum; Saver over the weights and the slots, without .meta.',
       par, model, list(data(3, 8, (4,), (3,))), towers=2, scope='whole', doubts='Object-based saving of functional models does not work yet in TF 1.8 (an empty graph is written).')
