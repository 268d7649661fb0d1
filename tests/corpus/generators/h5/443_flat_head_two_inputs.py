# stack: k224 keras: keras
from second import *

t = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(4, activation='relu', name='emb')], name='user_tower')
p = official(t, 2)
item = Input((3,), name='item')
f, l2, dot = Dense(4, name='item_fc'), Lambda(lambda v: K.l2_normalize(v, axis=-1), name='l2'), L.Dot(axes=1, name='score')
par = Model([p.inputs[0], item], dot([l2(p.outputs[0]), f(item)]), name='two_tower')
base = Model([t.inputs[0], item], dot([l2(t.outputs[0]), f(item)]), name='two_tower')
wrap(par, base, data((6,), (3,)), template=t, towers=2, scope='head', merge=['emb'], optimizer='adagrad',
     how='recommender: layers after the merge take a second input too, Lambda head; built on the parallel model\'s own tensors',
     reason='layers follow the merge: head',
     doubts='the second input enters after the merge only; by the letter of "slices read the model\'s own inputs" it is a head, one may call it embedded. '
            'base.h5 is Model([t.input, item], head(t.output, item)), where a Sequential template\'s layers become the model\'s own',
     extra={'scope_also_acceptable': ['embedded']})
