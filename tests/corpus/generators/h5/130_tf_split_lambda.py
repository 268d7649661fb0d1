# stack: k224 keras: tf.keras
from common import *

m = cnn('tiny')
x = Input((8, 8, 3))
pieces = Lambda(lambda t: tf.split(t, 2, axis=0), name='split')(x)
wrapper(Model(x, L.concatenate([m(p) for p in pieces], axis=0)), m, towers=2, x=data((8, 8, 3)),
        loss='categorical_crossentropy', merge=['concatenate'],
        how='tf.keras 1.13, one Lambda with tf.split(t, 2, axis=0) that returns a list',
        reason='one split layer with two outputs, tensor index = part, one template, batch merge: whole',
        doubts='axis=0 of the split is a constant in stored code; the template\'s unchanged input shape and the merge axis speak for the batch')
