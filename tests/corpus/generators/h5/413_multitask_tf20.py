# stack: tf20 keras: tf.keras
from second import *
import zoo

m = zoo.multitask()
wrap(official(m, 2), m, data((7,)), towers=2, merge=['click', 'category', 'price'], optimizer='sgd',
     comp={'loss': {'click': 'binary_crossentropy', 'category': 'categorical_crossentropy', 'price': 'mse'},
           'loss_weights': {'click': 1., 'category': .5, 'price': .1}, 'metrics': {'category': ['categorical_accuracy']}},
     how='TF 2.0 multi_gpu_model(2), three tasks over one trunk; loss, loss_weights and metrics by output name',
     reason='three merges in the order of the template\'s outputs: whole')
