# stack: k224, keras
import fake_gpus
fake_gpus.install(2)
import tensorflow as tf
import keras
from keras import backend as K
from keras.layers import BatchNormalization, Conv2D, Dense, GlobalMaxPooling2D, Input, concatenate
from keras.models import Model, Sequential
from keras.utils import multi_gpu_model
from kit import data, finish, soft_session

session = soft_session(K)
with tf.device('/cpu:0'):
    block_in = Input((None, None, 3))
    b = Conv2D(3, 3, padding='same', use_bias=False, name='b_conv')(block_in)
    b = BatchNormalization(name='b_bn')(b)
    block = Model(block_in, b, name='block')
    image = Input((8, 8, 3), name='image')
    h = block(image)
    h = block(h)
    h = BatchNormalization(name='after')(h)
    side = Sequential([Conv2D(2, 1, name='s_conv', input_shape=(8, 8, 3)), BatchNormalization(name='s_bn')], name='side')(h)
    h = concatenate([GlobalMaxPooling2D()(h), GlobalMaxPooling2D()(side)])
    model = Model(image, Dense(3, activation='softmax', name='classes')(h), name='net')
par = multi_gpu_model(model, gpus=2)
par.compile(loss='mse', optimizer=keras.optimizers.Adam(lr=0.01, amsgrad=True))
for step in range(1, 4):
    par.train_on_batch(data(step, 16, (8, 8, 3)), data(10 + step, 16, (3,)))
tf.train.Saver(max_to_keep=5).save(session, './parallel.ckpt', global_step=30)
finish('multi_gpu_model of Keras 2.2.4; the template nests a block with BatchNorm twice called and a Sequential; Adam with amsgrad; Saver with global_step and .meta.',
       par, model, data(3, 8, (8, 8, 3)), towers=2, scope='whole', without='parallel', prefix='parallel.ckpt-30')
