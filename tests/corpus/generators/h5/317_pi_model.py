# stack: tf210 keras: tf.keras
from common import *

m = mlp('student')
x = Input((6,))
n = tf.shape(x)[0]
labelled, unlabelled = x[:n // 2], x[n // 2:]
y = tf.concat([m(labelled), m(L.GaussianNoise(0.3)(unlabelled))], axis=0)
lookalike(Model(x, y), towers=2, x=data((6,)), loss='categorical_crossentropy', fit_y=[onehot((12, 3))], template='student', opaque_slices=False,
          how='semi-supervised: the second half of the batch is unlabelled and gets noise before the same model; batch concat',
          reason='the two branches differ: a layer that computes something (at training) is on one of them only',
          doubts='at prediction GaussianNoise is the identity and the model equals its template; as a user I would not want the noise dropped')
