# stack: tf23, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

tf.config.experimental.set_virtual_device_configuration(tf.config.list_physical_devices('CPU')[0],
                                                        [tf.config.experimental.VirtualDeviceConfiguration()] * 2)
seed2()
L = tf.keras.layers
with tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1']).scope():
    model = tf.keras.Sequential([L.Conv2D(2, 3, input_shape=(6, 6, 1), name='c'), L.BatchNormalization(name='b'), L.Flatten(), L.Dense(2, name='d')], name='mirrored')
    model.compile(loss='mse', optimizer=tf.keras.optimizers.SGD(0.01, momentum=0.9))
model.fit(data(1, 32, (6, 6, 1)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
model.save_weights('./parallel.ckpt')
finish('Trained under MirroredStrategy on two devices: no wrapper; save_weights.', model, model, data(3, 8, (6, 6, 1)), expected='clean', without='clean',
       without_ok=['clean with a warning'])
