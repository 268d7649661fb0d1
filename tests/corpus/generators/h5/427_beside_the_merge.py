# stack: k224 keras: keras
from second import *
import zoo


def nth(x, i, parts):
    n = K.shape(x)[0] // parts
    return x[i * n:] if i == parts - 1 else x[i * n:(i + 1) * n]


m = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3, activation='softmax')], name='clf')
x = Input((6,), name='rows')
aux = Dense(2, name='aux')
par = Model(x, [L.concatenate([m(Lambda(nth, arguments={'i': i, 'parts': 2})(x)) for i in range(2)], axis=0, name='merged'), aux(x)], name='both')
base = Model(x, [m(x), aux(x)], name='both')
wrap(par, base, data((6,)), template=m, towers=2, scope='embedded', merge=['merged'], optimizer='sgd',
     comp={'loss': {'merged': 'categorical_crossentropy', 'aux': 'mse'}},
     base_comp={'loss': {'clf': 'categorical_crossentropy', 'aux': 'mse'}},
     how='a second output computed from the whole batch beside the merge; losses by name',
     reason='slices, towers and merge inside a larger model: embedded; the loss key of the merge becomes the template\'s name, its output in the new model')
