# stack: tf23, tf.keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
with tf.device('/cpu:0'):
    face = L.Input((6, 6, 1), name='face')
    h = L.Conv2D(3, 3, strides=2, padding='same', name='enc_conv')(face)
    h = L.BatchNormalization(name='enc_bn')(h)
    encoder = tf.keras.Model(face, L.Dense(4, name='code')(L.Flatten(name='enc_flat')(h)), name='encoder')
    decoders = [tf.keras.Sequential([L.Dense(9, input_shape=(4,), name='dec_%s_fc' % s), L.Reshape((3, 3, 1)), L.UpSampling2D(2),
                                     L.Conv2D(1, 3, padding='same', name='dec_%s_out' % s)], name='decoder_' + s) for s in 'ab']
multi = tf.keras.utils.multi_gpu_model(encoder, gpus=2)
x = L.Input((6, 6, 1), name='warped')
code = multi(x)
par = tf.keras.Model(x, [d(code) for d in decoders], name='swap')
par.compile(loss='mae', optimizer=tf.keras.optimizers.Adagrad(0.05))
par.fit(data(1, 32, (6, 6, 1)), list(data(2, 32, (6, 6, 1), (6, 6, 1))), batch_size=16, epochs=2, verbose=0)
tf.train.Checkpoint(model=par, optimizer=par.optimizer).write('./parallel.ckpt')
x = L.Input((6, 6, 1), name='warped')
code = encoder(x)
base = tf.keras.Model(x, [d(code) for d in decoders], name='swap')
finish('TF 2.3: a face-swap autoencoder with two decoders whose encoder is a multi_gpu_model, nested as a model; Checkpoint(model=, optimizer=).write.',
       par, base, data(3, 8, (6, 6, 1)), template=encoder, towers=2, scope='embedded', compile_with={'loss': 'mae'})
