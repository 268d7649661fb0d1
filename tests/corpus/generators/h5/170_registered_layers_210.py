# stack: tf210 keras: tf.keras
from common import *


@keras.utils.register_keras_serializable('mycorp')
class TakePart(Layer):
    def __init__(self, part=1, total=1, **kwargs):
        super().__init__(**kwargs)
        self.part, self.total = part, total

    def call(self, x):
        n = tf.shape(x)[0]
        return x[n * (self.part - 1) // self.total:n * self.part // self.total]

    def get_config(self):
        return {**super().get_config(), 'part': self.part, 'total': self.total}


@keras.utils.register_keras_serializable('mycorp')
class JoinParts(Layer):
    def call(self, xs):
        return tf.concat(xs, axis=0)


m = nested('scorer')
x = Input((6,))
wrapper(Model(x, JoinParts()([m(TakePart(p, 3)(x)) for p in (1, 2, 3)])), m, towers=3, x=data((6,)), loss='categorical_crossentropy',
        merge=['join_parts'], opaque_slices=False,
        how='TF 2.10, registered classes mycorp>TakePart {part from 1, total} and mycorp>JoinParts without config',
        reason='parts 1..3 of 3, one template, one joining layer that is the output: whole',
        doubts='JoinParts has no axis in its config: a class that averages looks the same but for its output shape')
