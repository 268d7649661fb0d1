# stack: k224 keras: keras
from second import *

m = Sequential([L.Conv2D(3, (3, 3), activation='relu', input_shape=(6, 6, 2)), BatchNormalization(), L.GlobalAveragePooling2D(), Dense(3)], name='sequential_1')
x = Input((6, 6, 4))
y = L.concatenate([m(Lambda(lambda t, i: t[..., 2 * i:2 * i + 2], arguments={'i': i}, output_shape=(6, 6, 2))(x)) for i in range(2)], axis=-1)
same(Model(x, y), data((6, 6, 4)), files='weights', optimizer='sgd',
     how='rgb and depth halves of the channels through one model, feature concat; weights and JSON',
     reason='channels are sliced: clean',
     doubts='by names alone (input_1, lambda_1, lambda_2, sequential_1, concatenate_1) it is what a two-tower wrapper leaves; with model.json it must be clean',
     extra={'expected_without_architecture': ['clean', 'parallel'], 'expected_with_architecture': 'clean'})
