# stack: tf27 keras: tf.keras
from second import *


def rows(x, first, count):
    return x[first:first + count]


m = Sequential([L.GRU(4, stateful=True, batch_input_shape=(4, 3, 2)), BatchNormalization(), Dense(2)], name='stateful')
x = Input(batch_shape=(8, 3, 2))
par = Model(x, L.concatenate([m(Lambda(rows, arguments={'first': 4 * i, 'count': 4})(x)) for i in range(2)], axis=0))


def whole(model, v):
    m.reset_states()
    return [model.predict(v, batch_size=8)]


def halves(model, v):
    m.reset_states()
    return [model.predict(v, batch_size=4)]


wrap(par, m, data((3, 2), n=8), towers=2, merge=['concatenate'], optimizer='sgd', parallel_predict=whole, base_predict=halves, y=np.ones((8, 2)),
     how='stateful GRU with batch_shape (4, 3, 2); outer batch fixed at 8; literal rows {first, count} that cover it',
     reason='fixed shapes prove that 2 x 4 rows are the whole batch of 8: whole',
     doubts='the second tower goes on from the first one\'s state, as the template does in its second batch of four')
