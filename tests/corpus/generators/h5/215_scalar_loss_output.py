# stack: k231 keras: keras
from common import *


class PerDevice(Layer):
    def __init__(self, k=0, n=1, **kw):
        super(PerDevice, self).__init__(**kw)
        self.k, self.n = k, n

    def call(self, x):
        b = K.shape(x)[0]
        return x[b * self.k // self.n:b * (self.k + 1) // self.n]

    def get_config(self):
        return dict(super(PerDevice, self).get_config(), k=self.k, n=self.n)


a, t = Input((6,), name='a'), Input((3,), name='t')
p = Dense(3, activation='softmax', name='p')(BatchNormalization()(Dense(5, activation='relu')(a)))
loss = Lambda(lambda q: K.reshape(K.mean(K.square(q[0] - q[1])), (1, 1)), name='loss')([p, t])
m = Model([a, t], [p, loss], name='detector')

A, T = Input((6,)), Input((3,))
r = [m([PerDevice(k, 2)(A), PerDevice(k, 2)(T)]) for k in range(2)]
outs = [L.Concatenate(axis=0, name='p')([r[0][0], r[1][0]]),
        Lambda(lambda v: (v[0] + v[1]) / 2., name='loss')([r[0][1], r[1][1]])]
par = Model([A, T], outs)
shake(par)
opt = optimizer_of('sgd')
x = data((6,), (3,))
for net in (par, m):
    net.add_loss(net.outputs[1])
    net.compile(optimizer=opt, loss=[None, None])
    if net is par:
        for _ in range(2):
            net.train_on_batch(x, None)
pp, bb = [[np.asarray(v) for v in net.predict_on_batch(x)] for net in (par, m)]
worst = max(float(np.max(np.abs(i - j))) for i, j in zip(pp, bb))
assert worst < 1e-5
par.save(path('parallel.h5'))
m.save(path('base.h5'))
np.savez_compressed(path('io.npz'), x_0=x[0], x_1=x[1], parallel_0=pp[0], parallel_1=pp[1], base_0=bb[0], base_1=bb[1])
write_case(collections.OrderedDict([
    ('how', 'two outputs: rows joined by Concatenate(axis=0), a (1, 1) loss averaged over the towers by a Lambda; trained by add_loss'),
    ('towers', 2), ('scope', 'whole'), ('wrappers', 1), ('wrapper', par.name), ('merge', ['p', 'loss']), ('template', m.name),
    ('base', m.name), ('expected', 'parallel'), ('code_free', False), ('optimizer', 'SGD'), ('largest_difference', worst),
    ('reason', 'one merge per output; a scalar goes through a mean, as in Mask R-CNN\'s ParallelModel: whole'),
    ('doubts', 'the mean is stored code; a Lambda over all towers\' second output is taken for the merge because the first output\'s '
               'merge proves the wrapper')]))
print('wrapper  %-46s worst %.1e' % (os.environ['STRANGER_CASE'], worst))
