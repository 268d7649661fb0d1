# stack: tf215 keras: tf.keras
from common import *

m = mlp('net')
x = Input((6,))
wrapper(Model(x, L.Concatenate(axis=0)([m(p) for p in tf.split(x, 2)])), m, towers=2, x=data((6,)), files='weights.h5',
        loss='categorical_crossentropy', merge=['concatenate'], opaque_slices=False,
        how='TF 2.15, tf.split as an op; .weights.h5 and model.json', reason='whole, with the architecture at hand',
        doubts='without model.json the file may not tell: clean with a warning is then the contract')
