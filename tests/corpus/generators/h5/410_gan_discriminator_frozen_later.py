# stack: k224 keras: keras
from second import *

D = Sequential([Dense(6, input_shape=(5,)), L.LeakyReLU(.2), BatchNormalization(), Dense(4), BatchNormalization(), Dense(1, activation='sigmoid')],
               name='discriminator')
Dp = official(D, 2)
shake(D)
Dp.compile(optimizer=opt('adam'), loss='binary_crossentropy')
for _ in range(2):
    Dp.train_on_batch(data((5,))[0], np.ones((12, 1)))
D.compile(optimizer=Dp.optimizer, loss='binary_crossentropy')
D.trainable = False
wrap(Dp, D, data((5,)), towers=2, merge=['dense_3'], compiled=True, steps=0, shake_it=False,
     how='the discriminator of the same kind of GAN, saved at the end when trainable=False is set on the template (the wrapper itself was left alone)',
     reason='official wrapper: whole',
     doubts='the optimizer\'s state covers all trainable weights although the container is frozen; the group is trainable weights first all the same')
