# stack: tf22 keras: tf.keras
from common import *

m = siamese('twins')
u, v = Input((6,)), Input((6,))
us, vs = tf.split(u, 3), tf.split(v, 3)
wrapper(Model([u, v], L.Concatenate(axis=0)([m([i, j]) for i, j in zip(us, vs)])), m, towers=3, x=data((6,), (6,)),
        loss='binary_crossentropy', merge=['concatenate'], opaque_slices=False,
        how='TF 2.2, tf.split(tensor, 3) of both inputs as TensorFlowOpLayer',
        reason='part k of both splits goes to tower k; whole')
