# stack: k224 keras: keras
from second import *

G = Sequential([Dense(6, input_shape=(4,)), BatchNormalization(momentum=.8), Activation('relu'), Dense(5, activation='tanh')], name='generator')
D = Sequential([Dense(6, input_shape=(5,)), L.LeakyReLU(.2), BatchNormalization(), Dense(1, activation='sigmoid')], name='discriminator')
shake(G), shake(D)
Gp, Dp = official(G, 2), official(D, 2)
Dp.compile(optimizer=opt('rmsprop'), loss='binary_crossentropy')
Dp.train_on_batch(data((5,))[0], np.ones((12, 1)))
D.trainable = False
Dp.trainable = False
z = Input((4,), name='noise')
par = Model(z, Dp(Gp(z)), name='combined')
base = Model(z, D(G(z)), name='combined')
wrap(par, base, data((4,)), template=G, towers=2, wrappers=2, scope='embedded', optimizer='rmsprop', loss='binary_crossentropy',
     y=np.ones((12, 1)), shake_it=False,
     how='the combined model of a GAN, saved after training: parallel generator, then parallel discriminator with trainable=False on it and its template',
     reason='two wrappers in a larger model: embedded, each template nested in its wrapper\'s place',
     doubts='the order of the two in the report is open. The discriminator was frozen as a whole, which no config says; both groups stay trainable weights first',
     extra={'templates': ['generator', 'discriminator']})
