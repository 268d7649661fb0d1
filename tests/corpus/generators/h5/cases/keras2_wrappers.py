from common import *


# %% 104-default-capture | k209 | keras
def data_parallel(model, n):
    x = Input(model.input_shape[1:], name='global_batch')
    ys = []
    for k in range(n):
        with tf.device('/gpu:%d' % k), tf.name_scope('replica_%d' % k):
            xk = Lambda(lambda z, k=k, n=n: z[tf.shape(z)[0] // n * k:] if k == n - 1
                        else z[tf.shape(z)[0] // n * k:tf.shape(z)[0] // n * (k + 1)])(x)
            ys.append(model(xk))
    with tf.device('/cpu:0'):
        return Model(x, concatenate(ys, axis=0))


m = cnn()
wrapper(data_parallel(m, 2), m, x=data((8, 8, 3)), files='weights+parallel', loss='categorical_crossentropy')

# %% 105-piece-layer-weights | k216 | keras
class BatchPiece(Layer):
    def __init__(self, piece, pieces, **kw):
        super(BatchPiece, self).__init__(**kw)
        self.piece, self.pieces = piece, pieces

    def call(self, x):
        n = K.shape(x)[0]
        return x[n * self.piece // self.pieces:n * (self.piece + 1) // self.pieces]

    def get_config(self):
        config = super(BatchPiece, self).get_config()
        config.update(piece=self.piece, pieces=self.pieces)
        return config


m = nested('net')
x = Input((6,))
y = concatenate([m(BatchPiece(i, 3)(x)) for i in range(3)], axis=0, name='net_out')
wrapper(Model(x, y), m, x=data((6,)), files='weights+parallel', loss='categorical_crossentropy', optimizer='momentum')

# %% 106-whole-file-from-216 | k216 | keras
# the official function cannot be saved whole in 2.1.6; a copy that never closes over a module can
from keras import backend as KB


def slice_batch(x, n_gpus, part):
    sh = KB.shape(x)
    L = sh[0] // n_gpus
    return x[part * L:] if part == n_gpus - 1 else x[part * L:(part + 1) * L]


inner = two_io('two_io')
ins = [Input(s[1:]) for s in inner.input_shape]
outs = [inner([Lambda(slice_batch, arguments={'n_gpus': 2, 'part': g})(i) for i in ins]) for g in range(2)]
merged = [concatenate([o[k] for o in outs], axis=0, name=n) for k, n in enumerate(inner.output_names)]
wrapper(Model(ins, merged), inner, x=data((6,), (4,)), loss={'left': 'categorical_crossentropy', 'right': 'mse'}, comp={'metrics': {'left': 'accuracy'}},
        optimizer='adam')

# %% 107-kslice-fixed-batch | k224 | keras
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
write_case(wrapper=par.name, template=net.name, base=net.name, largest_difference=float(np.max(np.abs(p - b))))

# %% 108-split-layer-k-outputs | k224 | keras
class Scatter(Layer):
    """[B, ...] -> n tensors of [B / n, ...]"""

    def __init__(self, n_dev=2, **kwargs):
        self.n_dev = n_dev
        super(Scatter, self).__init__(**kwargs)

    def call(self, inputs):
        b = K.shape(inputs)[0]
        edges = [b * i // self.n_dev for i in range(self.n_dev + 1)]
        return [inputs[lo:hi] for lo, hi in zip(edges[:-1], edges[1:])]

    def compute_output_shape(self, input_shape):
        return [input_shape] * self.n_dev

    def compute_mask(self, inputs, mask=None):
        return [None] * self.n_dev

    def get_config(self):
        return dict(super(Scatter, self).get_config(), n_dev=self.n_dev)


class Gather(Layer):
    def call(self, inputs):
        return K.concatenate(inputs, axis=0)

    def compute_output_shape(self, input_shape):
        return input_shape[0]


m = mlp('resnetish')
inp = Input((6,), name='big_batch')
wrapper(Model(inp, Gather(name='gather')([m(p) for p in Scatter(3, name='scatter')(inp)]), name='scatter_gather'), m, x=data((6,)), loss='categorical_crossentropy',
        optimizer='momentum')

# %% 109-gather-arange | k224 | keras
def my_rows(tensor, gpu_id=0, gpu_count=1):
    n = K.shape(tensor)[0]
    idx = K.arange(n * gpu_id // gpu_count, n * (gpu_id + 1) // gpu_count)
    return K.gather(tensor, idx)


m = rnn('tagger')
i = Input((5, 3))
o = Lambda(lambda ts: K.concatenate(ts, axis=0), name='tagger_all')(
    [m(Lambda(my_rows, arguments={'gpu_id': g, 'gpu_count': 4})(i)) for g in range(4)])
wrapper(Model(i, o), m, x=data((5, 3)), optimizer='rmsprop')

# %% 110-reshape-then-index | k224 | keras
N = 2


def shard(x, i):
    shape = K.int_shape(x)[1:]
    return K.reshape(x, (N, -1) + shape)[i]


m = mlp('ctr')
x = Input((6,))
shards = [Lambda(shard, output_shape=(6,), arguments={'i': i}, name='shard_%d' % i)(x) for i in range(N)]
wrapper(Model(x, L.concatenate([m(s) for s in shards], axis=0)), m, x=data((6,)), loss='categorical_crossentropy', optimizer='adagrad')

# %% 111-pairwise-cascade | k224 | keras
def part(x, of, me):
    n = K.shape(x)[0] // of
    return x[me * n:(me + 1) * n] if me + 1 < of else x[me * n:]


m = mlp()
x = Input((6,))
level = [m(Lambda(part, arguments={'of': 4, 'me': j})(x)) for j in range(4)]
while len(level) > 1:
    level = [L.Concatenate(axis=0)(level[j:j + 2]) for j in range(0, len(level), 2)]
wrapper(Model(x, level[0]), m, x=data((6,)), loss='categorical_crossentropy')

# %% 112-linear-after-towers | k224 | keras
m = mlp()
x = Input((6,))
outs = []
for d in range(2):
    part = Lambda(lambda v, d, n: v[d * (K.shape(v)[0] // n):(d + 1) * (K.shape(v)[0] // n)] if d < n - 1
                  else v[d * (K.shape(v)[0] // n):], arguments={'d': d, 'n': 2}, name='in_gpu%d' % d)(x)
    outs.append(Activation('linear', name='out_gpu%d' % d)(m(Activation('linear', name='gpu%d' % d)(part))))
wrapper(Model(x, L.concatenate(outs, axis=0, name='out')), m, x=data((6,)), loss={'out': 'categorical_crossentropy'},
        base_comp={'loss': {m.output_names[0]: 'categorical_crossentropy'}})

# %% 113-renamed-outputs | k224 | keras
def get_slice(x, idx, total):
    size = K.shape(x)[0] // total
    return x[idx * size:] if idx == total - 1 else x[idx * size:(idx + 1) * size]


m = two_io('base')
a, b = Input((6,)), Input((4,))
res = [m([Lambda(get_slice, arguments={'idx': i, 'total': 2})(t) for t in (a, b)]) for i in range(2)]
names = ['left_out', 'right_out']
outs = [Lambda(lambda t: t, name=n)(L.concatenate(list(r), axis=0)) for n, r in zip(names, zip(*res))]
par = Model([a, b], outs)
base = Model(m.inputs, [par.get_layer(n)(t) for n, t in zip(names, m.outputs)], name=par.name)
wrapper(par, base, template=m, x=data((6,), (4,)), loss={'left_out': 'categorical_crossentropy', 'right_out': 'mse'})

# %% 114-whole-input-to-all | k224 | keras
def cut(x, k, n):
    r = K.shape(x)[0] // n
    return x[k * r:] if k == n - 1 else x[k * r:(k + 1) * r]


x, proto = Input((6,), name='x'), Input((6,), name='prototypes')
enc = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization()], name='enc')
score = Lambda(lambda t: K.dot(t[0], K.transpose(K.mean(t[1], axis=0, keepdims=True))), output_shape=(1,), name='score')
m = Model([x, proto], score([enc(x), enc(proto)]), name='prototype_net')

X, P = Input((6,), name='queries'), Input((6,), name='support')
wrapper(Model([X, P], L.concatenate([m([Lambda(cut, arguments=dict(k=i, n=2))(X), P]) for i in range(2)], axis=0)), m, x=data((6,), (6,)))

# %% 115-called-in-other-order | k224 | keras
class DeviceBatch(Layer):
    def __init__(self, device_index, device_count, **kwargs):
        super(DeviceBatch, self).__init__(**kwargs)
        self.device_index, self.device_count = device_index, device_count

    def call(self, x):
        n = K.shape(x)[0] // self.device_count
        end = None if self.device_index == self.device_count - 1 else n * (self.device_index + 1)
        return x[n * self.device_index:end]

    def get_config(self):
        c = super(DeviceBatch, self).get_config()
        c['device_index'] = self.device_index
        c['device_count'] = self.device_count
        return c


m = cnn('worker')
x = Input((8, 8, 3))
results = {}
for d in (2, 0, 1):  # the fastest card first
    results[d] = m(DeviceBatch(d, 3, name='rows_%d' % d)(x))
wrapper(Model(x, L.concatenate([results[d] for d in range(3)], axis=0)), m, x=data((8, 8, 3)), loss='categorical_crossentropy')

# %% 116-fraction-bounds | k224 | keras
def fraction(x, lo, hi):
    n = K.cast(K.shape(x)[0], 'float32')
    return x[K.cast(n * lo + 0.5, 'int32'):K.cast(n * hi + 0.5, 'int32')]


m = mlp()
x = Input((6,))
edges = [0.0, 0.5, 0.75, 1.0]  # one 1080 Ti, two old ones
wrapper(Model(x, L.concatenate([m(Lambda(fraction, arguments={'lo': a, 'hi': b})(x)) for a, b in zip(edges, edges[1:])], axis=0)),
        m, x=data((6,)), loss='categorical_crossentropy')

# %% 117-inside-sequential | k224 | keras
def half(x, second):
    n = K.shape(x)[0] // 2
    return x[n:] if second else x[:n]


m = Sequential([Dense(5, activation='relu', input_shape=(7,)), BatchNormalization(), Dense(4)], name='middle')
x = Input((7,))
par = Model(x, L.concatenate([m(Lambda(half, arguments={'second': s})(x)) for s in (False, True)], axis=0), name='middle_x2')
first, last = Dense(7, activation='tanh', input_shape=(6,)), Dense(3, activation='softmax')
outer = Sequential([first, par, last])
base = Sequential([first, m, last], name=outer.name)
wrapper(outer, base, template=m, x=data((6,)), loss='categorical_crossentropy')

# %% 118-siamese-closure | k224 | keras
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
wrapper(Model([u, v], L.concatenate(ys, axis=0), name='siamese'), m, x=data((6,), (6,)), loss='binary_crossentropy')

# %% 120-py2-three-lambdas | py27k224 | keras
def parallelize(model, gpu_list):
    pieces = len(gpu_list)

    def piece_of(number):
        def piece(batch):
            total = K.shape(batch)[0]
            lower = total * number / pieces
            upper = total * (number + 1) / pieces
            return batch[lower:upper]
        return piece

    source = Input(batch_shape=model.input_shape, name='source')
    replies = []
    for number, gpu in enumerate(gpu_list):
        with tf.device(gpu):
            replies.append(model(Lambda(piece_of(number), name='piece%d' % number)(source)))
    return Model(source, Lambda(lambda all_: tf.concat(all_, 0), name='whole')(replies))


m = mlp()
wrapper(parallelize(m, ['/gpu:0', '/gpu:1', '/gpu:3']), m, x=data((6,)), loss='categorical_crossentropy', optimizer='momentum')

# %% 121-interleaved-back | k224 | keras
G = 2
m = mlp()
x = Input((6,))
rows = [m(Lambda(lambda t, i, k: t[i::k], arguments={'i': i, 'k': G})(x)) for i in range(G)]
zipped = Lambda(lambda ts: K.reshape(K.stack(ts, axis=1), (-1, 3)), output_shape=(3,), name='zip_rows')(rows)
wrapper(Model(x, zipped), m, x=data((6,)), loss='categorical_crossentropy')

# %% 133-dynamic-partition-stitched | k224 | keras
def part(t, k, n):
    return tf.dynamic_partition(t, tf.range(tf.shape(t)[0]) % n, n)[k]


def stitch(parts):
    rows = tf.range(sum([tf.shape(p)[0] for p in parts]))
    return tf.dynamic_stitch(tf.dynamic_partition(rows, rows % len(parts), len(parts)), parts)


m = nested('ranker')
x = Input((6,))
outs = [m(Lambda(part, arguments={'k': k, 'n': 3}, output_shape=(6,))(x)) for k in range(3)]
wrapper(Model(x, Lambda(stitch, output_shape=lambda shapes: shapes[0])(outs)), m, x=data((6,)), loss='categorical_crossentropy')

# %% 140-gpu-of-ngpus-tfconcat | k231 | keras
def slice_for(t, gpu, ngpus):
    # gpu 1..ngpus, as nvidia-smi users never count
    n = tf.shape(t)[0]
    return t[(gpu - 1) * n // ngpus:gpu * n // ngpus]


m = two_io('wide_and_deep')
ins = [Input(K.int_shape(t)[1:], name=t.name.split(':')[0] + '_all') for t in m.inputs]
per_gpu = [m([Lambda(slice_for, arguments={'gpu': g, 'ngpus': 3})(t) for t in ins]) for g in (1, 2, 3)]
outs = [Lambda(lambda ts: tf.concat(ts, axis=0), name='all_' + n)([p[k] for p in per_gpu]) for k, n in enumerate(m.output_names)]
wrapper(Model(ins, outs), m, x=data((6,), (4,)), loss=['categorical_crossentropy', 'mse'])

# %% 141-model-subclass | k231 | keras
class DataParallel(Model):
    """Functional inside, a class outside; nobody overrode save()."""

    def __init__(self, module=None, device_ids=(0, 1), **kwargs):
        if module is None:  # rebuilt from a config
            super(DataParallel, self).__init__(**kwargs)
            return
        n = len(device_ids)
        x = [Input(s[1:]) for s in ([module.input_shape] if not isinstance(module.input_shape, list) else module.input_shape)]
        y = []
        for k, d in enumerate(device_ids):
            s = [Lambda(lambda t, k=k: t[k * (K.shape(t)[0] // n):(k + 1) * (K.shape(t)[0] // n)]
                        if k < n - 1 else t[k * (K.shape(t)[0] // n):])(t) for t in x]
            y.append(module(s[0] if len(s) == 1 else s))
        super(DataParallel, self).__init__(inputs=x, outputs=L.Concatenate(axis=0)(y), name='data_parallel')


m = mlp()
wrapper(DataParallel(m, (0, 1)), m, x=data((6,)), loss='categorical_crossentropy')

# %% 142-wrapped-twice | k231 | keras
def rows(x, i, n):
    size = K.shape(x)[0]
    return x[i * size // n:(i + 1) * size // n]


def wrap(model, n):
    x = Input(model.input_shape[1:])
    return Model(x, L.concatenate([model(Lambda(rows, arguments={'i': i, 'n': n})(x)) for i in range(n)], axis=0))


a = Input((6,))
h = Lambda(lambda t: t / 10.0, name='scale')(a)
h = BatchNormalization()(Dense(5, activation='relu')(h))
m = Model(a, Dense(3, activation='softmax')(h), name='with_lambda')
wrapper(wrap(wrap(m, 2), 3), m, x=data((6,)), loss='categorical_crossentropy')

# %% 144-identity-around-everything | k231 | keras
ident = lambda t: K.identity(t)  # noqa: E731
m = mlp('core')
x = Input((6,))
feed = Lambda(ident, name='feed')(x)
tower = []
for i in range(2):
    s = Lambda(lambda t, i: t[:K.shape(t)[0] // 2] if i == 0 else t[K.shape(t)[0] // 2:], arguments={'i': i})(feed)
    tower.append(Lambda(ident, name='tower_%d' % i)(m(s)))
wrapper(Model(x, L.concatenate(tower, axis=0, name='joined')), m, x=data((6,)), loss='categorical_crossentropy')

# %% 210-two-wrapped-parts | k224 | keras
def cut(x, n, i):
    rows = K.shape(x)[0]
    return x[rows * i // n:rows * (i + 1) // n]


def both_cards(model, name):
    x = Input(model.input_shape[1:])
    return Model(x, L.concatenate([model(Lambda(cut, arguments={'n': 2, 'i': i})(x)) for i in range(2)], axis=0), name=name)


enc = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization()], name='encoder')
dec = Sequential([Dense(7, activation='relu', input_shape=(5,)), BatchNormalization(), Dense(6)], name='decoder')
face = Input((6,))
par = Model(face, both_cards(dec, 'decoder_gpu')(both_cards(enc, 'encoder_gpu')(face)), name='autoencoder')
base = Model(face, dec(enc(face)), name='autoencoder')
wrapper(par, base, template=dec, x=data((6,)))

# %% 211-flat-in-the-middle | k231 | keras
def dev_slice(t, worker=0, workers=2):
    b = K.shape(t)[0]
    return t[b * worker // workers:b * (worker + 1) // workers]


heavy = mlp('heavy')
front, tail = Dense(6, activation='tanh', name='front'), Dense(2, activation='softmax', name='tail')
bn = BatchNormalization(name='bn_front')
x = Input((4,), name='x')
h = bn(front(x))
mid = L.concatenate([heavy(Lambda(dev_slice, arguments={'worker': w, 'workers': 3})(h)) for w in range(3)], axis=0, name='gathered')
par = Model(x, tail(mid), name='net')
base = Model(x, tail(heavy(h)), name='net')
wrapper(par, base, template=heavy, x=data((4,)), loss='categorical_crossentropy')

# %% 213-slice-of-slice | k224 | keras
def half(t, which):
    m = K.shape(t)[0] // 2
    return t[:m] if which == 'first' else t[m:]


net = mlp('net')
x = Input((6,))
quarters = []
for host in ('first', 'second'):
    h = Lambda(half, arguments={'which': host}, name='host_%s' % host)(x)
    for card in ('first', 'second'):
        quarters.append(Lambda(half, arguments={'which': card}, name='host_%s_card_%s' % (host, card))(h))
wrapper(Model(x, L.concatenate([net(q) for q in quarters], axis=0)), net, x=data((6,)), loss='categorical_crossentropy', optimizer='momentum')

# %% 214-negative-axis | k224 | keras
def sl(x, i, n):
    b = K.shape(x)[0]
    return x[i * b // n:(i + 1) * b // n]


m = mlp('net')
x = Input((6,))
wrapper(Model(x, L.Concatenate(axis=-2)([m(Lambda(sl, arguments={'i': i, 'n': 2})(x)) for i in range(2)])), m, x=data((6,)),
        loss='categorical_crossentropy')

# %% 215-scalar-loss-output | k231 | keras
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
write_case(wrapper=par.name, template=m.name, base=m.name, largest_difference=worst)

# %% 218-time-distributed | k224 | keras
def part(x, i, n):
    r = K.shape(x)[0] // n
    return x[i * r:] if i == n - 1 else x[i * r:(i + 1) * r]


frame = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(4)], name='frame')
x = Input((6,))
par = Model(x, L.concatenate([frame(Lambda(part, arguments={'i': i, 'n': 2})(x)) for i in range(2)], axis=0), name='frame_2gpu')
top = [L.GlobalAveragePooling1D(), Dense(3, activation='softmax')]


def video(inner):
    v = Input((5, 6), name='video')
    h = L.TimeDistributed(inner, name='frames')(v)
    for t in top:
        h = t(h)
    return Model(v, h, name='video_net')


outer = video(par)
wrapper(outer, video(frame), template=frame, x=data((5, 6)), loss='categorical_crossentropy')

# %% 220-slices-of-inner-input | k224 | keras
# an old habit: Input on the outside, the parallel model nested as its only layer, saved after that
def slc(data_, shard, n_shards):
    bs = K.shape(data_)[0] // n_shards
    return data_[bs * shard:] if shard == n_shards - 1 else data_[bs * shard:bs * (shard + 1)]


m = mlp('vgg')
x = Input((6,))
par = Model(x, L.concatenate([m(Lambda(slc, arguments={'shard': s, 'n_shards': 2})(x)) for s in range(2)], axis=0), name='vgg_par')
o = Input((6,), name='outer')
outer = Model(o, par(o))
wrapper(outer, m, template=m, x=data((6,)), loss='categorical_crossentropy')
alt = Model(o, m(o), name=outer.name)
alt.compile(optimizer=outer.optimizer, loss='categorical_crossentropy')
alt.save(path('base_embedded.h5'))

# %% 223-inputs-in-other-order | k224 | keras
def part_of(x, part, of):
    b = K.shape(x)[0]
    return x[b * part // of:b * (part + 1) // of]


m = two_io('net')
ins = {'deep': Input((4,), name='deep_in'), 'wide': Input((6,), name='wide_in')}
r = [m([Lambda(part_of, arguments={'part': i, 'of': 2})(ins[k]) for k in ('wide', 'deep')]) for i in range(2)]
right, left = [L.concatenate([r[0][k], r[1][k]], axis=0, name=n) for k, n in ((1, 'right'), (0, 'left'))]
x = data((4,), (6,))
wrapper(Model([ins['deep'], ins['wide']], [right, left]), m, x=x, base_x=x[::-1], pick=[1, 0], y=[np.ones((12, 1)), onehot((12, 2))],
        loss={'left': 'categorical_crossentropy', 'right': 'mse'})

# %% 225-template-with-lookalike-inside | k231 | keras
def rows_of(x, me, all_):
    b = K.shape(x)[0]
    return x[b * me // all_:b * (me + 1) // all_]


core = cnn('core')
i = Input((8, 8, 3))
mirrored = Lambda(lambda t: t[:, :, ::-1])(i)
both = L.Concatenate(axis=0, name='both_views')([i, mirrored])  # one call on both views, then the mean of the two
pred = core(both)
mean = Lambda(lambda t: (t[:K.shape(t)[0] // 2] + t[K.shape(t)[0] // 2:]) / 2., name='mean_of_views')(pred)
m = Model(i, mean, name='tta_net')
x = Input((8, 8, 3))
wrapper(Model(x, L.concatenate([m(Lambda(rows_of, arguments={'me': r, 'all_': 2})(x)) for r in range(2)], axis=0)), m,
        x=data((8, 8, 3)), loss='categorical_crossentropy')

# %% 226-activation-in-each-tower | k231 | keras
def rows_of(x, me, all_):
    b = K.shape(x)[0]
    return x[b * me // all_:b * (me + 1) // all_]


m = Sequential([Dense(7, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3)], name='net')
x = Input((6,))
towers = []
for g in range(2):
    t = Activation('tanh', name='squash_gpu%d' % g)(Lambda(rows_of, arguments={'me': g, 'all_': 2})(x))
    towers.append(Activation('softmax', name='probs_gpu%d' % g)(m(t)))
par = Model(x, L.concatenate(towers, axis=0, name='probs'))
pre, post = Activation('tanh', name='squash_gpu0'), Activation('softmax', name='probs_gpu0')
base = Model(x, post(m(pre(x))), name=par.name)
wrapper(par, base, template=m, x=data((6,)), loss='categorical_crossentropy')
