# stack: k224 keras: keras
from second import *

t = Sequential([L.Conv2D(3, (3, 3), activation='relu', input_shape=(6, 6, 1)), BatchNormalization(), Flatten(), Dense(5, activation='relu')], name='features')
par = official(t, 2)
old = Sequential([par, Dense(4, activation='softmax', name='old')])
shake(old)
old.compile(optimizer=opt('sgd'), loss='mse')
old.train_on_batch(data((6, 6, 1))[0], np.ones((12, 4)))
new = Dense(2, activation='softmax', name='new')
tuned = Sequential(old.layers[:-1] + [new])
base = Sequential([t, new], name=tuned.name)
wrap(tuned, base, data((6, 6, 1)), template=t, towers=2, scope='embedded', loss='categorical_crossentropy', optimizer='nesterov', merge=['dense_1'],
     how='Sequential([parallel model, Dense]): all but its last layer put into a new Sequential with another Dense (pop fails there)', shake_it=False,
     reason='the wrapper is the first layer of a larger (Sequential) model: embedded, the template stays nested in its place',
     doubts='one may call it head: then the template, itself Sequential, would be flattened. The nested form is what Sequential([template, Dense]) writes',
     extra={'scope_also_acceptable': ['head'], 'wrapper': par.name})
