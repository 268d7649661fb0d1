from common import *


# %% 130-tf-split-lambda | k224 | tf.keras
m = cnn('tiny')
x = Input((8, 8, 3))
pieces = Lambda(lambda t: tf.split(t, 2, axis=0), name='split')(x)
wrapper(Model(x, L.concatenate([m(p) for p in pieces], axis=0)), m, x=data((8, 8, 3)), loss='categorical_crossentropy')

# %% 131-dynamic-partition | k224 | tf.keras
def by_device(t, devices):
    n = tf.shape(t)[0]
    return tf.dynamic_partition(t, tf.range(n) * devices // n, devices)


m = nested('ranker')
x = Input((6,))
parts = Lambda(by_device, arguments={'devices': 3}, output_shape=lambda s: [s] * 3)(x)
wrapper(Model(x, L.Concatenate(axis=0)([m(p) for p in parts])), m, x=data((6,)), loss='categorical_crossentropy')

# %% 132-boolean-mask | k224 | tf.keras
def mine(t, rank, size):
    n = tf.shape(t)[0]
    keep = tf.equal(tf.range(n) * size // n, rank)
    return tf.boolean_mask(t, keep)


m = rnn('seq2vec')
x = Input((5, 3))
wrapper(Model(x, L.concatenate([m(Lambda(mine, arguments={'rank': r, 'size': 2}, output_shape=(5, 3))(x)) for r in range(2)], axis=0)),
        m, x=data((5, 3)))

# %% 143-strided-slice-gru | k231 | tf.keras
def strided(t, begin_num, end_num, den):
    n = tf.shape(t)[0]
    return tf.strided_slice(t, [n * begin_num // den], [n * end_num // den], [1])


tok = Input((5,), dtype='int32')
h = Embedding(11, 4, mask_zero=False)(tok)
m = Model(tok, Dense(2, activation='softmax')(L.Bidirectional(L.GRU(3))(h)), name='bigru')
x = Input((5,), dtype='int32')
wrapper(Model(x, L.concatenate([m(Lambda(strided, arguments=dict(begin_num=b, end_num=e, den=5))(x)) for b, e in ((0, 3), (3, 5))], axis=0)),
        m, x=[np.random.RandomState(1).randint(0, 11, (10, 5)).astype('int32')], loss='categorical_crossentropy')

# %% 150-rank-world-size | tf20 | tf.keras
class Shard(Layer):
    def __init__(self, rank, world_size, **kwargs):
        super().__init__(**kwargs)
        self.rank, self.world_size = rank, world_size

    def call(self, inputs):
        n = tf.shape(inputs)[0]
        return inputs[self.rank * n // self.world_size:(self.rank + 1) * n // self.world_size]

    def get_config(self):
        return {**super().get_config(), 'rank': self.rank, 'world_size': self.world_size}


class AllGather(L.Concatenate):
    def __init__(self, **kwargs):
        kwargs['axis'] = 0
        super().__init__(**kwargs)


m = mlp('student')
x = Input((6,), name='img')
wrapper(Model(x, AllGather(name='probs')([m(Shard(r, 4)(x)) for r in range(4)]), name='student_ddp'), m,
        x=data((6,)), loss={'probs': 'categorical_crossentropy'}, base_comp={'loss': {m.output_names[0]: 'categorical_crossentropy'}})

# %% 151-oplayer-slices | tf22 | tf.keras
m = mlp('head')
x = Input((6,))
n = tf.shape(x)[0]
a, b = x[:n // 2], x[n // 2:]  # TensorFlowOpLayers, made by Keras itself
wrapper(Model(x, tf.concat([m(a), m(b)], axis=0)), m, x=data((6,)), loss='categorical_crossentropy')

# %% 152-oplayer-split | tf22 | tf.keras
m = siamese('twins')
u, v = Input((6,)), Input((6,))
us, vs = tf.split(u, 3), tf.split(v, 3)
wrapper(Model([u, v], L.Concatenate(axis=0)([m([i, j]) for i, j in zip(us, vs)])), m, x=data((6,), (6,)), loss='binary_crossentropy')

# %% 153-oplayer-reshape-index | tf23 | tf.keras
N = 2
m = cnn('net')
x = Input((8, 8, 3))
stacked = tf.reshape(x, (N, -1, 8, 8, 3))
wrapper(Model(x, L.concatenate([m(stacked[i]) for i in range(N)], axis=0, name='net_output')), m, x=data((8, 8, 3)),
        loss='categorical_crossentropy')

# %% 154-fp16-casts | tf23 | tf.keras
m = mlp('net')
x = Input((6,))
n = tf.shape(x)[0]
x16 = tf.cast(x, tf.float16)  # half the PCIe traffic
outs = []
for s in (x16[:n // 2], x16[n // 2:]):
    outs.append(tf.cast(m(tf.cast(s, tf.float32)), tf.float16))
wrapper(Model(x, tf.cast(tf.concat(outs, 0), tf.float32)), m, x=data((6,)), loss='categorical_crossentropy', atol=3e-3)

# %% 160-slicing-operators | tf27 | tf.keras
def replicate(model, n):
    x = Input(model.input_shape[1:])
    size = tf.shape(x)[0] // n
    ys = []
    for i in range(n):
        ys.append(model(x[i * size:] if i == n - 1 else x[i * size:(i + 1) * size]))
    return Model(x, tf.concat(ys, axis=0))


m = cnn('vision')
wrapper(replicate(m, 3), m, x=data((8, 8, 3)), loss='categorical_crossentropy', files='h5', optimizer='adam')

# %% 161-split-op-dict-inputs | tf27 | tf.keras
a, b = Input((6,), name='wide'), Input((4,), name='deep')
h = L.concatenate([BatchNormalization()(Dense(5, activation='relu')(a)), Dense(3)(b)])
m = Model({'wide': a, 'deep': b}, {'click': Dense(1, activation='sigmoid', name='click')(h), 'price': Dense(1, name='price')(h)}, name='ctr')

ins = {'wide': Input((6,), name='wide'), 'deep': Input((4,), name='deep')}
parts = {k: tf.split(v, 2) for k, v in ins.items()}
res = [m({k: v[i] for k, v in parts.items()}) for i in range(2)]
outs = {k: L.Concatenate(axis=0, name=k)([r[k] for r in res]) for k in ('click', 'price')}
wrapper(Model(ins, outs), m, x=dict(zip(('deep', 'wide'), data((4,), (6,)))), y={'click': np.ones((12, 1)), 'price': np.zeros((12, 1))},
        loss={'click': 'binary_crossentropy', 'price': 'mse'})

# %% 162-gather-range-ops | tf27 | tf.keras
m = rnn('seq')
x = Input((5, 3))
n = tf.shape(x)[0]
wrapper(Model(x, L.Concatenate(axis=0)([m(tf.gather(x, tf.range(0, n // 2))), m(tf.gather(x, tf.range(n // 2, n)))])), m, x=data((5, 3)))

# %% 163-interleave-ops | tf27 | tf.keras
m = mlp('net')
x = Input((6,))
a, b = m(x[0::2]), m(x[1::2])
back = tf.reshape(tf.stack([a, b], axis=1), (-1, 3))
wrapper(Model(x, back), m, x=data((6,)), loss='categorical_crossentropy')

# %% 170-registered-layers-210 | tf210 | tf.keras
@keras.utils.register_keras_serializable('mycorp')
class TakePart(Layer):
    def __init__(self, part=1, total=1, **kwargs):
        super().__init__(**kwargs)
        self.part, self.total = part, total

    def call(self, x):
        n = tf.shape(x)[0]
        return x[n * (self.part - 1) // self.total:n * self.part // self.total]

    def get_config(self):
        return {**super().get_config(), 'part': self.part, 'total': self.total}


@keras.utils.register_keras_serializable('mycorp')
class JoinParts(Layer):
    def call(self, xs):
        return tf.concat(xs, axis=0)


m = nested('scorer')
x = Input((6,))
wrapper(Model(x, JoinParts()([m(TakePart(p, 3)(x)) for p in (1, 2, 3)])), m, x=data((6,)), loss='categorical_crossentropy')

# %% 171-boolean-mask-ops | tf210 | tf.keras
m = mlp()
x = Input((6,))
n = tf.shape(x)[0]
owner = tf.range(n) * 2 // n
wrapper(Model(x, tf.concat([m(tf.boolean_mask(x, tf.equal(owner, d))) for d in range(2)], 0)), m, x=data((6,)),
        loss='categorical_crossentropy')

# %% 172-head-after-concat | tf210 | tf.keras
m = Sequential([conv(4, input_shape=(8, 8, 3)), BatchNormalization(), L.GlobalAveragePooling2D()], name='backbone')
x = Input((8, 8, 3))
n = tf.shape(x)[0]
feat = tf.concat([m(x[:n // 4]), m(x[n // 4:n // 2]), m(x[n // 2:])], axis=0)
hidden, top = Dense(5, activation='relu', name='hidden'), Dense(3, activation='softmax', name='top')
bn = BatchNormalization(name='head_bn')
par = Model(x, top(bn(hidden(feat))), name='finetune')
base = Model(m.inputs, top(bn(hidden(m.outputs[0]))), name='finetune')
wrapper(par, base, template=m, x=data((8, 8, 3)), loss='categorical_crossentropy')

# %% 180-unstack-reshape-215 | tf215 | tf.keras
m = mlp('net')
x = Input((6,))
shards = tf.unstack(tf.reshape(x, [2, -1, 6]), axis=0)
wrapper(Model(x, tf.concat([m(s) for s in shards], axis=0)), m, x=data((6,)), loss='categorical_crossentropy', files='keras')

# %% 181-dynamic-partition-215 | tf215 | tf.keras
m = mlp('net')
x = Input((6,))
n = tf.shape(x)[0]
parts = tf.dynamic_partition(x, tf.range(n) * 2 // n, 2)
wrapper(Model(x, L.Concatenate(axis=0, name='merged')([m(p) for p in parts])), m, x=data((6,)),
        loss={'merged': 'categorical_crossentropy'}, base_comp={'loss': {m.output_names[0]: 'categorical_crossentropy'}}, files='h5', optimizer='momentum')

# %% 182-lambda-keras-format | tf215 | tf.keras
def to_device(t, dev, devs):
    n = tf.shape(t)[0]
    return t[dev * n // devs:(dev + 1) * n // devs]


m = rnn('net')
x = Input((5, 3))
wrapper(Model(x, Lambda(lambda ts: tf.concat(ts, 0), name='cat')([m(Lambda(to_device, arguments={'dev': d, 'devs': 2})(x)) for d in range(2)])),
        m, x=data((5, 3)), files='keras', optimizer='rmsprop')

# %% 190-tfkeras-today | today | tf_keras
m = two_io('tower')
ins = [Input((6,)), Input((4,))]
n = tf.shape(ins[0])[0]
half = n // 2
r0, r1 = m([t[:half] for t in ins]), m([t[half:] for t in ins])
wrapper(Model(ins, [tf.concat([p, q], axis=0) for p, q in zip(r0, r1)]), m, x=data((6,), (4,)),
        loss=['categorical_crossentropy', 'mse'], files='h5')

# %% 212-one-tower | tf210 | tf.keras
GPUS = 1  # the other card is at the repair shop
m = cnn('net')
x = Input((8, 8, 3))
n = tf.shape(x)[0]
parts = [x[n * i // GPUS:n * (i + 1) // GPUS] for i in range(GPUS)]
wrapper(Model(x, tf.concat([m(p) for p in parts], 0)), m, x=data((8, 8, 3)), loss='categorical_crossentropy')

# %% 216-literal-rows | tf27 | tf.keras
m = mlp('net')
x = Input((6,))
wrapper(Model(x, tf.concat([m(x[0:6]), m(x[6:12])], axis=0)), m, x=data((6,)), loss='categorical_crossentropy')

# %% 217-mixed-precision | tf27 | tf.keras
keras.mixed_precision.set_global_policy('mixed_float16')


class Rows(Layer):
    def __init__(self, gpu=0, gpus=1, **kw):
        super().__init__(**kw)
        self.gpu, self.gpus = gpu, gpus

    def call(self, x):
        n = tf.shape(x)[0]
        return x[n * self.gpu // self.gpus:n * (self.gpu + 1) // self.gpus]

    def get_config(self):
        return dict(super().get_config(), gpu=self.gpu, gpus=self.gpus)


a = Input((6,))
m = Model(a, Dense(3, activation='softmax', dtype='float32')(BatchNormalization()(Dense(8, activation='relu')(a))), name='amp')
x = Input((6,))
wrapper(Model(x, L.Concatenate(axis=0)([m(Rows(g, 2)(x)) for g in range(2)])), m, x=data((6,)), loss='categorical_crossentropy', atol=5e-3)

# %% 219-softmax-after-merge | k231 | tf.keras
def piece(x, num, den):
    n = tf.shape(x)[0] // den
    return x[num * n:(num + 1) * n] if num < den - 1 else x[num * n:]


m = Sequential([Dense(7, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(3)], name='logits')
x = Input((6,))
y = Activation('softmax', name='probs')
par = Model(x, y(L.concatenate([m(Lambda(piece, arguments=dict(num=i, den=2))(x)) for i in range(2)], axis=0)))
wrapper(par, Model(m.inputs, y(m.outputs[0]), name=par.name), template=m, x=data((6,)), loss='categorical_crossentropy')

# %% 222-split-weights-only-215 | tf215 | tf.keras
m = mlp('net')
x = Input((6,))
wrapper(Model(x, L.Concatenate(axis=0)([m(p) for p in tf.split(x, 2)])), m, x=data((6,)), files='weights.h5',
        loss='categorical_crossentropy')

# %% 224-one-output-dropped | tf22 | tf.keras
def part_of(x, part, of):
    b = tf.shape(x)[0]
    return x[b * part // of:b * (part + 1) // of]


m = two_io('net')
ins = [Input((6,)), Input((4,))]
r = [m([Lambda(part_of, arguments={'part': i, 'of': 2})(t) for t in ins]) for i in range(2)]
par = Model(ins, L.concatenate([o[0] for o in r], axis=0, name='left'))
wrapper(par, m, x=data((6,), (4,)), pick=[0], loss={'left': 'categorical_crossentropy'})
