# stack: tf23 keras: tf.keras
from second import *

G = Sequential([Dense(6, input_shape=(4,)), BatchNormalization(), Dense(5, activation='tanh')], name='generator')
D = Sequential([Dense(6, input_shape=(5,)), BatchNormalization(), Dense(1, activation='sigmoid')], name='discriminator')
D.trainable = False
same(Sequential([G, D], name='gan'), data((4,)), kind='clean', loss='binary_crossentropy', 
     how='Sequential([generator, frozen discriminator])', reason='no wrapper')
