# stack: tf20, tf.keras
import fake_gpus
fake_gpus.install(3)
import tensorflow as tf
from kit import data, finish, seed2

seed2()
L = tf.keras.layers
with tf.device('/cpu:0'):
    a = L.Input((7, 7, 1), name='scan')
    h = L.Conv2D(2, 3, activation='relu', name='c1')(a)
    h = L.BatchNormalization(name='b1')(h)
    mask = L.Conv2D(1, 1, activation='sigmoid', name='mask')(h)
    grade = L.Dense(3, activation='softmax', name='grade')(L.Flatten(name='f')(L.BatchNormalization(name='b2')(h)))
    model = tf.keras.Model(a, [mask, grade], name='segcls')
par = tf.keras.utils.multi_gpu_model(model, gpus=3)
par.compile(loss={'mask': 'mse', 'grade': 'mse'}, optimizer=tf.keras.optimizers.RMSprop(0.01, momentum=0.9, centered=True))
par.fit(data(1, 36, (7, 7, 1)), list(data(2, 36, (5, 5, 1), (3,))), batch_size=12, epochs=2, verbose=0)
par.save_weights('./parallel.ckpt')
finish('TF 2.0 multi_gpu_model, three towers, two outputs, save_weights("parallel.ckpt").', par, model, data(3, 8, (7, 7, 1)), towers=3, scope='whole',
       compile_with={'loss': {'mask': 'mse', 'grade': 'mse'}})
