# stack: tf23 keras: tf.keras
from second import *
import zoo

m = zoo.reused()
wrap(official(m, [0, 1]), m, data((6,), (6,)), towers=2, loss='categorical_crossentropy', merge=['dense'], optimizer='adadelta',
     how='TF 2.3 multi_gpu_model([0, 1]); one Dense called four times, one BatchNormalization three times inside the template; Adadelta',
     reason='official wrapper: whole; layers of the template with several nodes keep them all')
