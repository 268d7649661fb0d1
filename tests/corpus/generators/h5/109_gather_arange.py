# stack: k224 keras: keras
from common import *


def my_rows(tensor, gpu_id=0, gpu_count=1):
    n = K.shape(tensor)[0]
    idx = K.arange(n * gpu_id // gpu_count, n * (gpu_id + 1) // gpu_count)
    return K.gather(tensor, idx)


m = rnn('tagger')
i = Input((5, 3))
o = Lambda(lambda ts: K.concatenate(ts, axis=0), name='tagger_all')(
    [m(Lambda(my_rows, arguments={'gpu_id': g, 'gpu_count': 4})(i)) for g in range(4)])
wrapper(Model(i, o), m, towers=4, x=data((5, 3)), merge=['tagger_all'], optimizer='rmsprop',
        how='K.gather with K.arange inside a named function {gpu_id, gpu_count}; Lambda with K.concatenate(axis=0) as merge',
        reason='slice arguments count 0..3 of 4 on one input, one template, one joining layer that is the output: whole',
        doubts='the axis of the Lambda merge is inside stored code')
