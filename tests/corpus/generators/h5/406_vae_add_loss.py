# stack: k231 keras: keras
from second import *
import zoo


def part_of_batch(t, k, n):
    b = K.shape(t)[0]
    return t[k * b // n:(k + 1) * b // n]


m = zoo.vae()
x = m.inputs[0]
par = Model(x, L.concatenate([m(Lambda(part_of_batch, arguments={'k': k, 'n': 2})(x)) for k in range(2)], axis=0, name='x_out'), name='vae_parallel')
wrap(par, m, data((8,)), towers=2, optimizer='sgd', loss='mse', merge=['x_out'],
     how='variational autoencoder: Lambda sampling and add_loss inside the template, which is called on two slices of its own Input',
     reason='whole; the sampling Lambda and its stored code belong to the template',
     doubts='add_loss is not in any saved config, in base.h5 neither')
