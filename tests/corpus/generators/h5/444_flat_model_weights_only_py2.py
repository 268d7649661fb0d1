# stack: py27k224 keras: tf.keras
from second import *

m = Sequential([L.Conv1D(4, 3, activation='relu', input_shape=(8, 2), name='c1'), BatchNormalization(name='n1'), L.Conv1D(4, 3, name='c2', use_bias=False),
                BatchNormalization(name='n2', center=False), L.GlobalMaxPooling1D(name='g'), Dense(2, activation='softmax', name='y')], name='wave')
wrap(official(m, 8), m, data((8, 2), n=16), towers=8, loss='categorical_crossentropy', merge=['y'], files='weights+parallel',
     how='Python 2, tf.keras 1.13 multi_gpu_model(8); weights and the parallel JSON', reason='official wrapper, eight towers: whole')
