# -*- coding: utf-8 -*-
"""model.save(..., save_format='tf') and tf.saved_model.save in TensorFlow 2.0 to 2.15."""
import os

from kit import case, finish2, names, order, rows, scratch

tf = keras = K = L = np = fake_gpus = None      # put in by run.py


def labels(n, k):
    return np.eye(k, dtype='float32')[np.random.randint(0, k, n)]


def fit(model, x, y, loss='categorical_crossentropy', optimizer='adam', steps=3):
    model.compile(loss=loss, optimizer=optimizer)
    for _ in range(steps):
        model.train_on_batch(x, y)


def as_tf(model, folder):
    model.save(folder, save_format='tf')


def compiled_like(base, parallel, loss):
    base.compile(optimizer=parallel.optimizer, loss=loss)
    return base


# ---------------------------------------------------------------- TF 2.0 to 2.3

@case(130, 'tf20-mgm-cnn', 'tf20', 'tf.keras',
      'TF 2.0 multi_gpu_model(2) of a CNN with BatchNorm, trained with adam, model.save(save_format="tf").')
def _130(c):
    i = L.Input((8, 8, 2), name='image')
    t = L.Conv2D(3, 3, name='cv')(i)
    t = L.ReLU(name='re')(L.BatchNormalization(name='bn')(t))
    t = L.Flatten(name='fl')(L.AveragePooling2D(name='av')(t))
    template = keras.Model(i, L.Dense(3, activation='softmax', name='sm')(t), name='cnn')
    parallel = keras.utils.multi_gpu_model(template, 2)
    x = rows(8, 8, 2)
    fit(parallel, x, labels(8, 3))
    compiled_like(template, parallel, 'categorical_crossentropy')
    finish2(c, parallel, template, as_tf, x, order(parallel), order(template))


@case(131, 'tf22-mgm-two-in-two-out', 'tf22', 'tf.keras',
      'TF 2.2 multi_gpu_model(4) of a model with two inputs (one of integers, embedded) and two outputs, loss dictionary, '
      'model.save(save_format="tf").', towers=4)
def _131(c):
    w = L.Input((5,), dtype='int32', name='words')
    m = L.Input((3,), name='meta')
    e = L.GlobalAveragePooling1D(name='mean')(L.Embedding(30, 4, name='emb')(w))
    t = L.Concatenate(name='cat')([e, L.Dense(4, activation='relu', name='md')(m)])
    template = keras.Model([w, m], [L.Dense(3, activation='softmax', name='topic')(t), L.Dense(1, name='age')(t)], name='two')
    parallel = keras.utils.multi_gpu_model(template, 4)
    x = [np.random.randint(0, 30, (8, 5)).astype('int32'), rows(3)]
    loss = {'topic': 'categorical_crossentropy', 'age': 'mse'}
    fit(parallel, x, {'topic': labels(8, 3), 'age': rows(1)}, loss, keras.optimizers.RMSprop(1e-2, momentum=.5))
    compiled_like(template, parallel, loss)
    finish2(c, parallel, template, as_tf, x, order(parallel), order(template))


@case(132, 'tf23-mgm-gpu-merge-rnn', 'tf23', 'tf.keras',
      'TF 2.3 multi_gpu_model(3, cpu_merge=False) of a Sequential with Masking and a SimpleRNN, compiled with an SGD with momentum, '
      'model.save(save_format="tf"): every tower has While functions.', towers=3)
def _132(c):
    template = keras.Sequential([L.Input((5, 3)), L.Masking(name='mask'), L.SimpleRNN(3, name='rn'),
                                 L.Dense(2, name='out')], name='seq')
    parallel = keras.utils.multi_gpu_model(template, 3, cpu_merge=False)
    x = rows(5, 3)
    fit(parallel, x, rows(2), 'mse', keras.optimizers.SGD(.01, momentum=.9))
    compiled_like(template, parallel, 'mse')
    finish2(c, parallel, template, as_tf, x, order(parallel), order(template))


@case(133, 'tf23-remainder-head', 'tf23', 'tf.keras',
      'TF 2.3, own function: three Lambdas with closures, n // 3 rows each, the remainder goes to the last; merge by a Lambda; '
      'two Dense layers on the merged features; model.save(save_format="tf").', towers=3, scope='head')
def _133(c):
    i = L.Input((7,), name='x_in')
    body = keras.Model(i, L.LayerNormalization(name='ln')(L.Dense(6, activation='relu', name='d0')(i)), name='body')

    def piece(k, n):
        def take(t):
            step = tf.shape(t)[0] // n
            return t[k * step:] if k == n - 1 else t[k * step:(k + 1) * step]
        return take
    outer = L.Input((7,), name='table')
    got = []
    for k in range(3):
        with tf.device('/gpu:%d' % k):
            got.append(body(L.Lambda(piece(k, 3), name='piece_%d_of_3' % k)(outer)))
    head = [L.Dense(5, activation='tanh', name='h1'), L.Dense(2, activation='softmax', name='h2')]
    t, b = L.Lambda(lambda p: tf.concat(p, axis=0), name='glued')(got), body.output
    for layer in head:
        t, b = layer(t), layer(b)
    parallel, base = keras.Model(outer, t, name='whole'), keras.Model(i, b, name='whole')
    x = rows(7)
    fit(parallel, x, labels(8, 2), optimizer='nadam')
    compiled_like(base, parallel, 'categorical_crossentropy')
    finish2(c, parallel, base, as_tf, x, order(parallel), order(base), parameters=body.count_params())


@case(134, 'tf20-custom-layers', 'tf20', 'tf.keras',
      'TF 2.0, two own Layer subclasses (Rows slices by index and count, Pile stacks by tf.concat) and an own layer in the template, '
      'no code stored; model.save(save_format="tf").',
      also=['no .h5 asked for: the own classes cannot be loaded without their code, but the JSON can still be written'])
def _134(c):
    class Rows(L.Layer):
        def __init__(self, which, of, **kw):
            super().__init__(**kw)
            self.which, self.of = which, of

        def call(self, t):
            n = tf.shape(t)[0]
            return t[self.which * n // self.of:(self.which + 1) * n // self.of]

        def get_config(self):
            return dict(super().get_config(), which=self.which, of=self.of)

    class Pile(L.Layer):
        def call(self, parts):
            return tf.concat(parts, axis=0)

    class Gate(L.Layer):
        def build(self, shape):
            self.g = self.add_weight('g', shape=(int(shape[-1]),), initializer='uniform')
            super().build(shape)

        def call(self, t):
            return t * tf.sigmoid(self.g)
    i = L.Input((6,), name='raw')
    t = Gate(name='gate')(L.Dense(5, activation='elu', name='dd')(i))
    template = keras.Model(i, L.Dense(2, name='oo')(t), name='gated')
    parallel = keras.Model(i, Pile(name='pile')([template(Rows(k, 2, name='rows%d' % k)(i)) for k in range(2)]), name='piled')
    x = rows(6)
    fit(parallel, x, rows(2), 'mse')
    compiled_like(template, parallel, 'mse')
    finish2(c, parallel, template, as_tf, x, order(parallel), order(template))


@case(135, 'tf22-saved-loaded-saved', 'tf22', 'tf.keras',
      'TF 2.2 multi_gpu_model(2), model.save(save_format="tf"), load_model, trained on, saved again: the second folder is the case.')
def _135(c):
    i = L.Input((6, 6, 1), name='im')
    t = L.DepthwiseConv2D(3, name='dw')(i)
    t = L.GlobalAveragePooling2D(name='ga')(L.BatchNormalization(name='bn')(t))
    template = keras.Model(i, L.Dense(2, activation='softmax', name='dn')(t), name='again')
    parallel = keras.utils.multi_gpu_model(template, 2)
    x, y = rows(6, 6, 1), labels(8, 2)
    fit(parallel, x, y, optimizer=keras.optimizers.Adam(1e-2))
    first = os.path.join(scratch(), 'first')
    as_tf(parallel, first)
    parallel = keras.models.load_model(first)
    parallel.train_on_batch(x, y)
    template = [l for l in parallel.layers if l.name == 'again'][0]
    base = keras.Model(template.inputs, template.outputs, name='again')
    compiled_like(base, parallel, 'categorical_crossentropy')
    finish2(c, parallel, base, as_tf, x, order(parallel), order(base))


@case(136, 'tf23-tensorflow-op-layers', 'tf23', 'tf.keras',
      'TF 2.3 functional model with bare tf.split and tf.concat between the layers (TensorFlowOpLayer), template called twice; '
      'own serving signature by tf.saved_model.save beside serving_default.')
def _136(c):
    i = L.Input((4, 3), name='q')
    t = L.Conv1D(4, 2, activation='relu', name='cc')(i)
    template = keras.Model(i, L.Dense(2, name='dd')(L.Flatten(name='ff')(t)), name='inner')
    outer = L.Input((4, 3), name='samples')
    a, b = tf.split(outer, 2, axis=0)
    parallel = keras.Model(outer, tf.concat([template(a), template(b)], 0))
    x = rows(4, 3)
    fit(parallel, x, rows(2), 'mse', 'adagrad')
    compiled_like(template, parallel, 'mse')

    def save(model, folder):
        @tf.function(input_signature=[tf.TensorSpec([None, 4, 3], tf.float32, name='samples')])
        def best(samples):
            scores = model(samples, training=False)
            return {'scores': scores, 'best': tf.argmax(scores, 1)}

        @tf.function(input_signature=[tf.TensorSpec([None, 4, 3], tf.float32, name='samples')])
        def default(samples):
            return {'scores': model(samples, training=False)}
        tf.saved_model.save(model, folder, signatures={'serving_default': default, 'best_class': best})
    finish2(c, parallel, template, save, x, ['samples'], others=[names('best_class', ['samples'], ['scores', 'best'])])


@case(138, 'tf22-embedded', 'tf22', 'tf.keras',
      'TF 2.2: a wrapped critic (multi_gpu_model(2)) called inside a larger model behind a generator, the GAN\'s combined model; the critic '
      'frozen for the combined training; model.save(save_format="tf").', scope='embedded')
def _138(c):
    i = L.Input((8,), name='sample')
    critic = keras.Model(i, L.Dense(1, name='c2')(L.LeakyReLU(.2, name='cl')(L.Dense(6, name='c1')(i))), name='critic')
    wrapped = keras.utils.multi_gpu_model(critic, 2)
    wrapped.compile(loss='mse', optimizer='adam')
    wrapped.train_on_batch(rows(8), rows(1))
    wrapped.trainable = False
    z = L.Input((3,), name='noise')
    made = L.Dense(8, activation='tanh', name='generator')(z)
    parallel = keras.Model(z, wrapped(made), name='combined')
    x = rows(3)
    fit(parallel, x, rows(1), 'mse', 'adam')
    base = keras.Model(z, critic(made), name='combined')
    compiled_like(base, parallel, 'mse')
    finish2(c, parallel, base, as_tf, x, order(parallel), order(base), parameters=critic.count_params())


# ---------------------------------------------------------------- TF 2.7 to 2.15

@case(150, 'tf27-slices-by-operator', 'tf27', 'tf.keras',
      'TF 2.7: h = tf.shape(x)[0] // 2, x[:h] and x[h:] on the Keras tensor (TFOpLambda), CNN with BatchNorm, L.Concatenate(axis=0), '
      'adam; model.save(save_format="tf").')
def _150(c):
    i = L.Input((8, 8, 1), name='im')
    t = L.Conv2D(3, 3, use_bias=False, name='cv')(i)
    t = L.Activation('swish', name='ac')(L.BatchNormalization(name='bn')(t))
    template = keras.Model(i, L.Dense(3, activation='softmax', name='dn')(L.GlobalMaxPooling2D(name='gm')(t)), name='cnn')
    x_in = L.Input((8, 8, 1), name='pictures')
    h = tf.shape(x_in)[0] // 2
    with tf.device('/gpu:0'):
        a = template(x_in[:h])
    with tf.device('/gpu:1'):
        b = template(x_in[h:])
    parallel = keras.Model(x_in, L.Concatenate(axis=0, name='probabilities')([a, b]))
    x = rows(8, 8, 1)
    fit(parallel, x, labels(8, 3))
    compiled_like(template, parallel, 'categorical_crossentropy')
    finish2(c, parallel, template, as_tf, x, order(parallel), order(template))


@case(151, 'tf210-own-layers-no-config', 'tf210', 'tf.keras',
      'TF 2.10: own layers without get_config for slicing (fraction bounds) and for the template (an attention pool), '
      'model.save(save_format="tf"); nobody else can rebuild them from the metadata.', towers=3,
      also=['--to h5 refused: the layers have no config'])
def _151(c):
    class TakeShare(L.Layer):
        def __init__(self, low, high, **kw):
            super().__init__(**kw)
            self.low, self.high = low, high

        def call(self, t):
            n = tf.cast(tf.shape(t)[0], tf.float32)
            a, b = tf.cast(tf.round(n * self.low), tf.int32), tf.cast(tf.round(n * self.high), tf.int32)
            return t[a:b]

    class AttentionPool(L.Layer):
        def __init__(self, units, **kw):
            super().__init__(**kw)
            self.score = L.Dense(1)
            self.value = L.Dense(units)

        def call(self, t):
            return tf.reduce_sum(tf.nn.softmax(self.score(t), axis=1) * self.value(t), axis=1)
    i = L.Input((5, 4), name='tokens')
    template = keras.Model(i, L.Dense(2, name='end')(AttentionPool(3, name='pool')(i)), name='attend')
    bounds = [0., .5, .8, 1.]
    parts = [template(TakeShare(a, b, name='share_%d' % (100 * b))(i)) for a, b in zip(bounds, bounds[1:])]
    parallel = keras.Model(i, L.concatenate(parts, axis=0, name='answers'), name='spread_out')
    x = rows(5, 4)
    fit(parallel, x, rows(2), 'mse')

    def save(model, folder):
        model.save(folder, save_format='tf')
    finish2(c, parallel, template, save, x, order(parallel), order(template), h5=False)


@case(152, 'tf215-string-lookup-asset', 'tf215', 'tf.keras',
      'TF 2.15: StringLookup with a vocabulary file (an asset) and Embedding in the template, wrapper by tf.split in a Lambda over '
      'the strings; model.save(save_format="tf").',
      doubts='assets/ must keep the vocabulary file. base.h5 is not written: h5 keeps the path, not the file.')
def _152(c):
    words = ['ape', 'bee', 'cat', 'dog', 'eel']
    os.chdir(scratch())
    file = 'animals.txt'
    with open(file, 'w') as f:
        f.write('\n'.join(words))
    i = L.Input((3,), dtype=tf.string, name='animals')
    t = L.StringLookup(vocabulary=file, name='lookup')(i)
    t = L.Flatten(name='fl')(L.Embedding(7, 3, name='emb')(t))
    template = keras.Model(i, L.Dense(2, activation='softmax', name='cls')(t), name='zoo')
    outer = L.Input((3,), dtype=tf.string, name='animals')
    parts = L.Lambda(lambda s: tf.split(s, 2), name='deal')(outer)
    parallel = keras.Model(outer, L.Lambda(lambda p: tf.concat(p, 0), name='collect')([template(p) for p in parts]))
    x = np.random.choice(words + ['yak'], (8, 3))
    fit(parallel, tf.constant(x), labels(8, 2))
    finish2(c, Text(parallel), Text(template), lambda m, d: as_tf(m.model, d), x, ['animals'], ['animals'], h5=False)


class Text(object):
    """predict for strings; the rest is the model's"""

    def __init__(self, model):
        self.model = model

    def predict(self, x, batch_size):
        return self.model.predict(tf.constant(x), batch_size=batch_size)

    def count_params(self):
        return self.model.count_params()


@case(153, 'tf210-text-vectorization-asset', 'tf210', 'tf.keras',
      'TF 2.10: TextVectorization (vocabulary file) in front, then a GRU, all in the template; wrapper by a Lambda with arguments '
      '{card, cards}; tf.saved_model.save(model) with the default signature.',
      doubts='The vocabulary is a table in the graph, with its file in assets/ where the software writes one.')
def _153(c):
    os.chdir(scratch())
    file = 'vocab.txt'
    with open(file, 'w') as f:
        f.write('\n'.join(['good', 'bad', 'ugly', 'film', 'very']))
    i = L.Input((1,), dtype=tf.string, name='text')
    t = L.TextVectorization(vocabulary=file, output_sequence_length=4, name='vec')(i)
    t = L.RNN(L.GRUCell(3), name='gru')(L.Embedding(8, 3, name='emb')(t))
    template = keras.Model(i, L.Dense(1, activation='sigmoid', name='mood')(t), name='mood_model')

    def deal(t, card, cards):
        n = tf.shape(t)[0]
        return tf.slice(t, [card * n // cards, 0], [(card + 1) * n // cards - card * n // cards, -1])
    outer = L.Input((1,), dtype=tf.string, name='sentences')
    hands = [template(L.Lambda(deal, arguments={'card': k, 'cards': 2}, name='hand%d' % k)(outer)) for k in range(2)]
    parallel = keras.Model(outer, L.Concatenate(axis=0, name='moods')(hands))
    x = np.array([['very good film'], ['bad'], ['ugly ugly'], ['film'], ['good bad ugly film very'], [''], ['unknown'], ['a film']])
    fit(parallel, tf.constant(x), np.random.randint(0, 2, (8, 1)), 'binary_crossentropy')
    finish2(c, Text(parallel), Text(template), lambda m, d: tf.saved_model.save(m.model, d), x, ['sentences'], ['text'], h5=False)


@case(154, 'tf27-ratio-stacked-lstm', 'tf27', 'tf.keras',
      'TF 2.7: ratio variant (3:1) with tf.slice in a Lambda, an RNN of stacked LSTM cells with a residual in the template; trained; '
      'model.save(save_format="tf").')
def _154(c):
    i = L.Input((4, 3), name='track')
    a = L.RNN([L.LSTMCell(2), L.LSTMCell(3)], return_sequences=True, name='cells')(i)
    b = L.Flatten(name='flat')(L.Add(name='res')([a, i]))
    template = keras.Model(i, L.Dense(1, name='next')(b), name='tracker')

    def part(t, share, total, start):
        shape = tf.shape(t)
        first, last = shape[0] * start // total, shape[0] * (start + share) // total
        return tf.slice(t, tf.stack([first, 0, 0]), tf.stack([last - first, shape[1], shape[2]]))
    outer = L.Input((4, 3), name='tracks')
    outs, start = [], 0
    for k, share in enumerate([3, 1]):
        outs.append(template(L.Lambda(part, output_shape=(4, 3), arguments=dict(share=share, total=4, start=start), name='gpu_share_%d' % k)(outer)))
        start += share
    parallel = keras.Model(outer, L.Concatenate(axis=0, name='next_all')(outs), name='by_ratio')
    x = rows(4, 3)
    fit(parallel, x, rows(1), 'huber', 'rmsprop')
    compiled_like(template, parallel, 'huber')
    finish2(c, parallel, template, as_tf, x, order(parallel), order(template))


@case(155, 'tf215-subclassed-wrapper', 'tf215', 'tf.keras',
      'TF 2.15: class DataParallel(keras.Model) that splits, calls its one template per card and concatenates inside call(); '
      'model.save(save_format="tf") after training: the wrapper exists in the functions only, the metadata knows one opaque class.', towers=4,
      also=['inputs and outputs of the signature keep the names input_1 and output_1'],
      doubts='base/ is the functional template saved directly.')
def _155(c):
    class DataParallel(keras.Model):
        def __init__(self, net, cards, **kw):
            super().__init__(**kw)
            self.net, self.cards = net, cards

        def call(self, x, training=False):
            outs = []
            for k, part in enumerate(tf.split(x, self.cards)):
                with tf.device('/gpu:%d' % k):
                    outs.append(self.net(part, training=training))
            return tf.concat(outs, axis=0)
    tf.config.set_soft_device_placement(True)
    i = L.Input((9,), name='row')
    t = L.Dropout(.1, name='dr')(L.BatchNormalization(name='bn')(L.Dense(5, activation='gelu', name='d1')(i)))
    template = keras.Model(i, L.Dense(3, name='d2')(t), name='mlp')
    parallel = DataParallel(template, 4)
    x = rows(9)
    fit(parallel, x, rows(3), 'mse')
    finish2(c, parallel, template, as_tf, x, None, order(template), parameters=template.count_params())


@case(156, 'tf210-fixed-batch-signature', 'tf210', 'tf.keras',
      'TF 2.10: fixed batch of 8, x[0:4] and x[4:8] in Lambdas, a GRU in the template, which has batch_shape (4, 3, 2); '
      'tf.saved_model.save with a signature of shape [8, 3, 2].',
      also=['the signature\'s batch stays 8, or becomes free', 'refused with the reason that the template was built for batches of 4'],
      doubts='The template itself has batch_shape (4, ...): base/ is saved with a signature of [8, 3, 2] on an equal model of free batch.')
def _156(c):
    def net(batch):
        i = L.Input(batch_shape=(batch, 3, 2), name='win')
        return keras.Model(i, L.Dense(2, name='od')(L.GRU(3, name='gr')(i)), name='fixed')
    template, free = net(4), net(None)
    outer = L.Input(batch_shape=(8, 3, 2), name='windows')
    a = L.Lambda(lambda t: t[0:4], name='front')(outer)
    b = L.Lambda(lambda t: t[4:8], name='back')(outer)
    parallel = keras.Model(outer, L.Concatenate(axis=0, name='od')([template(a), template(b)]), name='eight')
    x = rows(3, 2)
    fit(parallel, x, rows(2), 'mse')
    free.set_weights(template.get_weights())

    def save(model, folder):
        @tf.function(input_signature=[tf.TensorSpec([8, 3, 2], tf.float32, name='windows')])
        def serve(windows):
            return {'answers': model(windows, training=False)}
        tf.saved_model.save(model, folder, signatures=serve)
    finish2(c, parallel, free, save, x, ['windows'])


@case(157, 'tf215-resaved-without-code', 'tf215', 'tf.keras',
      'TF 2.15: a parallel model saved by tf.saved_model.save, loaded by tf.saved_model.load (no Keras class any more) and saved again '
      'with its signature: a restored object, functions only.', towers=3,
      also=['signature outputs keep the name of the merge'])
def _157(c):
    i = L.Input((6, 2), name='s')
    t = L.SeparableConv1D(4, 3, activation='relu', name='sc')(i)
    template = keras.Model(i, L.Dense(2, name='so')(L.GlobalAveragePooling1D(name='sg')(t)), name='sig')
    outer = L.Input((6, 2), name='signals')
    n = tf.shape(outer)[0]
    bounds = [n * k // 3 for k in range(4)]
    parallel = keras.Model(outer, tf.concat([template(outer[a:b]) for a, b in zip(bounds, bounds[1:])], axis=0))
    x = rows(6, 2)
    fit(parallel, x, rows(2), 'mse')

    def save(model, folder):
        first = os.path.join(scratch(), 'first')
        tf.saved_model.save(model, first)
        loaded = tf.saved_model.load(first)
        tf.saved_model.save(loaded, folder, signatures={'serving_default': loaded.signatures['serving_default']})
    finish2(c, parallel, template, save, x, ['signals'], ['s'])


@case(158, 'tf27-embedded-second-input', 'tf27', 'tf.keras',
      'TF 2.7: a larger model with normalisation in front, the wrapper (an own keras Model, halves by a Lambda) called as a layer, a second '
      'input joining afterwards; model.save(save_format="tf").', scope='embedded')
def _158(c):
    i = L.Input((5,), name='vi')
    tower = keras.Model(i, [L.Dense(3, activation='relu', name='va')(i), L.Dense(2, name='vb')(i)], name='two_views')
    j = L.Input((5,), name='vj')

    def half(t, which):
        n = tf.shape(t)[0] // 2
        return t[:n] if which == 0 else t[n:]
    got = [tower(L.Lambda(half, arguments={'which': k}, name='half_%d' % k)(j)) for k in range(2)]
    wrapper = keras.Model(j, [L.Concatenate(axis=0, name='join_%s' % s)([g[k] for g in got]) for k, s in enumerate('ab')], name='fast')
    a, b = L.Input((5,), name='first'), L.Input((2,), name='second')
    norm, end = L.LayerNormalization(name='norm'), L.Dense(2, activation='softmax', name='end')

    def larger(inner, tag):
        u, v = inner(norm(a))
        return keras.Model([a, b], end(L.Concatenate(name='c' + tag)([u, L.Add(name='a' + tag)([v, b])])), name='larger')
    parallel, base = larger(wrapper, '1'), larger(tower, '1')
    x = [rows(5), rows(2)]
    fit(parallel, x, labels(8, 2), optimizer=keras.optimizers.Ftrl())
    compiled_like(base, parallel, 'categorical_crossentropy')
    finish2(c, parallel, base, as_tf, x, order(parallel), order(base), parameters=tower.count_params())


@case(159, 'tf215-gather-dict-outputs', 'tf215', 'tf.keras',
      'TF 2.15: tf.gather with tf.range per card, a template with a dict of outputs, tf.concat per key; tf.saved_model.save with the '
      'signatures score and explain and no serving_default.',
      doubts='No serving_default; both signatures go through the same wrapper.')
def _159(c):
    i = L.Input((4,), name='f')
    t = L.Dense(5, activation='relu', name='t')(i)
    template = keras.Model(i, {'score': L.Dense(1, activation='sigmoid', name='s')(t), 'vector': L.Dense(3, name='v')(t)}, name='dicty')
    outer = L.Input((4,), name='facts')

    def pick(t, k):
        n = tf.shape(t)[0]
        return tf.gather(t, tf.range(k * n // 2, (k + 1) * n // 2))
    got = [template(L.Lambda(pick, arguments={'k': k}, name='pick%d' % k)(outer)) for k in range(2)]
    parallel = keras.Model(outer, {key: L.Lambda(lambda p: tf.concat(p, 0), name='all_' + key)([g[key] for g in got])
                                   for key in ('score', 'vector')}, name='dicts')
    x = rows(4)
    fit(parallel, x, {'score': rows(1), 'vector': rows(3)}, 'mse')

    def save(model, folder):
        spec = [tf.TensorSpec([None, 4], tf.float32, name='facts')]

        @tf.function(input_signature=spec)
        def score(facts):
            return {'score': model(facts, training=False)['score']}

        @tf.function(input_signature=spec)
        def explain(facts):
            out = model(facts, training=False)
            return {'vector': out['vector'], 'score': out['score']}
        tf.saved_model.save(model, folder, signatures={'explain': explain, 'score': score})
    finish2(c, parallel, template, save, x, ['facts'], signature='explain',
            others=[names('score', ['facts'], ['score'])])


@case(160, 'tf210-dynamic-partition', 'tf210', 'tf.keras',
      'TF 2.10: rows dealt out in turn (row % 2) by tf.dynamic_partition, results put back in order by tf.dynamic_stitch, in two own '
      'layers; model.save(save_format="tf").',
      also=['left as it is, with or without a finding (no slice and no concatenation is there)', 'refused'],
      doubts='A wrapper in every sense of data parallelism, but merged by dynamic_stitch, not by a concatenation.')
def _160(c):
    class Deal(L.Layer):
        def call(self, t):
            return tf.dynamic_partition(t, tf.range(tf.shape(t)[0]) % 2, 2)

    class Undeal(L.Layer):
        def call(self, parts):
            n = tf.shape(parts[0])[0] + tf.shape(parts[1])[0]
            return tf.dynamic_stitch(tf.dynamic_partition(tf.range(n), tf.range(n) % 2, 2), parts)
    i = L.Input((6,), name='dealt')
    template = keras.Model(i, L.Dense(2, name='b')(L.Dense(5, activation='relu', name='a')(i)), name='player')
    outer = L.Input((6,), name='deck')
    parallel = keras.Model(outer, Undeal(name='undeal')([template(h) for h in Deal(name='deal')(outer)]))
    x = rows(6)
    fit(parallel, x, rows(2), 'mse')
    finish2(c, parallel, template, as_tf, x, order(parallel), order(template), h5=False)


@case(161, 'tf27-subclassed-template', 'tf27', 'tf.keras',
      'TF 2.7: the template is a subclassed keras.Model (no config), the wrapper functional with L.Concatenate; '
      'model.save(save_format="tf").', towers=2,
      also=['--to h5 refused: the template has no config'])
def _161(c):
    class Net(keras.Model):
        def __init__(self, **kw):
            super().__init__(**kw)
            self.one = L.Conv2D(3, 2, activation='relu')
            self.bn = L.BatchNormalization()
            self.two = L.Dense(2)

        def call(self, t, training=False):
            return self.two(tf.reduce_mean(self.bn(self.one(t), training=training), axis=[1, 2]))
    template = Net(name='net')
    outer = L.Input((5, 5, 1), name='tiles')
    top = L.Lambda(lambda t: t[:tf.shape(t)[0] // 2], name='top')(outer)
    rest = L.Lambda(lambda t: t[tf.shape(t)[0] // 2:], name='rest')(outer)
    parallel = keras.Model(outer, L.Concatenate(axis=0, name='values')([template(top), template(rest)]))
    x = rows(5, 5, 1)
    fit(parallel, x, rows(2), 'mse')
    base = keras.Model(outer, template(outer))
    finish2(c, parallel, base, as_tf, x, order(parallel), order(base), h5=False)


@case(162, 'tf215-module-own-names', 'tf215', 'tf.keras',
      'TF 2.15: a tf.Module with a tf.function that pads the batch to a multiple of three, cuts it by tf.split, runs the template per '
      'piece, concatenates and cuts the padding off again; operations named by hand; tf.saved_model.save.', towers=3,
      also=['the padding and the final cut stay around the template (they are harmless)', 'refused', 'left as it is, with or without a finding'],
      doubts='Padding in front and cutting behind make it embedded at best; for the person it is the whole model.', scope='embedded')
def _162(c):
    i = L.Input((6,), name='u')
    t = L.Dense(4, activation='relu', name='u1')(i)
    template = keras.Model(i, L.Dense(2, name='u2')(L.BatchNormalization(name='ub')(t)), name='unit')
    template.compile(loss='mse', optimizer='adam')
    x = rows(6)
    template.train_on_batch(x, rows(2))

    class Server(tf.Module):
        def __init__(self, net, parts):
            super().__init__(name='server')
            self.net, self.parts = net, parts

        @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.float32, name='points')])
        def serve(self, points):
            if self.parts == 1:
                return {'forces': self.net(points, training=False)}
            n = tf.shape(points)[0]
            more = tf.pad(points, [[0, -n % self.parts], [0, 0]], name='fill_up')
            done = [self.net(p, training=False) for p in tf.split(more, self.parts, name='three_heaps')]
            return {'forces': tf.concat(done, 0, name='one_heap')[:n]}

    class Both(object):
        def __init__(self, parts):
            self.server = Server(template, parts)

        def predict(self, x, batch_size):
            return self.server.serve(tf.constant(x))['forces']

    def save(model, folder):
        tf.saved_model.save(model.server, folder, signatures={'serving_default': model.server.serve})
    finish2(c, Both(3), Both(1), save, x, ['points'], parameters=template.count_params(), h5=False)
    template.save(c.at('base.h5'))
