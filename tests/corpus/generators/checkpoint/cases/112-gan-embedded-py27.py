# stack: py27k224, keras
import tensorflow as tf
from keras import backend as K
from keras.layers import BatchNormalization, Concatenate, Conv2D, Dense, Flatten, Input, Lambda, LeakyReLU, Reshape, UpSampling2D
from keras.models import Model, Sequential
from keras.optimizers import Adam
from kit import data, finish, soft_session

session = soft_session(K)
G = Sequential([Dense(8, input_dim=5), BatchNormalization(momentum=0.8), LeakyReLU(0.2), Reshape((2, 2, 2)), UpSampling2D(), Conv2D(1, 3, padding='same', activation='tanh')],
               name='generator')
D = Sequential([Conv2D(2, 3, strides=2, input_shape=(4, 4, 1)), LeakyReLU(0.2), BatchNormalization(), Flatten(), Dense(1, activation='sigmoid')], name='discriminator')


def split_over(model, gpus):
    shape = model.input_shape[1:]
    x = Input(shape, name='noise')

    def cutter(i):
        def cut(t):
            n = tf.shape(t)[0]
            share = n // gpus
            begin = i * share
            size = share if i < gpus - 1 else n - begin
            return tf.slice(t, tf.stack([begin] + [0] * len(shape)), tf.stack([size] + list(shape)))
        return cut
    outs = []
    for i in range(gpus):
        with tf.device('/gpu:%d' % i):
            outs.append(model(Lambda(cutter(i), output_shape=shape)(x)))
    return x, Concatenate(axis=0)(outs)


z, fake = split_over(G, 2)
D.trainable = False
gan = Model(z, D(fake), name='gan')
gan.compile(loss='binary_crossentropy', optimizer=Adam(0.0002, 0.5))
for step in range(3):
    gan.train_on_batch(data(step, 16, (5,)), (data(9 + step, 16, (1,)) > 0).astype('float32'))
tf.train.Saver().save(session, './parallel.ckpt', write_meta_graph=False)
z1 = Input((5,), name='noise')
base = Model(z1, D(G(z1)), name='gan')
finish('A GAN whose generator alone runs as towers (closures, tf.slice), inlined in the combined model before the frozen discriminator; Saver without .meta, Python 2.7.',
       gan, base, data(30, 8, (5,)), template=G, towers=2, scope='embedded', compile_with={'loss': 'binary_crossentropy'})
