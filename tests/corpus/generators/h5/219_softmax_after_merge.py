# stack: k231 keras: tf.keras
from common import *


def piece(x, num, den):
    n = tf.shape(x)[0] // den
    return x[num * n:(num + 1) * n] if num < den - 1 else x[num * n:]


m = Sequential([Dense(7, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3)], name='logits')
x = Input((6,))
y = Activation('softmax', name='probs')
par = Model(x, y(L.concatenate([m(Lambda(piece, arguments=dict(num=i, den=2))(x)) for i in range(2)], axis=0)))
wrapper(par, Model(m.inputs, y(m.outputs[0]), name=par.name), template=m, scope='head', towers=2, x=data((6,)), loss='categorical_crossentropy',
        merge=['concatenate'], how='tf.keras 1.15, softmax moved behind the merge "so that it runs in float32 on the CPU"',
        reason='a layer follows the merge: head, though it has no weights',
        doubts='the name of the resulting model: base.h5 has the outer model\'s (its layers become the outer model\'s own)')
