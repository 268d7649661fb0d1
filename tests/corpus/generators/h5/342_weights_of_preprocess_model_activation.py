# stack: k224 keras: keras
from common import *

m = Sequential([conv(4, input_shape=(8, 8, 3)), BatchNormalization(), Flatten(), Dense(3)], name='vgg')
x = Input((8, 8, 3))
y = Activation('softmax', name='predictions')(m(Lambda(lambda t: t / 127.5 - 1., name='preprocess')(x)))
lookalike(Model(x, y), towers=None, x=data((8, 8, 3)), files='weights', template='vgg', loss='categorical_crossentropy', fit_y=[onehot((12, 3))],
          how='everyday transfer learning: preprocessing Lambda, nested model, softmax; weights only + model.json',
          reason='no slices and no merge; layers around a nested model',
          doubts='by count alone (1 input, 1 Lambda, 1 model, 1 layer) the names fit a wrapper with one tower; the last is called "predictions"',
          extra={'expected_without_architecture': ['clean'], 'expected_with_architecture': 'clean'})
