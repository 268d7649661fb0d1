# stack: tf210 keras: tf.keras
from common import *

GPUS = 1  # the other card is at the repair shop
m = cnn('net')
x = Input((8, 8, 3))
n = tf.shape(x)[0]
parts = [x[n * i // GPUS:n * (i + 1) // GPUS] for i in range(GPUS)]
wrapper(Model(x, tf.concat([m(p) for p in parts], 0)), m, towers=1, x=data((8, 8, 3)), loss='categorical_crossentropy',
        merge=['tf.identity'], opaque_slices=False, how='TF 2.10, the loop over devices run with one device: x[n*0//1:n*1//1] and tf.concat of one',
        reason='with one tower the graph is still a wrapper: whole',
        doubts='TensorFlow turns the concat of one tensor into tf.identity, so that the file has a slice 0..n*1//1, the template and an '
               'identity. Clean (a model nested after a slice that cuts nothing) is tolerable, the template is what the user wants',
        extra={'also_acceptable': ['clean']})
