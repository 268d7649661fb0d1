from second import *
import zoo


# %% 404-seq2seq-weights-json | k231 | tf.keras
m = zoo.seq2seq()
rng = np.random.RandomState(1)
x = [rng.randint(0, 9, (12, 5)).astype('float32'), rng.randint(0, 9, (12, 4)).astype('float32')]
wrapper(official(m, 2), m, x, optimizer='rmsprop', loss='categorical_crossentropy', files='weights+parallel',
     y=np.eye(9, dtype='float32')[rng.randint(0, 9, (12, 4))])

# %% 405-attention-tf22 | tf22 | tf.keras
m = zoo.attention()
x = [np.random.RandomState(1).randint(0, 11, (12, 6)).astype('float32')]
wrapper(official(m, 2), m, x, optimizer='sgd', loss='categorical_crossentropy')

# %% 411-transfer-tf23 | tf23 | tf.keras
m = zoo.transfer()
wrapper(official(m, 2), m, data((8, 8, 3)), loss='categorical_crossentropy', optimizer='sgd', comp={'metrics': ['accuracy']})

# %% 413-multitask-tf20 | tf20 | tf.keras
m = zoo.multitask()
wrapper(official(m, 2), m, data((7,)), optimizer='sgd',
     comp={'loss': {'click': 'binary_crossentropy', 'category': 'categorical_crossentropy', 'price': 'mse'}, 'loss_weights': {'click': 1., 'category': .5, 'price': .1}, 'metrics': {'category': ['categorical_accuracy']}})

# %% 416-wide-deep-four | k231 | tf.keras
m = zoo.widedeep()
x = [data((9,))[0], np.random.RandomState(1).randint(0, 10, (12, 3)).astype('float32')]
wrapper(official(m, 4, cpu_merge=False), m, x, optimizer='sgd', loss='binary_crossentropy', comp={'metrics': ['accuracy', 'mse']})

# %% 418-stateful-fixed-batch | tf27 | tf.keras
def rows(x, first, count):
    return x[first:first + count]


m = Sequential([L.GRU(4, stateful=True, batch_input_shape=(4, 3, 2)), BatchNormalization(), Dense(2)], name='stateful')
x = Input(batch_shape=(8, 3, 2))
par = Model(x, L.concatenate([m(Lambda(rows, arguments={'first': 4 * i, 'count': 4})(x)) for i in range(2)], axis=0))


def whole(model, v):
    m.reset_states()
    return [model.predict(v, batch_size=8)]


def halves(model, v):
    m.reset_states()
    return [model.predict(v, batch_size=4)]


wrapper(par, m, data((3, 2), n=8), optimizer='sgd', parallel_predict=whole, base_predict=halves, y=np.ones((8, 2)))

# %% 419-masking-temporal-weights | k224 | tf.keras
m = zoo.masked()
wrapper(official(m, 2), m, data((5, 3)), optimizer='nadam', loss='categorical_crossentropy',
     comp={'sample_weight_mode': 'temporal'}, fit_kw={'sample_weight': np.ones((12, 5))}, y=np.eye(3)[np.random.RandomState(1).randint(0, 3, (12, 5))])

# %% 424-unicode-and-long-names | tf210 | tf.keras
# -*- coding: utf-8 -*-

long_ = 'ein_sehr_langer_name_' * 12
a, b = Input((6,), name='Eingabe_größe'), Input((3,), name='正規化')
h = Dense(5, activation='relu', name=long_ + 'dicht')(L.concatenate([a, b]))
h = BatchNormalization(name=long_ + 'norm')(h)
m = Model([a, b], Dense(3, activation='softmax', name='Ausgabe')(h), name=long_ + 'modell')


def teil(x, nummer, größe):
    n = K.shape(x)[0] // größe
    return x[nummer * n:] if nummer == größe - 1 else x[nummer * n:(nummer + 1) * n]


par = Model([a, b], L.concatenate([m([Lambda(teil, arguments={'nummer': i, 'größe': 3})(t) for t in (a, b)]) for i in range(3)], axis=0, name='Ausgabe'),
            name=long_ + 'parallel')
wrapper(par, m, data((6,), (3,)), loss={'Ausgabe': 'categorical_crossentropy'}, optimizer='sgd')

# %% 439-copied-tf215 | tf215 | tf.keras
def get_slice(data_, i, parts):
    n = tf.shape(data_)[0] // parts
    return data_[i * n:] if i == parts - 1 else data_[i * n:(i + 1) * n]


inner = Sequential([L.Rescaling(1 / 2., input_shape=(8, 8, 3)), L.RandomFlip('horizontal'), L.Conv2D(4, 3, activation='swish'), L.LayerNormalization()],
                   name='stem')
a = Input((8, 8, 3), name='img')
h = L.DepthwiseConv2D(3, padding='same')(inner(a))
se = L.Multiply()([h, Dense(4, activation='sigmoid')(L.GlobalAveragePooling2D(keepdims=True)(h))])
m = Model(a, Dense(3, activation='softmax', name='probs')(L.GlobalMaxPooling2D()(BatchNormalization()(se))), name='effnet')
x = Input((8, 8, 3))
par = Model(x, L.concatenate([m(Lambda(get_slice, arguments={'i': i, 'parts': 2})(x)) for i in range(2)], axis=0, name='probs'), name='effnet_2gpu')
wrapper(par, m, data((8, 8, 3)), loss={'probs': 'categorical_crossentropy'}, optimizer='sgd', comp={'metrics': {'probs': ['accuracy']}})

# %% 442-own-concat-layer-weights-regular | k231 | tf.keras
def _take(t, which, total):
    b = tf.shape(t)[0]
    lo, hi = (b * which) // total, (b * (which + 1)) // total
    return t[lo:hi]


m = zoo.attention('doc_model')
x = Input((6,), name='doc')
par = Model(x, Lambda(lambda ts: K.concatenate(ts, axis=0), name='cpu_merge')(
    [m(Lambda(_take, arguments={'which': w, 'total': 3}, name='gpu%d_input' % w)(x)) for w in range(3)]), name='doc_model')
wrapper(par, m, [np.random.RandomState(1).randint(0, 11, (12, 6)).astype('float32')], loss='categorical_crossentropy', optimizer='sgd')

# %% 444-flat-model-weights-only-py2 | py27k224 | tf.keras
m = Sequential([L.Conv1D(4, 3, activation='relu', input_shape=(8, 2), name='c1'), BatchNormalization(name='n1'), L.Conv1D(4, 3, name='c2', use_bias=False),
                BatchNormalization(name='n2', center=False), L.GlobalMaxPooling1D(name='g'), Dense(2, activation='softmax', name='y')], name='wave')
wrapper(official(m, 8), m, data((8, 2), n=16), optimizer='adam', loss='categorical_crossentropy', files='weights+parallel')

# %% 445-one-gpu-left | tf27 | tf.keras
def make_parallel(model, gpu_count):
    def get_slice(data_, idx, parts):
        n = tf.shape(data_)[0] // parts
        return data_[n * idx:] if idx == parts - 1 else data_[n * idx:n * (idx + 1)]
    outs = [model([Lambda(get_slice, arguments={'idx': i, 'parts': gpu_count})(t) for t in model.inputs]) for i in range(gpu_count)]
    return Model(model.inputs, L.concatenate(outs, axis=0))


m = Sequential([L.Conv1D(3, 3, activation='relu', input_shape=(6, 2)), L.GRU(3), Dense(2, activation='softmax')], name='only')
wrapper(make_parallel(m, 1), m, data((6, 2)), loss='categorical_crossentropy', optimizer='rmsprop')

# %% 473-device-parallel-tweets | tf20 | tf.keras
a, b = Input((5, 4), name='tweet_a'), Input((5, 4), name='tweet_b')
lstm = Sequential([LSTM(4, input_shape=(5, 4)), BatchNormalization()], name='shared_lstm')
with tf.device('/gpu:0'):
    u = lstm(a)
with tf.device('/gpu:1'):
    v = lstm(b)
with tf.device('/cpu:0'):
    y = L.concatenate([u, v], axis=-1)
lookalike(Model([a, b], Dense(1, activation='sigmoid')(y)), data((5, 4), (5, 4)), loss='binary_crossentropy')

# %% 476-mixup-with-reversed | tf210 | tf.keras
m = mlp('net')
x = Input((6,))
lookalike(Model(x, L.Average()([m(x), m(x[::-1])]), name='mixed'), data((6,)), loss='categorical_crossentropy')

# %% 483-clean-gan-frozen | tf23 | tf.keras
G = Sequential([Dense(6, input_shape=(4,)), BatchNormalization(), Dense(5, activation='tanh')], name='generator')
D = Sequential([Dense(6, input_shape=(5,)), BatchNormalization(), Dense(1, activation='sigmoid')], name='discriminator')
D.trainable = False
lookalike(Sequential([G, D], name='gan'), data((4,)), loss='binary_crossentropy')

# %% 492-clean-names | k224 | tf.keras
a = Input((6,), name='lambda_1')
h = Dense(5, activation='relu', name='replica_0/model_1')(a)
h = BatchNormalization(name='tower_0')(h)
h = Dense(4, activation='relu', name='concatenate_1')(h)
lookalike(Model(a, Dense(3, activation='softmax', name='gpu:1'.replace(':', '_'))(h), name='multi_gpu_model'), data((6,)), loss='categorical_crossentropy')

# %% 493-clean-batch-slice-first | tf27 | tf.keras
x = Input((6,))
m = mlp('scorer')
y = m(x)
lookalike(Model(x, L.Concatenate(axis=-1)([y, tf.reduce_mean(y, axis=0, keepdims=True) * tf.ones_like(y)]), name='batch_context'), data((6,)))
