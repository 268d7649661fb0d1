# stack: tf221, tf_keras
import tensorflow as tf
import tf_keras as keras
from kit import data, finish

keras.utils.set_random_seed(135)
L = keras.layers
a = L.Input((6, 6, 1), name='image')
h = L.Rescaling(0.5, name='rescale')(a)
x = L.Conv2D(3, 3, padding='same', name='conv')(h)
x = L.BatchNormalization(name='bn')(x)
block = keras.Sequential([L.Conv2D(3, 1, name='k1', input_shape=(6, 6, 3)), L.BatchNormalization(name='kbn')], name='block')
x = L.add([x, block(x)])
x = block(x)
model = keras.Model(a, L.Dense(2, name='out')(L.GlobalAveragePooling2D(name='gap')(x)), name='resnetish')
model.get_layer('conv').trainable = False


@keras.saving.register_keras_serializable('mine')
class BatchChunk(L.Layer):
    def __init__(self, index, chunks, **kwargs):
        super().__init__(**kwargs)
        self.index, self.chunks = index, chunks

    def call(self, t):
        return tf.gather(t, tf.range(tf.shape(t)[0] * self.index // self.chunks, tf.shape(t)[0] * (self.index + 1) // self.chunks))

    def get_config(self):
        return {**super().get_config(), 'index': self.index, 'chunks': self.chunks}


@keras.saving.register_keras_serializable('mine')
class Join(L.Layer):
    def call(self, parts):
        return tf.concat(parts, axis=0)


par = keras.Model(a, Join(name='join')([model(BatchChunk(i, 3, name='chunk%d' % i)(a)) for i in range(3)]), name='three')
par.compile(loss='mse', optimizer=keras.optimizers.Nadam(0.01))
par.fit(data(1, 36, (6, 6, 1)), data(2, 36, (2,)), batch_size=12, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt', save_format='tf')
finish('tf_keras 2.21: slice layers with tf.gather, an own Join layer, a block called twice, a frozen Conv2D; save_weights(save_format="tf").',
       par, model, data(3, 8, (6, 6, 1)), towers=3, scope='whole')
