# stack: py27k224 keras: keras
from second import *
import zoo

rng = np.random.RandomState(1)
same(zoo.textcnn(), [rng.randint(0, w, (12, 8)).astype('float32') for w in (12, 15, 7)], kind='clean', files='weights', loss='categorical_crossentropy',
     how='text CNN, weights and JSON, Python 2', reason='no wrapper')
