# stack: k224 keras: tf.keras
from second import *

x = Input((6,))
h = x
for layer in range(2):
    parts = []
    for g in range(4):
        with tf.device('/gpu:%d' % g):
            parts.append(Dense(3, activation='relu', name='fc%d_gpu%d' % (layer, g))(h))
    h = L.concatenate(parts, axis=1, name='gather%d' % layer)
same(Model(x, Dense(3, activation='softmax')(h), name='parallel_model'), data((6,)), loss='categorical_crossentropy',
     how='model parallelism: every wide Dense in four shards, one per GPU, gathered on the feature axis; the model is called parallel_model',
     reason='whole batch everywhere, weights split')
