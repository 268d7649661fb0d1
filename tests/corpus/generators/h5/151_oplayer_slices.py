# stack: tf22 keras: tf.keras
from common import *

m = mlp('head')
x = Input((6,))
n = tf.shape(x)[0]
a, b = x[:n // 2], x[n // 2:]  # TensorFlowOpLayers, made by Keras itself
wrapper(Model(x, tf.concat([m(a), m(b)], axis=0)), m, towers=2, x=data((6,)), loss='categorical_crossentropy', merge=['tf_op_layer_concat'],
        opaque_slices=False, how='TF 2.2, plain slicing x[:n // 2], x[n // 2:] and tf.concat: TensorFlowOpLayers with node_def',
        reason='bounds 0..n//2..n, one template, concat on axis 0: whole; everything is readable in the node_defs')
