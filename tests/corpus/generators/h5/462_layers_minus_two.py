# stack: k231 keras: keras
from second import *
import zoo

par = official(mlp('seven'), 2)
shake(par)
par.compile(optimizer=opt('nesterov'), loss='categorical_crossentropy')
par.train_on_batch(data((6,))[0], onehot((12, 3)))
single = par.layers[-2]
same(single, data((6,)), trained=False, shake_it=False, loss='categorical_crossentropy',
     how='the advice in circulation followed: parallel.layers[-2] compiled and saved', reason='that is the template itself')
