# stack: k224 keras: keras
from common import *


def make_slicer(which, count):
    def slicer(t):
        rows = K.shape(t)[0]
        return t[rows * which // count:rows * (which + 1) // count]
    return slicer


m = siamese('siamese')
u, v = Input((6,)), Input((6,))
ys = []
for g in range(2):
    f = make_slicer(g, 2)
    ys.append(m([Lambda(f)(u), Lambda(f)(v)]))
wrapper(Model([u, v], L.concatenate(ys, axis=0), name='siamese'), m, towers=2, x=data((6,), (6,)), loss='binary_crossentropy',
        merge=['concatenate_1'],
        how='siamese template, closure slices without arguments, parallel model named like its template',
        reason='whole; the twin calls of the encoder are inside the template and stay')
