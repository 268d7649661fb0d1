# stack: tf27, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers


class SliceBatch(L.Layer):
    def __init__(self, begin, end, **kwargs):
        super().__init__(**kwargs)
        self.begin, self.end = begin, end

    def call(self, x):
        n = tf.cast(tf.shape(x)[0], tf.float32)
        return x[tf.cast(n * self.begin, tf.int32):tf.cast(n * self.end, tf.int32)]

    def get_config(self):
        return {**super().get_config(), 'begin': self.begin, 'end': self.end}


def on_gpus(model, bounds, tag):
    x = tf.keras.Input(model.input_shape[1:], name='in_' + tag)
    outs = [model(SliceBatch(b, e, name='%s_slice_%d' % (tag, i))(x)) for i, (b, e) in enumerate(zip(bounds, bounds[1:]))]
    return tf.keras.Model(x, L.Concatenate(axis=0, name=tag + '_concat')(outs), name=tag)


core = tf.keras.Sequential([tf.keras.Input((4, 2)), L.Conv1D(3, 2, name='cv'), L.BatchNormalization(name='bn'), L.Flatten(), L.Dense(2, name='dn')], name='core')
par = on_gpus(on_gpus(core, [0., .5, 1.], 'inner'), [0., .25, .5, 1.], 'outer')
par.compile(loss='mse', optimizer=tf.keras.optimizers.Ftrl(0.05))
par.fit(data(1, 32, (4, 2)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(par).save('./parallel.ckpt')
finish('TF 2.7: wrapped twice with own slice layer classes by ratio (3 towers of 2 towers), extra outer Inputs; tf.train.Checkpoint(parallel).save with the model as root.',
       par, core, data(3, 8, (4, 2)), towers=3, scope='whole', prefix='parallel.ckpt-1', depth=2, inner_towers=2)
