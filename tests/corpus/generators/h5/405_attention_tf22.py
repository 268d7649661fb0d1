# stack: tf22 keras: tf.keras
from second import *
import zoo

m = zoo.attention()
x = [np.random.RandomState(1).randint(0, 11, (12, 6)).astype('float32')]
wrap(official(m, 2), m, x, towers=2, optimizer='sgd', loss='categorical_crossentropy', merge=['dense'],
     how='TF 2.2 multi_gpu_model(2); template with a custom attention layer (initializer not in its config), Bidirectional GRU',
     reason='official wrapper: whole')
