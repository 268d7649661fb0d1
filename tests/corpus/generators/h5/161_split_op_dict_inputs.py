# stack: tf27 keras: tf.keras
from common import *

a, b = Input((6,), name='wide'), Input((4,), name='deep')
h = L.concatenate([BatchNormalization()(Dense(5, activation='relu')(a)), Dense(3)(b)])
m = Model({'wide': a, 'deep': b}, {'click': Dense(1, activation='sigmoid', name='click')(h), 'price': Dense(1, name='price')(h)}, name='ctr')

ins = {'wide': Input((6,), name='wide'), 'deep': Input((4,), name='deep')}
parts = {k: tf.split(v, 2) for k, v in ins.items()}
res = [m({k: v[i] for k, v in parts.items()}) for i in range(2)]
outs = {k: L.Concatenate(axis=0, name=k)([r[k] for r in res]) for k in ('click', 'price')}
wrapper(Model(ins, outs), m, towers=2, x=dict(zip(('deep', 'wide'), data((4,), (6,)))),
        fit_y={'click': np.ones((12, 1)), 'price': np.zeros((12, 1))},
        loss={'click': 'binary_crossentropy', 'price': 'mse'}, merge=['click', 'price'], opaque_slices=False,
        how='TF 2.7, inputs and outputs are dictionaries, tf.split per input, Concatenate(axis=0) named after each output',
        reason='whole; one split per input, one merge per output, tower k takes part k of both')
