# stack: tf23 keras: tf.keras
from common import *

x = Input((6,))
h = Dense(8, activation='relu', name='fc1')(x)
bn = BatchNormalization(name='ghost_bn')
n = tf.shape(h)[0]
g = tf.concat([bn(h[:n // 2]), bn(h[n // 2:])], axis=0)
y = Dense(3, activation='softmax', name='fc2')(g)
lookalike(Model(x, y), towers=2, x=data((6,)), loss='categorical_crossentropy', fit_y=[onehot((12, 3))], opaque_slices=False,
          how='ghost batch normalization: one BatchNormalization layer on each half of the batch, joined again, inside a plain model',
          reason='a tower is one call of the template model; here a single layer is called, on purpose: the halves are what ghost '
                 'batch norm is. Taking it out changes training',
          doubts='by structure (slices of the batch, one thing with weights called on each, batch concat) it is an embedded wrapper of one '
                 'layer, and at prediction the two are equal. Calling it parallel would be a false alarm on a deliberate design')
