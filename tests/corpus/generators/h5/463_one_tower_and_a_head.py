# stack: k224 keras: keras
from second import *

t = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(4, activation='relu')], name='base')
par = official(t, 2)
y = Dense(2, activation='softmax', name='new')(t.get_output_at(1))
same(Model(par.inputs, y, name='popped'), data((6,)), trained=False,
     how='popping went wrong: the last layer (the merge) dropped and a new head put on the first tower alone; slice {i: 0, parts: 2}, template, Dense',
     reason='one tower of two, no merge: a model that predicts for half of its batch. Nothing tells what the user wanted',
     doubts='clean with a warning is best; parallel + refused does no harm either; taking the template out is a guess',
     extra={'also_acceptable': ['refused', 'parallel']})
