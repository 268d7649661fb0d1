# stack: k122, keras
import tensorflow as tf
import keras
from keras import backend as K
from keras.layers import AveragePooling2D, BatchNormalization, Convolution2D, Dense, Dropout, Flatten, Input, Lambda, Merge
from keras.models import Model
from kit import data, finish, soft_session

session = soft_session(K)
BATCH = 8

img = Input((6, 6, 2), name='img')
h = Convolution2D(3, 3, 3, activation='relu', dim_ordering='tf', name='c1')(img)
h = BatchNormalization(name='bn1')(h)
h = AveragePooling2D((2, 2), dim_ordering='tf')(h)
trunk = Model(img, Flatten()(h), name='trunk')

big = Input(batch_shape=(BATCH, 6, 6, 2), name='all_images')
parts = []
for gpu, (a, b) in enumerate([(0, 3), (3, 6), (6, BATCH)]):
    with tf.device('/gpu:%d' % gpu):
        parts.append(trunk(Lambda(lambda v, a=a, b=b: v[a:b], output_shape=lambda s: s, name='rows_%d_to_%d' % (a, b))(big)))
features = Merge(mode='concat', concat_axis=0, name='gather')(parts)
top = [Dropout(0.1, name='drop'), Dense(5, activation='relu', name='fc'), Dense(2, name='score')]
h = features
for layer in top:
    h = layer(h)
par = Model(big, h)
par.compile(loss='mse', optimizer=keras.optimizers.SGD(lr=0.05, momentum=0.9))
x, t = data(1, 32, (6, 6, 2), (2,))
par.fit(x, t, batch_size=BATCH, nb_epoch=2, verbose=0)
tf.train.Saver(var_list=par.weights).save(session, './parallel.ckpt')

h = trunk.outputs[0]
for layer in top:
    h = layer(h)
base = Model(trunk.inputs, h)
finish('Hand-written: three towers of 3, 3 and 2 rows of a fixed batch of 8 (lambda defaults), Merge, then Dropout and two Dense on the merged rows. '
       'Saver(var_list=par.weights), with .meta: no optimizer slots.',
       par, base, data(2, 8, (6, 6, 2)), template=trunk, towers=3, scope='head', without='parallel', optimizer=False,
       ok=['without_architecture: clean with a warning'], doubts='')
