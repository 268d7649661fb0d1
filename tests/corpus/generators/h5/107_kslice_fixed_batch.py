# stack: k224 keras: keras
from common import *

BATCH = 8
net = Sequential([LSTM(4, batch_input_shape=(4, 5, 3)), BatchNormalization(), Dense(2)])
full = Input(batch_shape=(BATCH, 5, 3))
halves = [Lambda(lambda t, offset, rows: K.slice(t, [offset, 0, 0], [rows, -1, -1]), output_shape=(5, 3),
                 arguments={'offset': o, 'rows': 4})(full) for o in (0, 4)]
# the template takes 4 rows and not 8, so the case is written by hand
par = Model(full, L.Concatenate(axis=0)([net(h) for h in halves]))
shake(par)
opt = optimizer_of('sgd')
par.compile(optimizer=opt, loss='mse')
x = data((5, 3), n=8)[0]
par.train_on_batch(x, np.ones((8, 2)))
net.compile(optimizer=opt, loss='mse')
par.save(path('parallel.h5'))
net.save(path('base.h5'))
p = par.predict(x, batch_size=8)
b = np.concatenate([net.predict(x[:4], batch_size=4), net.predict(x[4:], batch_size=4)])
np.savez_compressed(path('io.npz'), x_0=x, parallel_0=p, base_in_two_batches_of_4=b)
write_case(collections.OrderedDict([
    ('how', 'fixed batch of 8, K.slice in a lambda with literal row numbers {offset: 0|4, rows: 4}, LSTM template with a declared batch of 4'),
    ('towers', 2), ('scope', 'whole'), ('wrappers', 1), ('wrapper', par.name), ('merge', ['concatenate_1']), ('template', net.name),
    ('base', net.name), ('expected', 'parallel'), ('code_free', False), ('optimizer', 'SGD'),
    ('largest_difference', float(np.max(np.abs(p - b)))),
    ('reason', 'the slices cover the declared batch of 8 without gap or overlap: whole'),
    ('doubts', 'the template\'s own batch is 4; its predictions are compared in two batches of 4 in order')]))
print('wrapper  %-46s worst %.1e' % (os.environ['STRANGER_CASE'], np.max(np.abs(p - b))))
