# stack: tf23 keras: tf.keras
from second import *
import zoo

m = zoo.transfer()
wrap(official(m, 2), m, data((8, 8, 3)), towers=2, loss='categorical_crossentropy', merge=['top'], optimizer='sgd', comp={'metrics': ['accuracy']},
     how='TF 2.3 multi_gpu_model(2): frozen nested backbone, new trained head',
     reason='official wrapper: whole')
