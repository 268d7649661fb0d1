# stack: tf215, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
generator = tf.keras.Sequential([L.Dense(8, input_shape=(3,), name='g1'), L.BatchNormalization(name='gbn'), L.LeakyReLU(), L.Dense(4, name='g2')], name='generator')
discriminator = tf.keras.Sequential([L.Dense(8, activation='relu', input_shape=(4,), name='d1'), L.Dense(1, name='d2')], name='discriminator')


def replicate(model, k):
    x = tf.keras.Input(model.input_shape[1:])
    rows = L.Lambda(lambda t: tf.split(t, k), name=model.name + '_split')(x)
    return tf.keras.Model(x, L.Concatenate(axis=0, name=model.name + '_join')([model(r) for r in rows]), name='parallel_' + model.name)


pg, pd = replicate(generator, 2), replicate(discriminator, 2)
g_opt, d_opt = tf.keras.optimizers.Adam(1e-2, beta_1=0.5), tf.keras.optimizers.Adam(1e-2, beta_1=0.5)
ckpt = tf.train.Checkpoint(generator_optimizer=g_opt, discriminator_optimizer=d_opt, generator=pg, discriminator=pd)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
for step in range(3):
    z, real = data(step, 16, (3,), (4,))
    with tf.GradientTape() as gt, tf.GradientTape() as dt:
        fake, yes = pg(z, training=True), pd(real, training=True)
        no = pd(fake, training=True)
        gl, dl = bce(tf.ones_like(no), no), bce(tf.ones_like(yes), yes) + bce(tf.zeros_like(no), no)
    g_opt.apply_gradients(zip(gt.gradient(gl, pg.trainable_variables), pg.trainable_variables))
    d_opt.apply_gradients(zip(dt.gradient(dl, pd.trainable_variables), pd.trainable_variables))
ckpt.save('./parallel.ckpt')
pg.compile(optimizer=g_opt, loss='mse')
finish('TF 2.15, after the DCGAN tutorial: two parallel models and two optimizers in one Checkpoint(generator=, discriminator=, ...). The architecture given is the generator\'s.',
       pg, generator, data(30, 8, (3,)), towers=2, scope='whole', prefix='parallel.ckpt-1', ok=['fix refused with a reason: the checkpoint holds two models'],
       doubts='The file holds two parallel models with equal wrappers; number of layers, shapes and variable names (g1, d1) tell which one is meant.')
