# stack: k231 keras: keras
from common import *


def get_slice(data_, i, parts):
    size = K.shape(data_)[0] // parts
    return data_[i * size:] if i == parts - 1 else data_[i * size:(i + 1) * size]


a = Input((6,))
trunk = Dense(5, activation='relu', name='trunk')
clean = Model(a, Dense(3, activation='softmax', name='top_a')(trunk(a)), name='task_a')
b = Input((6,))
other = Model(b, Dense(3, activation='softmax', name='top_b')(trunk(b)), name='task_b')
x = Input((6,))
halves = [Lambda(get_slice, arguments={'i': i, 'parts': 2})(x) for i in range(2)]
lookalike(Model(x, L.concatenate([clean(halves[0]), other(halves[1])], axis=0)), towers=2, x=data((6,)),
          loss='categorical_crossentropy', fit_y=[onehot((12, 3))],
          how='multi-task: first half of the batch to task A, second half to task B, a shared trunk, batch concat',
          reason='two different models: there is no one template')
