# -*- coding: utf-8 -*-
"""Models that resemble wrappers and must be left alone."""
from __future__ import print_function, division

from kit import case, lookalike1, lookalike2, names, order, rows, signature1, simple

tf = keras = K = L = np = fake_gpus = None      # put in by run.py


def labels(n, k):
    return np.eye(k, dtype='float32')[np.random.randint(0, k, n)]


def fit(model, x, y, loss='mse', optimizer='adam', steps=2):
    model.compile(loss=loss, optimizer=optimizer)
    for _ in range(steps):
        model.train_on_batch(x, y)


def as_tf(model, folder):
    model.save(folder, save_format='tf')


@case(301, 'siamese', 'k231', 'keras', 'Siamese network: one encoder on two inputs, absolute difference; simple_save, trained.', expected='clean')
def _301(c):
    i = L.Input((6,), name='e')
    enc = keras.models.Model(i, L.Dense(4, activation='relu', name='e1')(i), name='enc')
    a, b = L.Input((6,), name='a'), L.Input((6,), name='b')
    d = L.Lambda(lambda v: K.abs(v[0] - v[1]), name='dist')([enc(a), enc(b)])
    model = keras.models.Model([a, b], L.Dense(1, activation='sigmoid', name='same')(d))
    x = [rows(6), rows(6)]
    fit(model, x, rows(1) > 0)
    lookalike1(c, model, simple(['a', 'b'], ['same']), x)


@case(302, 'ensemble', 'tf215', 'tf.keras', 'Ensemble: three models of equal shape and different weights on the same input, averaged; model.save.', expected='clean')
def _302(c):
    x_in = L.Input((5,), name='x')

    def member(k):
        i = L.Input((5,), name='i%d' % k)
        return keras.Model(i, L.Dense(2, name='o%d' % k)(L.Dense(4, activation='relu', name='h%d' % k)(i)), name='member%d' % k)
    members = [member(k) for k in range(3)]
    model = keras.Model(x_in, L.Average(name='mean')([m(x_in) for m in members]))
    x = rows(5)
    fit(model, x, rows(2))
    lookalike2(c, model, as_tf, x, members[0](x))


@case(303, 'tta-mean', 'k224', 'keras', 'Test-time augmentation: one template on the image, mirrored and turned over, mean of the three; '
      'simple_save with the training graph.', expected='clean')
def _303(c):
    i = L.Input((6, 6, 1), name='im')
    t = L.Dense(2, activation='softmax', name='o')(L.Flatten()(L.Conv2D(2, 3, name='c')(i)))
    one = keras.models.Model(i, t, name='one')
    j = L.Input((6, 6, 1), name='pic')
    views = [one(j), one(L.Lambda(lambda v: v[:, :, ::-1], name='mirror')(j)), one(L.Lambda(lambda v: v[:, ::-1], name='over')(j))]
    model = keras.models.Model(j, L.average(views, name='vote'))
    x = rows(6, 6, 1)
    fit(model, x, labels(8, 2), 'categorical_crossentropy')
    lookalike1(c, model, simple(['pic'], ['vote']), x, one.predict(x))


@case(304, 'tta-batch-concat', 'tf23', 'tf.keras', 'Test-time augmentation that concatenates along the batch: f(x) above f(mirrored x), twice as many '
      'rows come out; tf.saved_model.save.', expected='clean')
def _304(c):
    i = L.Input((6, 6, 1), name='im')
    one = keras.Model(i, L.Dense(2, name='o')(L.Flatten()(L.Conv2D(2, 3, name='c')(i))), name='one')
    j = L.Input((6, 6, 1), name='pic')
    both = L.Concatenate(axis=0, name='views')([one(j), one(L.Lambda(lambda v: tf.reverse(v, [2]), name='mirror')(j))])
    model = keras.Model(j, both)
    x = rows(6, 6, 1)

    class Twice(object):                    # predict cannot take twice as many rows
        def predict(self, x, batch_size):
            return model(x, training=False).numpy()

        def count_params(self):
            return model.count_params()
    lookalike2(c, Twice(), lambda m, d: tf.saved_model.save(model, d), x, one.predict(x))


@case(305, 'channels-shared', 'k224', 'tf.keras', 'One small CNN called on each of three colour channels (slices of the last axis), outputs concatenated along the '
      'features; simple_save, trained.', expected='clean')
def _305(c):
    i = L.Input((6, 6, 1), name='plane')
    one = keras.Model(i, L.GlobalAveragePooling2D()(L.Conv2D(3, 3, activation='relu', name='c')(i)), name='plane_net')
    j = L.Input((6, 6, 3), name='rgb')
    parts = [one(L.Lambda(lambda v, k: v[..., k:k + 1], arguments={'k': k}, name='plane_%d' % k)(j)) for k in range(3)]
    model = keras.Model(j, L.Dense(2, name='o')(L.Concatenate(axis=-1, name='planes')(parts)))
    x = rows(6, 6, 3)
    fit(model, x, rows(2), optimizer='sgd')
    lookalike1(c, model, simple(['rgb'], ['o']), x)


@case(306, 'windows-over-time', 'tf27', 'tf.keras', 'One encoder on two halves of the time axis (x[:, :4], x[:, 4:]), concatenated along time; the same would come of no '
      'single call because of the borders; model.save.', expected='clean')
def _306(c):
    i = L.Input((None, 2), name='w')
    one = keras.Model(i, L.Conv1D(3, 3, padding='same', name='c')(i), name='window')
    j = L.Input((8, 2), name='series')
    model = keras.Model(j, L.Concatenate(axis=1, name='series_out')([one(j[:, :4]), one(j[:, 4:])]))
    x = rows(8, 2)
    fit(model, x, rows(8, 3))
    lookalike2(c, model, as_tf, x, one.predict(x))


@case(307, 'gan-batch-concat', 'tf210', 'tf.keras', 'GAN training model: the discriminator sees real and generated rows concatenated along the batch in one call, the verdicts are split again '
      'by tf.split; model.save.', expected='clean')
def _307(c):
    i = L.Input((5,), name='d_in')
    disc = keras.Model(i, L.Dense(1, activation='sigmoid', name='d2')(L.BatchNormalization(name='db')(L.Dense(4, name='d1')(i))), name='disc')
    real, noise = L.Input((5,), name='real'), L.Input((3,), name='noise')
    fake = L.Dense(5, activation='tanh', name='gen')(noise)
    verdict = disc(L.Concatenate(axis=0, name='both')([real, fake]))
    a, b = L.Lambda(lambda v: tf.split(v, 2, axis=0), name='apart')(verdict)
    model = keras.Model([real, noise], [a, b])
    x = [rows(5), rows(3)]
    fit(model, x, [np.ones((8, 1)), np.zeros((8, 1))], 'binary_crossentropy')
    lookalike2(c, model, as_tf, x, ins=['real', 'noise'])


@case(308, 'attention-heads', 'tf221', 'keras 3', 'Attention heads cut from the projected features with ops.split along the last axis, joined again; model.export.', expected='clean')
def _308(c):
    j = L.Input((4, 6), name='tokens')
    q, k, v = [L.Dense(6, name=n)(j) for n in 'qkv']
    heads = []
    for a, b, d in zip(*[keras.ops.split(t, 3, axis=-1) for t in (q, k, v)]):
        heads.append(L.Attention()([a, d, b]))
    model = keras.Model(j, L.Dense(2, name='o')(keras.ops.concatenate(heads, axis=-1)))
    x = rows(4, 6)
    fit(model, x, rows(4, 2))
    lookalike2(c, model, lambda m, d: m.export(d, verbose=False), x)


@case(309, 'refinement', 'tf215', 'tf.keras', 'One model called three times in a row (iterative refinement), all three estimates averaged; tf.saved_model.save.', expected='clean')
def _309(c):
    i = L.Input((4,), name='s')
    step = keras.Model(i, L.Add()([i, L.Dense(4, activation='tanh', name='f')(i)]), name='step')
    j = L.Input((4,), name='start')
    a = step(j)
    b = step(a)
    model = keras.Model(j, L.Average(name='mean')([a, b, step(b)]))
    x = rows(4)
    fit(model, x, rows(4))
    lookalike2(c, model, lambda m, d: tf.saved_model.save(m, d), x, step.predict(x))


@case(310, 'two-models-two-halves', 'tf22', 'tf.keras', 'The batch cut in halves like a wrapper, but two models of equal shape and different weights (an A/B test server): '
      'x[:n/2] through A, x[n/2:] through B, concatenated along the batch; model.save.', expected='clean',
      doubts='Slices and merge are those of a wrapper; only the weights of the towers differ.')
def _310(c):
    def net(n):
        i = L.Input((5,), name='in_' + n)
        return keras.Model(i, L.Dense(2, name='o_' + n)(L.Dense(3, activation='relu', name='h_' + n)(i)), name='net_' + n)
    a, b = net('a'), net('b')
    j = L.Input((5,), name='visitors')
    u = a(L.Lambda(lambda t: t[:tf.shape(t)[0] // 2], name='group_a')(j))
    v = b(L.Lambda(lambda t: t[tf.shape(t)[0] // 2:], name='group_b')(j))
    model = keras.Model(j, L.Concatenate(axis=0, name='answers')([u, v]))
    x = rows(5)
    fit(model, x, rows(2))
    lookalike2(c, model, as_tf, x, a.predict(x))


@case(311, 'overlapping-slices', 'tf215', 'tf.keras', 'One template on overlapping parts of the batch (a bagging study: x[0:3n/4] and x[n/4:]), results concatenated: more rows come out than '
      'went in; tf.saved_model.save of a functional model.', expected='clean')
def _311(c):
    i = L.Input((5,), name='r')
    one = keras.Model(i, L.Dense(2, name='o')(L.Dense(4, activation='relu', name='h')(i)), name='one')
    j = L.Input((5,), name='rows')
    n = tf.shape(j)[0]
    model = keras.Model(j, tf.concat([one(j[:3 * n // 4]), one(j[n // 4:])], axis=0))
    x = rows(5)

    class More(object):
        def predict(self, x, batch_size):
            return model(x, training=False).numpy()

        def count_params(self):
            return model.count_params()
    lookalike2(c, More(), lambda m, d: tf.saved_model.save(model, d), x, one.predict(x))


@case(312, 'halves-swapped', 'k231', 'keras', 'One template on both halves of the batch, concatenated the other way round (second half first), as a shuffling step does; simple_save.',
      expected='clean', also=['refused, or a finding says that the order differs'],
      doubts='Everything of a wrapper but the order of the rows; a cut would change the answers.')
def _312(c):
    i = L.Input((5,), name='r')
    one = keras.models.Model(i, L.Dense(2, name='o')(L.Dense(4, activation='relu', name='h')(i)), name='one')
    j = L.Input((5,), name='rows')
    a = one(L.Lambda(lambda t: t[:K.shape(t)[0] // 2], name='front')(j))
    b = one(L.Lambda(lambda t: t[K.shape(t)[0] // 2:], name='back')(j))
    model = keras.models.Model(j, L.Concatenate(axis=0, name='swapped')([b, a]))
    x = rows(5)
    fit(model, x, rows(2))
    lookalike1(c, model, simple(['rows'], ['swapped']), x, one.predict(x))


@case(313, 'triplets-in-the-batch', 'tf27', 'tf.keras', 'Triplet network whose batch holds anchor, positive, negative in turn: t[0::3], t[1::3], t[2::3] through one encoder, concatenated along the '
      'features; tf.saved_model.save.', expected='clean')
def _313(c):
    i = L.Input((5,), name='r')
    enc = keras.Model(i, L.Dense(3, activation='tanh', name='e')(i), name='enc')
    j = L.Input((5,), name='triples')
    parts = [enc(L.Lambda(lambda t, k: t[k:6:3], arguments={'k': k}, name='member_%d' % k)(j)) for k in range(3)]
    model = keras.Model(j, L.Concatenate(axis=-1, name='triplet')(parts))
    x = rows(5)

    class Fewer(object):
        def predict(self, x, batch_size):
            return model(x, training=False).numpy()

        def count_params(self):
            return model.count_params()
    lookalike2(c, Fewer(), lambda m, d: tf.saved_model.save(model, d), x)


@case(314, 'contrastive-halves', 'tf221', 'tf_keras', 'Contrastive learning: the two halves of the batch are two views; one encoder on each half, the matrix of their similarities is the output; '
      'model.export.', expected='clean')
def _314(c):
    i = L.Input((6,), name='r')
    enc = keras.Model(i, L.UnitNormalization(name='n')(L.Dense(4, name='e')(i)), name='enc')
    j = L.Input((6,), name='views')
    n = tf.shape(j)[0] // 2
    sim = tf.matmul(enc(j[:n]), enc(j[n:]), transpose_b=True)
    model = keras.Model(j, sim)
    x = rows(6)

    class Square(object):
        def predict(self, x, batch_size):
            return model(x, training=False).numpy()

        def count_params(self):
            return model.count_params()
    lookalike2(c, Square(), lambda m, d: model.export(d), x)


@case(315, 'served-without-towers', 'k224', 'keras', 'A model trained through multi_gpu_model, exported the right way: simple_save of the template\'s own input and output, from the session that still '
      'holds the towers and their gradients.', expected='clean',
      also=['fixed, the result serves the same', 'the dead towers named in a finding'],
      doubts='No signature reaches a tower; the graph still holds them. Clean by what it serves.')
def _315(c):
    i = L.Input((6,), name='row')
    template = keras.models.Model(i, L.Dense(2, name='o')(L.BatchNormalization(name='b')(L.Dense(4, activation='relu', name='h')(i))), name='right')
    parallel = keras.utils.multi_gpu_model(template, 2)
    x = rows(6)
    fit(parallel, x, rows(2))
    lookalike1(c, template, simple(['row'], ['o']), x)


@case(316, 'tiles-of-an-image', 'tf221', 'keras 3', 'One CNN on the upper and the lower half of an image (ops.split along axis 1), concatenated along axis 1; model.export.', expected='clean')
def _316(c):
    i = L.Input((4, 8, 1), name='tile')
    one = keras.Model(i, L.Conv2D(2, 3, padding='same', name='c')(i), name='tile_net')
    j = L.Input((8, 8, 1), name='image')
    a, b = keras.ops.split(j, 2, axis=1)
    model = keras.Model(j, keras.ops.concatenate([one(a), one(b)], axis=1))
    x = rows(8, 8, 1)
    fit(model, x, rows(8, 8, 2))
    lookalike2(c, model, lambda m, d: m.export(d, verbose=False), x)


@case(317, 'half-the-batch-treated', 'k216', 'keras', 'A control group: one half of the batch goes through the template, the other half passes by unchanged, concatenated along the batch; '
      'SavedModelBuilder with an own signature.', expected='clean')
def _317(c):
    i = L.Input((5,), name='r')
    one = keras.models.Model(i, L.Dense(5, activation='tanh', name='treat')(i), name='treatment')
    j = L.Input((5,), name='patients')
    a = one(L.Lambda(lambda t: t[:K.shape(t)[0] // 2], name='treated')(j))
    b = L.Lambda(lambda t: t[K.shape(t)[0] // 2:], name='control')(j)
    model = keras.models.Model(j, L.Concatenate(axis=0, name='trial')([a, b]))
    x = rows(5)
    fit(model, x, rows(5))

    def export(model, folder):
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        b.add_meta_graph_and_variables(K.get_session(), ['serve'], signature_def_map={
            'trial': signature1({'patients': model.inputs[0]}, {'outcome': model.outputs[0]})})
        b.save()
        return names('trial', ['patients'], ['outcome'])
    lookalike1(c, model, export, x, one.predict(x))
