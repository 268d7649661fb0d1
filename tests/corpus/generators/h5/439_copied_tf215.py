# stack: tf215 keras: tf.keras
from second import *


def get_slice(data_, i, parts):
    n = tf.shape(data_)[0] // parts
    return data_[i * n:] if i == parts - 1 else data_[i * n:(i + 1) * n]


inner = Sequential([L.Rescaling(1 / 2., input_shape=(8, 8, 3)), L.RandomFlip('horizontal'), L.Conv2D(4, 3, activation='swish'), L.LayerNormalization()],
                   name='stem')
a = Input((8, 8, 3), name='img')
h = L.DepthwiseConv2D(3, padding='same')(inner(a))
se = L.Multiply()([h, Dense(4, activation='sigmoid')(L.GlobalAveragePooling2D(keepdims=True)(h))])
m = Model(a, Dense(3, activation='softmax', name='probs')(L.GlobalMaxPooling2D()(BatchNormalization()(se))), name='effnet')
x = Input((8, 8, 3))
par = Model(x, L.concatenate([m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)], axis=0, name='probs'), name='effnet_2gpu')
wrap(par, m, data((8, 8, 3)), towers=2, loss={'probs': 'categorical_crossentropy'}, merge=['probs'], optimizer='sgd', comp={'metrics': {'probs': ['accuracy']}},
     how='TF 2.15 .h5; template with preprocessing layers in a nested Sequential and squeeze-and-excite; loss and metrics by name',
     reason='two slices, one template, one merge: whole')
