# stack: tf20 keras: tf.keras
from common import *


class Shift(Layer):
    """Like a slice layer from outside: {index, total}, the shape unchanged."""

    def __init__(self, index, total, **kwargs):
        super().__init__(**kwargs)
        self.index, self.total = index, total

    def call(self, x):
        return tf.roll(x, self.index * x.shape[1] // self.total, axis=1)

    def get_config(self):
        return {**super().get_config(), 'index': self.index, 'total': self.total}


m = cnn('net')
x = Input((8, 8, 3))
lookalike(Model(x, L.Concatenate(axis=0)([m(Shift(i, 4)(x)) for i in range(4)])), towers=4, x=data((8, 8, 3)), template='net', opaque_slices=False,
          how='shift ensemble: a custom layer Shift {index: 0..3, total: 4} that rolls the image, one CNN, batch concat',
          reason='every tower sees the whole batch',
          doubts='a custom layer\'s code is not in the file: config {index, total} is word for word what a slice layer has, and only the '
                 'class name ("Shift") differs, which by the design is only evidence. Nothing in the file proves either reading: "parallel" '
                 'cannot be called a defect here, a refusal or confidence "likely" is what I would want',
          extra={'also_acceptable': ['parallel, likely', 'refused']})
