# stack: tf27 keras: tf.keras
from common import *

keras.mixed_precision.set_global_policy('mixed_float16')


class Rows(Layer):
    def __init__(self, gpu=0, gpus=1, **kw):
        super().__init__(**kw)
        self.gpu, self.gpus = gpu, gpus

    def call(self, x):
        n = tf.shape(x)[0]
        return x[n * self.gpu // self.gpus:n * (self.gpu + 1) // self.gpus]

    def get_config(self):
        return dict(super().get_config(), gpu=self.gpu, gpus=self.gpus)


a = Input((6,))
m = Model(a, Dense(3, activation='softmax', dtype='float32')(BatchNormalization()(Dense(8, activation='relu')(a))), name='amp')
x = Input((6,))
wrapper(Model(x, L.Concatenate(axis=0)([m(Rows(g, 2)(x)) for g in range(2)])), m, towers=2, x=data((6,)), loss='categorical_crossentropy',
        merge=['concatenate'], opaque_slices=False, atol=5e-3,
        how='TF 2.7 under mixed_float16: the merge casts to float16, the optimizer is a LossScaleOptimizer',
        reason='a policy is a setting, the graph is a wrapper as ever: whole')
