# stack: tf27 keras: tf.keras
from common import *

m = mlp('ranker')
x = Input((6,))
y = L.Subtract()([m(x[0::2]), m(x[1::2])])
lookalike(Model(x, y), towers=2, x=data((6,)), template='ranker', opaque_slices=False, how='pairwise ranking: even rows minus odd rows, one scorer',
          reason='no merge; the difference of two towers is the model')
