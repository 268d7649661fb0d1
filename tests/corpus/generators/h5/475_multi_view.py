# stack: k224 keras: keras
from second import *

view = Sequential([L.Conv2D(3, (3, 3), activation='relu', input_shape=(6, 6, 1)), BatchNormalization(), Flatten(), Dense(4)], name='view_cnn')
x = Input((3, 6, 6, 1), name='views')
outs = [view(Lambda(lambda t, i, parts: t[:, i], arguments={'i': i, 'parts': 3}, output_shape=(6, 6, 1))(x)) for i in range(3)]
same(Model(x, Dense(3, activation='softmax')(L.maximum(outs))), data((3, 6, 6, 1)), loss='categorical_crossentropy',
     how='multi-view CNN: Lambda per view with arguments {i, parts} on axis 1, one shared CNN, Maximum',
     reason='views of one object, pooled; not rows')
