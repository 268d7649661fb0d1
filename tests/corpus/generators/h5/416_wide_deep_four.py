# stack: k231 keras: tf.keras
from second import *
import zoo

m = zoo.widedeep()
x = [data((9,))[0], np.random.RandomState(1).randint(0, 10, (12, 3)).astype('float32')]
wrap(official(m, 4, cpu_merge=False), m, x, towers=4, merge=['score'], optimizer='sgd', loss='binary_crossentropy',
     comp={'metrics': ['accuracy', 'mse']},
     how='TF 1.15 multi_gpu_model(4, cpu_merge=False), wide & deep',
     reason='official wrapper, eight slices: whole')
