# stack: tf215, tf.keras
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
critic = tf.keras.Sequential([L.Dense(6, activation='relu', input_shape=(4,), name='k1'), L.BatchNormalization(name='kb'), L.Dense(1, name='k2')], name='critic')
real, fake = L.Input((4,), name='real'), L.Input((4,), name='fake')
model = tf.keras.Model([real, fake], L.Concatenate(axis=0, name='scores')([critic(real), critic(fake)]), name='critic_on_both')
opt = tf.keras.optimizers.Adam(0.01)
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(list(data(step, 16, (4,), (4,))), training=True) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
tf.train.Checkpoint(model=model, optimizer=opt).save('./parallel.ckpt')
model.compile(optimizer=opt, loss='mse')
finish('A critic on the real and on the fake batch, scores concatenated along the batch: two inputs, no slices; Checkpoint.save.',
       model, model, list(data(30, 8, (4,), (4,))), expected='clean', without='clean with a warning', without_ok=['clean'], prefix='parallel.ckpt-1')
