# stack: k224 keras: tf.keras
from second import *

a = Input((6,), name='lambda_1')
h = Dense(5, activation='relu', name='replica_0/model_1')(a)
h = BatchNormalization(name='tower_0')(h)
h = Dense(4, activation='relu', name='concatenate_1')(h)
same(Model(a, Dense(3, activation='softmax', name='gpu:1'.replace(':', '_'))(h), name='multi_gpu_model'), data((6,)), kind='clean', loss='categorical_crossentropy',
     how='an ordinary model with a wrapper\'s names: lambda_1, tower_0, replica_0/model_1, concatenate_1, and itself multi_gpu_model', reason='no wrapper, whatever the names say')
