# stack: k224 keras: keras
from common import *

G = 2
m = mlp()
x = Input((6,))
rows = [m(Lambda(lambda t, i, k: t[i::k], arguments={'i': i, 'k': G})(x)) for i in range(G)]
zipped = Lambda(lambda ts: K.reshape(K.stack(ts, axis=1), (-1, 3)), output_shape=(3,), name='zip_rows')(rows)
wrapper(Model(x, zipped), m, towers=2, x=data((6,)), loss='categorical_crossentropy', merge=['zip_rows'],
        how='every k-th row to tower i (x[i::k]) and a Lambda that interleaves the rows back',
        reason='every row is run once by one template and comes out in its own place: the parallel model computes what the template does',
        doubts='it is a wrapper only because the merge interleaves, and both halves of that are stored code; read without the code, '
               '{i, k} and a Lambda over all towers look like an ordinary wrapper with a Lambda merge, and the answer happens to be right')
