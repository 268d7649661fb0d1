# stack: tf215, tf.keras
import numpy as np
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers


class ScaleShift(L.Layer):
    """A weight that is not trained comes first, one that is second."""

    def build(self, shape):
        self.seen = self.add_weight(name='seen', shape=(), dtype='int64', trainable=False, initializer='zeros')
        self.scale = self.add_weight(name='scale', shape=(shape[-1],), initializer='ones')
        self.limits = self.add_weight(name='limits', shape=(2, shape[-1]), trainable=False, initializer='random_normal')

    def call(self, x, training=None):
        if training:
            self.seen.assign_add(1)
        return tf.clip_by_value(x * self.scale + self.limits[0], -5., 5.)


norm = L.Normalization(name='norm')
norm.adapt(data(9, 40, (4,)) * 3 + 1)
a = L.Input((4,), name='row')
h = ScaleShift(name='scale_shift')(norm(a))
h = L.Dense(5, activation='relu', kernel_regularizer='l2', name='d')(h)
h = L.BatchNormalization(name='bn')(h)
model = tf.keras.Model(a, L.Dense(2, name='e')(h), name='tabular')

x = tf.keras.Input((4,), name='rows')
n = tf.shape(x)[0]
cuts = [0, n // 3, 2 * n // 3, n]
par = tf.keras.Model(x, L.Concatenate(axis=0)([model(x[b:e]) for b, e in zip(cuts, cuts[1:])]))
par.compile(loss='mse', optimizer=tf.keras.optimizers.legacy.Adagrad(0.05))
keep = tf.keras.callbacks.ModelCheckpoint('weights.{epoch:02d}.ckpt', save_weights_only=True)
par.fit(data(1, 36, (4,)), data(2, 36, (2,)), batch_size=12, epochs=2, verbose=0, callbacks=[keep])
finish('TF 2.15: sliced with x[b:e] on symbolic bounds, Normalization and a custom layer of mixed weights in the template, legacy Adagrad; ModelCheckpoint with the epoch in its name.',
       par, model, data(3, 8, (4,)), towers=3, scope='whole', prefix='weights.02.ckpt')
