"""Makes the files beside it: `python make.py keras3` with Keras 3, `python make.py tf_keras` with tf_keras.

A Sequential with two layers of a class that has an `__init__` of its own without `name`, and no `get_config`; trained,
saved, and saved again inside a wrapper of two towers.
"""

import sys

import numpy as np

if sys.argv[1] == "tf_keras":
    import tf_keras as keras
else:
    import keras


class Scale(keras.layers.Layer):
    """A Dense layer without bias."""

    def __init__(self, units=3):
        super().__init__()
        self.units = units

    def build(self, shape):
        """One weight."""
        self.w = self.add_weight(shape=(shape[-1], self.units), name="w")

    def call(self, x):
        """Its product."""
        return x @ self.w

    def compute_output_shape(self, shape):
        """As Dense."""
        return (*shape[:-1], self.units)


def get_slice(x, i, parts):
    """A share of the batch."""
    import tensorflow as tf

    n = tf.shape(x)[0] // parts
    return x[i * n : (i + 1) * n] if i < parts - 1 else x[i * n :]


layers = [keras.Input((4,)), keras.layers.Dense(5), Scale(3), Scale(2), keras.layers.Dense(2)]
model = keras.Sequential(layers, name="seq")
x = keras.Input((4,))
cuts = [keras.layers.Lambda(get_slice, arguments={"i": i, "parts": 2}, output_shape=(4,))(x) for i in range(2)]
parallel = keras.Model(x, keras.layers.Concatenate(axis=0)([model(cut) for cut in cuts]))
for each in (model, parallel):
    each.compile("adam", "mse")
    each.fit(np.zeros((4, 4)), np.zeros((4, 2)), verbose=0)
for suffix in ("h5", "keras"):
    parallel.save(f"{sys.argv[1]}/parallel.{suffix}")
    model.save(f"{sys.argv[1]}/base.{suffix}")
