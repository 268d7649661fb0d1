# stack: k209 keras: keras
from second import *


def first(t):
    return t[:, :3]


def second(t):
    return t[:, 3:]


a = Input(shape=(6,))
shared = Sequential([Dense(4, activation='relu', input_shape=(3,)), BatchNormalization()], name='shared')
m = Model(a, Dense(2)(concatenate([shared(Lambda(first)(a)), shared(Lambda(second)(a))])), name='halves')
wrap(official(m, 2), m, data((6,)), towers=2, merge=['dense_2'], files='weights+template', optimizer='adamax',
     how='Keras 2.0.9 multi_gpu_model(2) of a model that slices channels, calls one model on each and concatenates; save_weights and the JSON of the template',
     reason='whole; by names alone the template is a wrapper again, its JSON says that it is none')
