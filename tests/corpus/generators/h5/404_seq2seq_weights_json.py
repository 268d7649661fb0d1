# stack: k231 keras: tf.keras
from second import *
import zoo

m = zoo.seq2seq()
rng = np.random.RandomState(1)
x = [rng.randint(0, 9, (12, 5)).astype('float32'), rng.randint(0, 9, (12, 4)).astype('float32')]
wrap(official(m, 2), m, x, towers=2, optimizer='rmsprop', merge=['word'], loss='categorical_crossentropy', files='weights+parallel',
     y=np.eye(9, dtype='float32')[rng.randint(0, 9, (12, 4))],
     how='TF 1.15 multi_gpu_model(2) around an encoder-decoder with initial_state; save_weights and the parallel model\'s JSON',
     reason='two inputs, four slices, one merge: whole')
