# -*- coding: utf-8 -*-
"""model.export and tf.saved_model.save by Keras 3 and tf_keras on TensorFlow 2.21."""
import os

from kit import case, finish2, names, order, rows, scratch

tf = keras = K = L = np = fake_gpus = None      # put in by run.py


def labels(n, k):
    return np.eye(k, dtype='float32')[np.random.randint(0, k, n)]


def fit(model, x, y, loss='categorical_crossentropy', optimizer='adam', steps=3):
    model.compile(loss=loss, optimizer=optimizer)
    for _ in range(steps):
        model.train_on_batch(x, y)


def export(model, folder):
    if keras.__version__ >= '3':
        model.export(folder, verbose=False)
    else:
        model.export(folder)


@case(170, 'k3-export-ops-split', 'tf221', 'keras 3',
      'Keras 3: keras.ops.split(x, 2) and keras.ops.concatenate around a CNN with BatchNorm called twice; model.export.')
def _170(c):
    i = L.Input((8, 8, 1), name='im')
    t = L.Conv2D(3, 3, name='cv')(i)
    t = L.BatchNormalization(name='bn')(t)
    template = keras.Model(i, L.Dense(3, activation='softmax', name='dn')(L.GlobalAveragePooling2D(name='gp')(t)), name='cnn')
    outer = L.Input((8, 8, 1), name='images')
    a, b = keras.ops.split(outer, 2, axis=0)
    parallel = keras.Model(outer, keras.ops.concatenate([template(a), template(b)], axis=0), name='both')
    x = rows(8, 8, 1)
    fit(parallel, x, labels(8, 3))
    finish2(c, parallel, template, export, x)


@case(171, 'k3-export-own-layers-rnn', 'tf221', 'keras 3',
      'Keras 3: own layers for slicing (share of a total, last takes the rest) and joining, a stacked-cell RNN template '
      '(While), three parts; model.export.', towers=3)
def _171(c):
    class BatchShare(L.Layer):
        def __init__(self, first, last, total, **kw):
            super().__init__(**kw)
            self.first, self.last, self.total = first, last, total

        def call(self, t):
            n = keras.ops.shape(t)[0]
            return t[n * self.first // self.total:n * self.last // self.total]

        def compute_output_shape(self, shape):
            return (None,) + tuple(shape[1:])

    class Rejoin(L.Layer):
        def call(self, parts):
            return keras.ops.concatenate(parts, axis=0)
    i = L.Input((4, 3), name='steps')
    t = L.RNN([L.GRUCell(3), L.SimpleRNNCell(2)], name='cells')(i)
    template = keras.Model(i, L.Dense(1, name='o')(t), name='rnn')
    outer = L.Input((4, 3), name='series')
    edges = [0, 2, 3, 6]
    parallel = keras.Model(outer, Rejoin(name='rejoin')(
        [template(BatchShare(a, b, 6, name='from_%d' % a)(outer)) for a, b in zip(edges, edges[1:])]))
    x = rows(4, 3)
    fit(parallel, x, rows(1), 'mse', keras.optimizers.Lion(1e-3))
    finish2(c, parallel, template, export, x)


@case(172, 'k3-export-archive-fixed-batch', 'tf221', 'keras 3',
      'Keras 3 ExportArchive with two endpoints of a fixed batch of 8 (serve and scores_and_code): the model cuts x[0:4, :] and x[4:8, :]; '
      'template with two outputs.',
      also=['the signatures\' batch stays 8, or becomes free'],
      doubts='base/ is saved with the same endpoints of batch 8.')
def _172(c):
    i = L.Input((6,), name='f')
    t = L.Dense(4, activation='tanh', name='code')(i)
    template = keras.Model(i, [L.Dense(2, name='scores')(t), t], name='coder')
    outer = L.Input(batch_shape=(8, 6), name='facts')
    got = [template(outer[0:4, :]), template(outer[4:8, :])]
    parallel = keras.Model(outer, [L.Concatenate(axis=0, name='join_%d' % k)([g[k] for g in got]) for k in range(2)])
    x = rows(6)
    fit(parallel, x, [rows(2), rows(4)], ['mse', 'mse'])

    def save(model, folder):
        a = keras.export.ExportArchive()
        a.track(model)
        spec = [tf.TensorSpec([8, 6], tf.float32, name='facts')]
        a.add_endpoint('serve', lambda facts: {'scores': model(facts, training=False)[0], 'code': model(facts, training=False)[1]}, spec)
        a.add_endpoint('only_scores', lambda facts: {'scores': model(facts, training=False)[0]}, spec)
        a.write_out(folder, verbose=False)
    finish2(c, parallel, template, save, x, ['facts'], signature='serve',
            others=[names('only_scores', ['facts'], ['scores'])])


@case(173, 'tfk-export-closures', 'tf221', 'tf_keras',
      'tf_keras 2.21: three Lambdas with closures, separable CNN with a residual, L.Concatenate(axis=0, name=...); model.export.',
      towers=3)
def _173(c):
    i = L.Input((6, 6, 2), name='im')
    t = L.SeparableConv2D(2, 3, padding='same', name='sc')(i)
    t = L.Add(name='ad')([t, i])
    template = keras.Model(i, L.Dense(2, name='dn')(L.GlobalMaxPooling2D(name='gm')(t)), name='resnetlet')

    def nth(k):
        return lambda t: t[tf.shape(t)[0] * k // 3:tf.shape(t)[0] * (k + 1) // 3]
    outer = L.Input((6, 6, 2), name='ims')
    parallel = keras.Model(outer, L.Concatenate(axis=0, name='logits')(
        [template(L.Lambda(nth(k), name='third_%d' % k)(outer)) for k in range(3)]))
    x = rows(6, 6, 2)
    fit(parallel, x, rows(2), 'mse', 'adamw')
    finish2(c, parallel, template, export, x, order(parallel), order(template))


@case(174, 'tfk-tf-save-multi-output', 'tf221', 'tf_keras',
      'tf_keras: two inputs and two outputs, L.Lambda(tf.split) for each input, tf.concat per output (TFOpLambda); '
      'lower layers frozen; tf.saved_model.save(model).')
def _174(c):
    a, b = L.Input((4,), name='a'), L.Input((3, 2), name='b')
    u = L.Dense(4, activation='relu', name='u', trainable=False)(a)
    v = L.Conv1D(4, 2, name='v')(b)
    t = L.Dot(axes=(1, 2), name='match')([u, v])
    template = keras.Model([a, b], [L.Dense(1, name='p')(t), L.Dense(2, name='q')(t)], name='matcher')
    one, two = L.Input((4,), name='left'), L.Input((3, 2), name='right')
    ls = L.Lambda(lambda t: tf.split(t, 2), name='cut_left')(one)
    rs = L.Lambda(lambda t: tf.split(t, 2), name='cut_right')(two)
    got = [template([l, r]) for l, r in zip(ls, rs)]
    parallel = keras.Model([one, two], [tf.concat([g[k] for g in got], 0) for k in range(2)])
    x = [rows(4), rows(3, 2)]
    fit(parallel, x, [rows(1), rows(2)], 'mse')
    finish2(c, parallel, template, lambda m, d: tf.saved_model.save(m, d), x, ['left', 'right'], ['a', 'b'])


@case(175, 'k3-string-lookup-assets', 'tf221', 'keras 3',
      'Keras 3: StringLookup (vocabulary file) and Embedding in the template, the strings cut by a Lambda; tf.saved_model.save(model) '
      'with a signature of my own.',
      doubts='Where the software writes the vocabulary to assets/, it must stay there.')
def _175(c):
    os.chdir(scratch())
    file = 'cities.txt'
    with open(file, 'w') as f:
        f.write('\n'.join(['Bern', 'Genf', 'Chur', 'Zug']))
    i = L.Input((2,), dtype='string', name='from_to')
    t = L.StringLookup(vocabulary=file, name='look')(i)
    t = L.Flatten(name='fl')(L.Embedding(6, 3, name='emb')(t))
    template = keras.Model(i, L.Dense(1, name='km')(t), name='distance')
    outer = L.Input((2,), dtype='string', name='trips')

    def cut(t, k):
        n = tf.shape(t)[0]
        return t[k * n // 2:(k + 1) * n // 2]
    got = [template(L.Lambda(cut, arguments={'k': k}, output_shape=(2,), name='trips_%d' % k)(outer)) for k in range(2)]
    parallel = keras.Model(outer, L.Concatenate(axis=0, name='kilometres')(got))
    parallel.compile(loss='mse', optimizer='sgd')
    x = np.random.choice(['Bern', 'Genf', 'Chur', 'Zug', 'Biel'], (8, 2))

    class Text(object):
        def __init__(self, model):
            self.model = model

        def predict(self, x, batch_size):
            return self.model(tf.constant(x), training=False)

        def count_params(self):
            return self.model.count_params()

    def save(text, folder):
        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.string, name='trips')])
        def drive(trips):
            return {'km': text.model(trips, training=False)}
        tf.saved_model.save(text.model, folder, signatures={'drive': drive})
    finish2(c, Text(parallel), Text(template), save, x, ['trips'], signature='drive', h5=False)


@case(176, 'tfk-save-head-multiply', 'tf221', 'tf_keras',
      'tf_keras model.save(save_format="tf"): slices by the [] operator, template with channel attention (Multiply), '
      'merge by tf.concat, then a head of BatchNorm and Dense; loaded and saved again.', scope='head')
def _176(c):
    i = L.Input((5, 5, 3), name='px')
    g = L.Dense(3, activation='sigmoid', name='gate')(L.GlobalAveragePooling2D(name='sq')(i))
    t = L.Multiply(name='ex')([i, L.Reshape((1, 1, 3), name='rs')(g)])
    body = keras.Model(i, L.GlobalMaxPooling2D(name='mx')(L.Conv2D(4, 2, name='cv')(t)), name='body')
    outer = L.Input((5, 5, 3), name='photos')
    n = tf.shape(outer)[0] // 2
    t = tf.concat([body(outer[:n]), body(outer[n:])], axis=0)
    b = body.output
    for layer in (L.BatchNormalization(name='hb'), L.Dense(2, activation='softmax', name='hd')):
        t, b = layer(t), layer(b)
    parallel, base = keras.Model(outer, t, name='photo_model'), keras.Model(i, b, name='photo_model')
    x = rows(5, 5, 3)
    fit(parallel, x, labels(8, 2))
    base.compile(optimizer=parallel.optimizer, loss='categorical_crossentropy')

    def save(model, folder):
        first = os.path.join(scratch(), 'first')
        model.save(first, save_format='tf')
        keras.models.load_model(first).save(folder, save_format='tf')
    finish2(c, parallel, base, save, x, order(parallel), order(base), parameters=body.count_params(), h5=False)
    keras.models.load_model(c.at('base')).save(c.at('base.h5'))      # with the same history: loading loses the slots


@case(177, 'k3-subclassed-wrapper', 'tf221', 'keras 3',
      'Keras 3: a keras.Model subclass whose call() slices with python slices of the dynamic batch, runs a Sequential per card in its own '
      'tf.name_scope and concatenates; model.export. Operations are named bee_0, bee_1.')
def _177(c):
    class Hive(keras.Model):
        def __init__(self, worker, bees, **kw):
            super().__init__(**kw)
            self.worker, self.bees = worker, bees

        def call(self, x, training=False):
            n, honey = tf.shape(x)[0], []
            for k in range(self.bees):
                with tf.name_scope('bee_%d' % k):
                    honey.append(self.worker(x[n * k // self.bees:n * (k + 1) // self.bees], training=training))
            return tf.concat(honey, 0, name='comb')
    template = keras.Sequential([L.Input((7,), name='nectar'), L.Dense(5, activation='silu'), L.GroupNormalization(1), L.Dense(2)], name='worker')
    parallel = Hive(template, 2)
    x = rows(7)
    parallel(x)
    fit(parallel, x, rows(2), 'mse')
    finish2(c, parallel, template, export, x, parameters=template.count_params())


@case(178, 'k3-wrapped-twice', 'tf221', 'keras 3',
      'Keras 3: an own data_parallel(model, n) with Lambda slices applied to an already wrapped model (2, then 2 again); '
      'model.export.', wrappers=2, doubts='Two wrappers, depth 0 and 1; towers is that of each.')
def _178(c):
    def data_parallel(model, n, tag):
        def part(t, k):
            b = keras.ops.shape(t)[0]
            return t[b * k // n:b * (k + 1) // n]
        outer = L.Input(model.inputs[0].shape[1:], name='in_' + tag)
        shape = tuple(model.inputs[0].shape[1:])
        outs = [model(L.Lambda(part, output_shape=shape, arguments={'k': k}, name='part_%s%d' % (tag, k))(outer)) for k in range(n)]
        return keras.Model(outer, L.Concatenate(axis=0, name='merge_' + tag)(outs), name='dp_' + tag)
    i = L.Input((6, 2), name='s')
    t = L.Conv1D(3, 3, activation='relu', name='c1')(i)
    template = keras.Model(i, L.Dense(2, name='d1')(L.Flatten(name='f1')(t)), name='net')
    parallel = data_parallel(data_parallel(template, 2, 'a'), 2, 'b')
    x = rows(6, 2)
    fit(parallel, x, rows(2), 'mse')
    finish2(c, parallel, template, export, x)
