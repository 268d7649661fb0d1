# stack: py27k122 keras: keras
from common import *

GPUS = 2
base = rnn()
inp = Input(shape=(5, 3))
towers = []
for g in xrange(GPUS):
    part = Lambda(lambda x, g, G: x[g * (K.shape(x)[0] / G):] if g == G - 1
                  else x[g * (K.shape(x)[0] / G):(g + 1) * (K.shape(x)[0] / G)],
                  arguments=dict(g=g, G=GPUS), output_shape=(5, 3))(inp)
    towers.append(base(part))
out = L.merge(towers, mode=lambda ts: K.concatenate(ts, axis=0), output_shape=lambda shapes: shapes[0])
wrapper(Model(inp, out), base, towers=2, x=data((5, 3)), merge=['merge_1'], optimizer='rmsprop',
        how='Keras 1 on Python 2.7, one-line lambda with arguments {g, G}; merge with a function as mode',
        reason='whole wrapper; the joining is in the Merge layer\'s stored function',
        doubts='the merge is stored code: that it joins the batch axis is readable only from the names in it')
