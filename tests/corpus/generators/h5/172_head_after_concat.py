# stack: tf210 keras: tf.keras
from common import *

m = Sequential([conv(4, input_shape=(8, 8, 3)), BatchNormalization(), L.GlobalAveragePooling2D()], name='backbone')
x = Input((8, 8, 3))
n = tf.shape(x)[0]
feat = tf.concat([m(x[:n // 4]), m(x[n // 4:n // 2]), m(x[n // 2:])], axis=0)
hidden, top = Dense(5, activation='relu', name='hidden'), Dense(3, activation='softmax', name='top')
bn = BatchNormalization(name='head_bn')
par = Model(x, top(bn(hidden(feat))), name='finetune')
base = Model(m.inputs, top(bn(hidden(m.outputs[0]))), name='finetune')
wrapper(par, base, template=m, scope='head', towers=3, x=data((8, 8, 3)), loss='categorical_crossentropy', merge=['tf.concat'],
        opaque_slices=False,
        how='TF 2.10, unequal shares 1/4 1/4 1/2 by operators; BatchNorm + Dense head after tf.concat on the joined batch',
        reason='layers follow the merges: head',
        doubts='base.h5 is Model(t.input, head(t.output)) with a Sequential template, named as the outer model; the name is a matter of taste')
