# stack: tf27 keras: tf.keras
from common import *

m = mlp('net')
x = Input((6,))
wrapper(Model(x, tf.concat([m(x[0:6]), m(x[6:12])], axis=0)), m, towers=2, x=data((6,)), loss='categorical_crossentropy',
        merge=['tf.concat'], opaque_slices=False, how='TF 2.7, literal rows x[0:6] and x[6:12]; the batch of 12 is declared nowhere',
        reason='adjoining slices of the batch from row 0 on, one template, batch merge: whole',
        doubts='rows from 12 on are dropped, so for other batches the parallel model is not the template. "likely" is right, clean tolerable',
        extra={'also_acceptable': ['clean', 'refused']})
