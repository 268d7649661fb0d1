# stack: k231 keras: keras
from common import *

m = mlp('net')
x = Input((6,), name='raw')
y = Lambda(lambda t: K.clip(t, 0.1, 0.9), name='calibrated')(m(Lambda(lambda t: (t - 0.5) * 2., name='centred')(x)))
lookalike(Model(x, y), towers=None, x=data((6,)), template='net',
          how='deployment wrapper: Lambda before and Lambda after one nested model',
          reason='one call of a model between two Lambdas that compute something; nothing is sliced or merged',
          doubts='a wrapper with one tower whose slice and merge are Lambdas would have this very graph; nothing in it says so')
