# stack: k224 keras: keras
from second import *


class Flip(Layer):
    def call(self, x):
        return -x + K.stop_gradient(2 * x)


feat = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization()], name='features')
x = Input((6,))
f = feat(x)
src = Lambda(lambda t: K.switch(K.learning_phase(), K.concatenate([t[:K.shape(t)[0] // 2]] * 2, axis=0), t), output_shape=(5,), name='source_half')(f)
same(Model(x, [Dense(3, activation='softmax', name='cls')(src), Dense(2, activation='softmax', name='domain')(Flip(name='reversal')(f))]), data((6,)),
     loss='categorical_crossentropy',
     how='domain-adversarial network: in training the class head sees the source half of the batch twice, the domain head all of it behind a gradient reversal',
     reason='the Lambda cuts features after the only call of the model')
