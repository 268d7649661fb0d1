# stack: tf210 keras: tf.keras
from common import *

enc = Sequential([conv(4, input_shape=(8, 8, 3)), BatchNormalization(), L.GlobalAveragePooling2D(), Dense(4)], name='encoder')
x = Input((8, 8, 3))
views = [Sequential([L.RandomFlip(), L.RandomTranslation(.2, .2)], name='view_%d' % i)(x) for i in range(2)]
lookalike(Model(x, tf.concat([enc(v) for v in views], axis=0)), towers=2, x=data((8, 8, 3)), template='encoder', opaque_slices=False,
          how='SimCLR: two random views of the whole batch through one encoder, batch concat',
          reason='no slices; every tower sees the whole batch')
