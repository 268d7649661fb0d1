# stack: tf210 keras: tf.keras
# -*- coding: utf-8 -*-
from second import *

long_ = 'ein_sehr_langer_name_' * 12
a, b = Input((6,), name='Eingabe_größe'), Input((3,), name='正規化')
h = Dense(5, activation='relu', name=long_ + 'dicht')(L.concatenate([a, b]))
h = BatchNormalization(name=long_ + 'norm')(h)
m = Model([a, b], Dense(3, activation='softmax', name='Ausgabe')(h), name=long_ + 'modell')


def teil(x, nummer, größe):
    n = K.shape(x)[0] // größe
    return x[nummer * n:] if nummer == größe - 1 else x[nummer * n:(nummer + 1) * n]


par = Model([a, b], L.concatenate([m([Lambda(teil, arguments={'nummer': i, 'größe': 3})(t) for t in (a, b)]) for i in range(3)], axis=0, name='Ausgabe'),
            name=long_ + 'parallel')
wrap(par, m, data((6,), (3,)), towers=3, loss={'Ausgabe': 'categorical_crossentropy'}, merge=['Ausgabe'], optimizer='sgd',
     how='TF 2.10; Inputs and a slice argument named in German and Chinese letters (TensorFlow takes them nowhere else), layers and models of more '
         'than 250 characters; wrapper on the template\'s own Inputs',
     reason='six slices, one template, one merge: whole')
