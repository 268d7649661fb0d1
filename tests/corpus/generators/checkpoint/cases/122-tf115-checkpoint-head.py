# stack: k231, tf.keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from kit import data, finish, soft_session

K, L = tf.keras.backend, tf.keras.layers
session = soft_session(K)
with tf.device('/cpu:0'):
    image = L.Input((6, 6, 3), name='image')
    h = L.Conv2D(3, 3, name='stem')(image)
    h = L.BatchNormalization(name='stem_bn')(h)
    h = L.DepthwiseConv2D(3, name='dw')(h)
    trunk = tf.keras.Model(image, L.GlobalAveragePooling2D(name='gap')(h), name='backbone')
multi = tf.keras.utils.multi_gpu_model(trunk, gpus=2)
head = [L.Dense(4, activation='relu', name='head_fc'), L.BatchNormalization(name='head_bn'), L.Dense(2, name='head_out')]
h = multi.output
for layer in head:
    h = layer(h)
par = tf.keras.Model(multi.input, h)
par.compile(loss='mse', optimizer=tf.keras.optimizers.SGD(0.01, momentum=0.9))
par.fit(data(1, 32, (6, 6, 3)), data(2, 32, (2,)), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).save('./parallel.ckpt', session=K.get_session())
h = trunk.outputs[0]
for layer in head:
    h = layer(h)
base = tf.keras.Model(trunk.inputs, h)
finish('TF 1.15: multi_gpu_model of a backbone, a head put on its merged output; tf.train.Checkpoint(model=, optimizer=).save in graph mode.',
       par, base, data(3, 8, (6, 6, 3)), template=trunk, towers=2, scope='head', prefix='parallel.ckpt-1')
