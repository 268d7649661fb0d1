# stack: k231 keras: keras
from second import *
import zoo

m = zoo.multitask('shared_trunk')
par = official(m, 3, cpu_relocation=True)
clone = par.get_layer('shared_trunk')
assert clone is not m
wrap(par, clone, data((7,)), towers=3, merge=['click', 'category', 'price'], optimizer='adagrad', comp={'loss': ['mse', 'categorical_crossentropy', 'mae'],
     'loss_weights': [1., .5, .25]},
     how='Keras 2.3.1 multi_gpu_model(3, cpu_relocation=True): the template is a clone, the user\'s own model stays untrained; losses and weights as lists',
     reason='official wrapper: whole; the clone is what was trained')
