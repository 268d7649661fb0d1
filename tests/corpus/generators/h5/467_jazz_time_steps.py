# stack: k216 keras: keras
from second import *

cell, densor, reshape = LSTM(4, return_state=True), Dense(5, activation='softmax'), L.Reshape((1, 5))
X, a0, c0 = Input((4, 5)), Input((4,), name='a0'), Input((4,), name='c0')
a, c, outs = a0, c0, []
for t in range(4):
    x = reshape(Lambda(lambda z, t: z[:, t, :], arguments={'t': t})(X))
    a, _, c = cell(x, initial_state=[a, c])
    outs.append(densor(a))
same(Model([X, a0, c0], outs), data((4, 5), (4,), (4,)), loss='categorical_crossentropy',
     how='course exercise: a Lambda per time step {t}, one LSTM and one Dense shared over the steps, a list of outputs',
     reason='time steps, not rows; nothing is merged')
