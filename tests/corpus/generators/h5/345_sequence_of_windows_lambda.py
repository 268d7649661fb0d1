# stack: k216 keras: keras
from common import *

m = rnn('chunk_net', steps=5, features=3)
x = Input((15, 3))
outs = [m(Lambda(lambda t, i, parts: t[:, i * 5:(i + 1) * 5], arguments={'i': i, 'parts': 3}, output_shape=(5, 3))(x)) for i in range(3)]
lookalike(Model(x, L.concatenate(outs, axis=0)), towers=3, x=data((15, 3)), template='chunk_net',
          how='a sequence of 15 steps in three windows through one LSTM, batch concat; Lambda arguments {i, parts}',
          reason='time slices: the template takes (5, 3), the model (15, 3), and rows triple')
