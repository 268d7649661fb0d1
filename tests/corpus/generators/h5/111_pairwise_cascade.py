# stack: k224 keras: keras
from common import *


def part(x, of, me):
    n = K.shape(x)[0] // of
    return x[me * n:(me + 1) * n] if me + 1 < of else x[me * n:]


m = mlp()
x = Input((6,))
level = [m(Lambda(part, arguments={'of': 4, 'me': j})(x)) for j in range(4)]
while len(level) > 1:
    level = [L.Concatenate(axis=0)(level[j:j + 2]) for j in range(0, len(level), 2)]
wrapper(Model(x, level[0]), m, towers=4, x=data((6,)), loss='categorical_crossentropy', merge=['concatenate_3'],
        how='four towers joined pairwise: Concatenate(axis=0) of two Concatenate(axis=0)',
        reason='batch concatenation is associative: flattened, the merges are one merge of four towers in order, whole',
        doubts='"merge" is the outermost layer; the two inner ones are the wrapper\'s too')
