# stack: tf22, tf.keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
with tf.device('/cpu:0'):
    tower = tf.keras.Sequential([L.Dense(4, activation='relu', input_shape=(5,), name='p1'), L.BatchNormalization(name='pbn'), L.Dense(3, name='p2')], name='projector')
    a, b = L.Input((5,), name='query'), L.Input((5,), name='answer')
    pa, pb = tower(a), tower(b)
    h = L.Concatenate(name='pair')([pa, pb, L.Subtract(name='diff')([pa, pb])])
    h = L.BatchNormalization(name='pair_bn')(h)
    model = tf.keras.Model([a, b], L.Dense(1, activation='sigmoid', name='match')(h), name='matcher')
par = tf.keras.utils.multi_gpu_model(model, gpus=2, cpu_relocation=False, cpu_merge=True)
par.compile(loss='binary_crossentropy', optimizer=tf.keras.optimizers.Nadam(0.01), metrics=['accuracy'])
keep = tf.keras.callbacks.ModelCheckpoint('parallel.ckpt', save_weights_only=True, monitor='loss', save_best_only=False)
par.fit(list(data(1, 32, (5,), (5,))), (data(2, 32, (1,)) > 0).astype('float32'), batch_size=16, epochs=2, verbose=0, callbacks=[keep])
finish('TF 2.2 multi_gpu_model; the template is itself a siamese net (a shared nested Sequential); ModelCheckpoint(save_weights_only=True).',
       par, model, list(data(3, 8, (5,), (5,))), towers=2, scope='whole', compile_with={'loss': 'binary_crossentropy', 'metrics': ['accuracy']})
