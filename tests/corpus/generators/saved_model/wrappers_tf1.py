# -*- coding: utf-8 -*-
"""Graph exports of parallel models by Keras 1.2.2 to 2.3.1 and tf.keras of TensorFlow 1.8 to 1.15."""
from __future__ import print_function, division

import os

from kit import (case, close, finish1, moved, names, rows, run1, scratch, signature1, simple)

tf = keras = K = L = np = fake_gpus = None      # put in by run.py


def mgm(model, gpus, **more):
    return keras.utils.multi_gpu_model(model, gpus=gpus, **more)


def labels(n, k):
    return np.eye(k, dtype='float32')[np.random.randint(0, k, n)]


def fit(model, x, y, loss='categorical_crossentropy', optimizer='adam', steps=3):
    model.compile(loss=loss, optimizer=optimizer)
    for _ in range(steps):
        model.train_on_batch(x, y)


# ---------------------------------------------------------------- 101: the plain thing

@case(101, 'mgm-simple-save', 'k224', 'keras',
      'multi_gpu_model(2) of a small CNN with BatchNorm and Dropout, trained with adam, then tf.saved_model.simple_save '
      'of the session as it was: learning phase, gradients and adam slots are in the graph.')
def _101(c):
    def net():
        i = L.Input((8, 8, 3), name='picture')
        t = L.Conv2D(4, 3, padding='same', use_bias=False, name='conv_a')(i)
        t = L.BatchNormalization(name='bn_a')(t)
        t = L.Activation('relu', name='relu_a')(t)
        t = L.MaxPooling2D(name='pool_a')(t)
        t = L.Flatten(name='flat')(t)
        t = L.Dropout(.25, name='drop')(t)
        return keras.models.Model(i, L.Dense(5, activation='softmax', name='classes')(t), name='smallnet')
    template = net()
    parallel = mgm(template, 2)
    x = rows(8, 8, 3)
    fit(parallel, x, labels(8, 5))
    finish1(c, parallel, template, net, simple(['images'], ['scores']), x)


# ---------------------------------------------------------------- 102: equal bundles, two signatures

@case(102, 'equal-bundles-two-signatures', 'k231', 'keras',
      'tf.slice of equal bundles in a Lambda with arguments (worker, crew), what remains left out, around a dropout MLP; rebuilt in a '
      'fresh graph with learning phase 0, SavedModelBuilder with signatures score_rows (the merge) and best_class (argmax and '
      'max computed from the merge).', towers=4,
      also=['signature best_class keeps the argmax and max operations after the merge (they are the person\'s, not the wrapper\'s)'])
def _102(c):
    def net():
        m = keras.models.Sequential(name='mlp')
        m.add(L.Dense(12, activation='tanh', input_shape=(6,), name='fc1'))
        m.add(L.Dropout(.5, name='do1'))
        m.add(L.Dense(10, activation='relu', name='fc2'))
        m.add(L.Dense(4, activation='softmax', name='fc3'))
        return m

    def bundle(sheet, worker, crew):
        import tensorflow as tf
        height = tf.shape(sheet)[0] // crew
        return tf.slice(sheet, tf.stack([worker * height, 0]), tf.stack([height, -1]))

    def crewed(model, crew):
        def work(worker):
            mine = [L.Lambda(bundle, output_shape=K.int_shape(t)[1:], arguments=dict(worker=worker, crew=crew))(t)
                    for t in model.inputs]
            return model(mine)
        desks = []
        for worker in range(crew):
            with tf.device('/gpu:%d' % worker), tf.name_scope('tower_%d' % worker):
                desks.append(work(worker))
        with tf.device('/cpu:0'):
            return keras.models.Model(model.inputs, L.concatenate(desks, axis=0))

    template = net()
    parallel = crewed(template, 4)
    x = rows(6)
    fit(parallel, x, labels(8, 4), optimizer='rmsprop')
    weights = template.get_weights()
    K.clear_session()
    fake_gpus.install(4)
    K.set_learning_phase(0)
    template = net()
    parallel = crewed(template, 4)
    template.set_weights(weights)

    def export(model, folder):
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        out = model.outputs[0]
        b.add_meta_graph_and_variables(K.get_session(), ['serve'], signature_def_map={
            'score_rows': signature1({'rows': model.inputs[0]}, {'scores': out}),
            'best_class': signature1({'rows': model.inputs[0]}, {
                'index': tf.argmax(out, axis=1, name='best_index'), 'value': tf.reduce_max(out, axis=1, name='best_value')}),
        })
        b.save()
        return [names('score_rows', ['rows'], ['scores']), names('best_class', ['rows'], ['index', 'value'])]

    def again():
        K.set_learning_phase(0)
        return net()
    finish1(c, parallel, template, again, export, x)


# ---------------------------------------------------------------- 103: Keras 2.1.6, whose .h5 dies

@case(103, 'k216-four-gpus', 'k216', 'keras',
      'multi_gpu_model(4) of a Sequential in Keras 2.1.6, where model.save of the parallel model dies: simple_save instead, '
      'with the momentum SGD training graph.', towers=4)
def _103(c):
    def net():
        m = keras.models.Sequential(name='seq')
        m.add(L.Conv1D(5, 3, activation='relu', input_shape=(10, 2), name='c1'))
        m.add(L.BatchNormalization(name='b1'))
        m.add(L.GlobalMaxPooling1D(name='g1'))
        m.add(L.Dense(3, name='d1'))
        return m
    template = net()
    parallel = mgm(template, 4)
    x = rows(10, 2)
    fit(parallel, x, rows(3), 'mse', keras.optimizers.SGD(.01, momentum=.9, nesterov=True))
    finish1(c, parallel, template, net, simple(['series'], ['values']), x)


# ---------------------------------------------------------------- 104: the first official one, recurrent

@case(104, 'k209-embedding-gru', 'k209', 'keras',
      'multi_gpu_model(2) of Keras 2.0.9 around Embedding and GRU (while loops in every tower, and in the gradients), '
      'SavedModelBuilder after training.')
def _104(c):
    def net():
        i = L.Input((7,), name='words')
        t = L.Embedding(20, 6, name='emb')(i)
        t = L.GRU(5, name='gru')(t)
        return keras.models.Model(i, L.Dense(1, activation='sigmoid', name='yes')(t), name='reader')
    template = net()
    parallel = mgm(template, 2)
    x = np.random.randint(0, 20, (8, 7)).astype('float32')
    fit(parallel, x, np.random.randint(0, 2, (8, 1)), 'binary_crossentropy')

    def export(model, folder):
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        b.add_meta_graph_and_variables(K.get_session(), [tf.saved_model.tag_constants.SERVING], signature_def_map={
            'serving_default': signature1({'word_ids': model.inputs[0]}, {'probability': model.outputs[0]})})
        b.save()
        return names('serving_default', ['word_ids'], ['probability'])
    finish1(c, parallel, template, net, export, x)


# ---------------------------------------------------------------- 105: Keras 1

@case(105, 'k122-slabs-merge', 'k122', 'keras',
      "tf.slice of whole slabs (corner and size of every axis) in a Lambda, merge(mode='concat', concat_axis=0), Keras 1.2.2; the batch's "
      'remainder is dropped by the wrapper; rebuilt with learning phase 0; SavedModelBuilder of TensorFlow 1.2.')
def _105(c):
    def net():
        i = L.Input((9,), name='features')
        a = L.Dense(8, activation='relu', name='da')(i)
        b = L.Dense(8, activation='relu', name='db')(a)
        t = L.BatchNormalization(name='bn', mode=0)(L.merge([a, b], mode='sum', name='res'))
        return keras.models.Model(i, L.Dense(3, activation='softmax', name='dc')(t), name='resid')

    def slab(stack, level, levels):
        thick, across = tf.shape(stack)[:1] // levels, tf.shape(stack)[1:]
        corner = tf.concat([thick * level, tf.zeros_like(across)], 0)
        return tf.slice(stack, corner, tf.concat([thick, across], 0))

    def layered(model, levels):
        entry = model.inputs[0]
        slabs = [L.Lambda(slab, output_shape=lambda s: s, arguments={'level': k, 'levels': levels})(entry) for k in range(levels)]
        done = []
        for k, piece in enumerate(slabs):
            with tf.device('/gpu:%d' % k), tf.name_scope('tower_%d' % k):
                done.append(model(piece))
        with tf.device('/cpu:0'):
            whole = L.merge(done, mode='concat', concat_axis=0)
        return keras.models.Model(input=model.inputs, output=whole)

    K.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
    template = net()
    parallel = layered(template, 2)
    x = rows(9)
    fit(parallel, x, labels(8, 3), optimizer='adagrad')

    weights = template.get_weights()
    K.clear_session()
    K.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
    K.set_learning_phase(0)
    template = net()
    parallel = layered(template, 2)
    template.set_weights(weights)

    def again():
        K.set_learning_phase(0)
        return net()

    def export(model, folder):
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        b.add_meta_graph_and_variables(K.get_session(), ['serve'], signature_def_map={
            'predict': signature1({'input': model.inputs[0]}, {'output': model.outputs[0]})})
        b.save()
        return names('predict', ['input'], ['output'])
    finish1(c, parallel, template, again, export, x)


# ---------------------------------------------------------------- 106: ratios, Python 2.7

@case(106, 'py27-ratios-two-in-two-out', 'py27k224', 'keras',
      'Cards of different speed: ratios 4:3:2, tf.slice in a Lambda with the arguments ahead, mine and everyone; around a '
      'model with two inputs and two outputs, Python 2.7; simple_save with the training graph.', towers=3)
def _106(c):
    def net():
        a = L.Input((5,), name='left')
        b = L.Input((4, 3), name='right')
        t = L.concatenate([L.Dense(6, activation='relu', name='ld')(a), L.Flatten(name='rf')(b)], name='both')
        u = L.Dense(4, activation='softmax', name='kind')(t)
        v = L.Dense(1, name='price')(L.BatchNormalization(name='norm')(t))
        return keras.models.Model([a, b], [u, v], name='twoheads')

    def portion(column, ahead, mine, everyone):
        import tensorflow as tf
        height = tf.shape(column)[0]
        begin, end = (height * k // everyone for k in (ahead, ahead + mine))
        others = column.shape.ndims - 1
        return tf.slice(column, tf.stack([begin] + [0] * others), tf.stack([end - begin] + [-1] * others))

    def by_ratio(model, ratios):
        everyone = sum(ratios)
        answers = []
        for gpu, mine in enumerate(ratios):
            facts = {'ahead': sum(ratios[:gpu]), 'mine': mine, 'everyone': everyone}
            with tf.device('/gpu:%d' % gpu), tf.name_scope('ratio_%d' % gpu):
                answers.append(model([L.Lambda(portion, output_shape=K.int_shape(t)[1:], arguments=facts)(t) for t in model.inputs]))
        with tf.device('/cpu:0'):
            merged = [L.concatenate(list(same), axis=0, name=name) for same, name in zip(zip(*answers), model.output_names)]
        return keras.models.Model(model.inputs, merged)

    template = net()
    parallel = by_ratio(template, [4, 3, 2])
    x = [rows(5), rows(4, 3)]
    fit(parallel, x, [labels(8, 4), rows(1)], ['categorical_crossentropy', 'mse'])
    finish1(c, parallel, template, net, simple(['left', 'right'], ['kind', 'price']), x)


# ---------------------------------------------------------------- 107, 108: layout C

@case(107, 'contrib-save-keras-model', 'k224', 'tf.keras',
      'tf.keras 1.13: multi_gpu_model(2), trained, tf.contrib.saved_model.save_keras_model (train, eval and serve MetaGraphs, '
      'assets/saved_model.json).',
      doubts='base/ has the three MetaGraphs too, as this function writes them; of a cut the serving one is asked for.')
def _107(c):
    def net():
        i = L.Input((8, 8, 1), name='digit')
        t = L.Conv2D(3, 3, activation='relu', name='k1')(i)
        t = L.BatchNormalization(name='n1')(t)
        t = L.GlobalAveragePooling2D(name='p1')(t)
        return keras.models.Model(i, L.Dense(4, activation='softmax', name='o1')(t), name='digits')
    template = net()
    parallel = mgm(template, 2)
    x = rows(8, 8, 1)
    y = labels(8, 4)
    fit(parallel, x, y, optimizer=tf.train.AdamOptimizer())

    def export(model, folder):
        if model is not parallel:
            model.compile(loss='categorical_crossentropy', optimizer=tf.train.AdamOptimizer())
            model._make_train_function()
        moved(tf.contrib.saved_model.save_keras_model(model, scratch()), folder)
        return names('serving_default', model.input_names, model.output_names)
    finish1(c, parallel, template, net, export, x)


@case(108, 'export-saved-model-closures', 'k231', 'tf.keras',
      'tf.keras 1.15: own function with closures over (first, last) fractions, three parts, Keras layer names of my own; '
      'tf.keras.experimental.export_saved_model, compiled, so three MetaGraphs.', towers=3,
      doubts='base/ has the three MetaGraphs too, as this function writes them; of a cut the serving one is asked for.')
def _108(c):
    def net():
        i = L.Input((6,), name='measurements')
        t = L.Dense(7, activation='selu', name='hidden')(i)
        return keras.Model(i, L.Dense(2, name='forecast')(t), name='regressor')

    def spread(model, n):
        def portion(k):
            def cut(x):
                rows_ = tf.shape(x)[0]
                return x[rows_ * k // n:rows_ * (k + 1) // n]
            return cut
        pieces = []
        for k in range(n):
            with tf.device('/gpu:%d' % k):
                pieces.append(model(L.Lambda(portion(k), name='portion_%s' % 'abc'[k])(model.input)))
        return keras.Model(model.input, L.Lambda(lambda p: tf.concat(p, 0), name='reunion')(pieces), name='spread')
    template = net()
    parallel = spread(template, 3)
    x = rows(6)
    fit(parallel, x, rows(2), 'mse', keras.optimizers.Adam())

    def export(model, folder):
        if model is not parallel:
            model.compile(loss='mse', optimizer=keras.optimizers.Adam())
            model._make_train_function()
        tf.keras.experimental.export_saved_model(model, folder)
        return names('serving_default', model.input_names, model.output_names)
    finish1(c, parallel, template, net, export, x)


# ---------------------------------------------------------------- 109, 110, 114: estimators

@case(109, 'model-to-estimator-raw', 'k231', 'tf.keras',
      'tf.keras 1.15 multi_gpu_model(2), compiled, keras.estimator.model_to_estimator, trained by the estimator, '
      'export_saved_model with a raw serving input and assets.extra/labels.txt.',
      doubts='The base is made by model_to_estimator of the template with the trained weights; assets.extra should be kept.')
def _109(c):
    def net():
        i = L.Input((6,), name='v')
        t = L.BatchNormalization(name='bn')(L.Dense(8, activation='relu', name='h')(i))
        return keras.Model(i, L.Dense(3, activation='softmax', name='o')(t), name='est')
    extra = os.path.join(scratch(), 'labels.txt')
    with open(extra, 'w') as f:
        f.write('red\ngreen\nblue\n')

    def export(model, folder):
        model.compile(loss='categorical_crossentropy', optimizer=tf.train.AdamOptimizer(1e-9))
        weights = model.get_weights()
        config = tf.estimator.RunConfig(session_config=tf.ConfigProto(allow_soft_placement=True), tf_random_seed=1)
        estimator = tf.keras.estimator.model_to_estimator(model, model_dir=scratch(), config=config)

        def receiver():
            x = tf.compat.v1.placeholder(tf.float32, [None, 6], name='raw')
            return tf.estimator.export.ServingInputReceiver({'v': x}, {'v': x})
        written = estimator.export_saved_model(scratch(), receiver, assets_extra={'labels.txt': extra})
        moved(written, folder)
        assert weights
        return names('serving_default', ['v'], model.output_names)
    template = net()
    parallel = mgm(template, 2)
    x = rows(6)
    parallel.compile(loss='categorical_crossentropy', optimizer=tf.train.AdamOptimizer(1e-2))
    estimator = tf.keras.estimator.model_to_estimator(parallel, model_dir=scratch(), config=tf.estimator.RunConfig(
        session_config=tf.ConfigProto(allow_soft_placement=True)))
    y = labels(8, 3)
    estimator.train(lambda: tf.data.Dataset.from_tensors(({'v': x}, y)).repeat(4), steps=4)
    # the trained values, back into the Keras model
    reader = tf.train.load_checkpoint(estimator.latest_checkpoint())
    template.set_weights([reader.get_tensor(w.name.split(':')[0]) for w in template.weights])

    def export_trained(model, folder):
        if model is not parallel:
            return export(model, folder)

        def receiver():
            raw = tf.compat.v1.placeholder(tf.float32, [None, 6], name='raw')
            return tf.estimator.export.ServingInputReceiver({'v': raw}, {'v': raw})
        moved(estimator.export_saved_model(scratch(), receiver, assets_extra={'labels.txt': extra}), folder)
        return names('serving_default', ['v'], model.output_names)
    finish1(c, parallel, template, net, export_trained, x)


@case(110, 'estimator-tf-example', 'k224', 'tf.keras',
      'tf.keras 1.13: model_to_estimator of a parallel model (custom slice with K.slice-like indexing), export_savedmodel with a '
      'receiver that parses serialized tf.Example: parsing operations before the slices.',
      also=['scope embedded'],
      doubts='The parsing lies between the placeholder and the slices, so "whole" is the Keras view and "embedded" an honest reading of the operations.')
def _110(c):
    def net():
        i = L.Input((5,), name='f')
        return keras.Model(i, L.Dense(2, name='out')(L.Dense(6, activation='elu', name='mid')(i)), name='tab')

    def halves(model):
        a = L.Lambda(lambda t: t[:tf.shape(t)[0] // 2], name='first_half')(model.input)
        b = L.Lambda(lambda t: t[tf.shape(t)[0] // 2:], name='second_half')(model.input)
        with tf.device('/gpu:0'):
            a = model(a)
        with tf.device('/gpu:1'):
            b = model(b)
        return keras.Model(model.input, L.Concatenate(axis=0, name='out_all')([a, b]), name='halves')

    def export(model, folder):
        rate = .05 if model is parallel else 0.      # the base: one step that changes nothing, to have a checkpoint
        model.compile(loss='mse', optimizer=tf.train.GradientDescentOptimizer(rate))
        estimator = tf.keras.estimator.model_to_estimator(model, model_dir=scratch(), config=tf.estimator.RunConfig(
            session_config=tf.ConfigProto(allow_soft_placement=True)))
        estimator.train(lambda: tf.data.Dataset.from_tensors(({'f': x}, y)).repeat(3), steps=3)

        def receiver():
            text = tf.placeholder(tf.string, [None], name='examples')
            parsed = tf.parse_example(text, {'f': tf.FixedLenFeature([5], tf.float32)})
            return tf.estimator.export.ServingInputReceiver(parsed, {'examples': text})
        moved(estimator.export_savedmodel(scratch(), receiver), folder)
        reader = tf.train.load_checkpoint(estimator.latest_checkpoint())
        if model is parallel:
            trained.extend(reader.get_tensor(w.name.split(':')[0]) for w in template.weights)
        return names('serving_default', ['examples'], model.output_names)
    template = net()
    parallel = halves(template)
    x, y = rows(5), rows(2)
    trained = []

    def again():
        model = net()
        model.set_weights = lambda values: keras.Model.set_weights(model, trained)
        return model
    examples = np.array([tf.train.Example(features=tf.train.Features(feature={
        'f': tf.train.Feature(float_list=tf.train.FloatList(value=row))})).SerializeToString() for row in x])
    finish1(c, parallel, template, again, export, x, feeds=[examples], expect='signature')


@case(114, 'estimator-own-model-fn', 'k231', 'tf.keras',
      'A hand-written estimator model_fn: tf.split of the images, the Keras template called per card under its own name scope, losses '
      'averaged over the cards, probabilities and per-card argmax concatenated; export_saved_model keeps predict and serving_default.',
      towers=2, doubts='The argmax is inside each card: it belongs to what is repeated; no Keras metadata at all.')
def _114(c):
    def net():
        i = L.Input((8, 8, 2), name='im')
        t = L.Conv2D(3, 3, activation='relu', name='cv')(i)
        t = L.Flatten(name='fl')(t)
        return keras.Model(i, L.Dense(3, name='lo')(t), name='net')

    def model_fn_for(cards):
        def model_fn(features, labels, mode):
            model = net()
            probabilities, classes, losses = [], [], []
            parts = tf.split(features['im'], cards) if cards > 1 else [features['im']]
            answers = tf.split(labels, cards) if labels is not None and cards > 1 else [labels]
            for k, part in enumerate(parts):
                with tf.device('/gpu:%d' % k if cards > 1 else '/cpu:0'), tf.name_scope('card_%s' % 'xy'[k]):
                    logits = model(part)
                    probabilities.append(tf.nn.softmax(logits))
                    classes.append(tf.argmax(logits, axis=1))
                    if mode != 'infer':
                        losses.append(tf.losses.softmax_cross_entropy(answers[k], logits))
            if cards > 1:
                probabilities, classes = tf.concat(probabilities, 0, name='all_p'), tf.concat(classes, 0, name='all_c')
            else:
                probabilities, classes = probabilities[0], classes[0]
            predictions = {'probabilities': probabilities, 'classes': classes}
            if mode == 'infer':
                return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs={
                    'predict_image': tf.estimator.export.PredictOutput(predictions)})
            loss = tf.add_n(losses) / cards
            train = tf.train.AdamOptimizer().minimize(loss, tf.train.get_or_create_global_step(),
                                                      colocate_gradients_with_ops=True)
            return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train)
        return model_fn
    config = tf.estimator.RunConfig(session_config=tf.ConfigProto(allow_soft_placement=True), tf_random_seed=3)
    where = scratch()
    x, y = rows(8, 8, 2), labels(8, 3)

    def receiver():
        raw = tf.compat.v1.placeholder(tf.float32, [None, 8, 8, 2], name='im')
        return tf.estimator.export.ServingInputReceiver({'im': raw}, {'im': raw})
    trained = tf.estimator.Estimator(model_fn_for(2), where, config)
    trained.train(lambda: tf.data.Dataset.from_tensors(({'im': x}, y)).repeat(4), steps=4)
    moved(trained.export_saved_model(scratch(), receiver), c.at('parallel'))
    moved(tf.estimator.Estimator(model_fn_for(1), where, config).export_saved_model(scratch(), receiver), c.at('base'))
    called = names('serving_default', ['im'], ['probabilities', 'classes'])
    ps, keys = run1(c.at('parallel'), called, [x])
    ys, base_keys = run1(c.at('base'), called, [x])
    assert keys == base_keys
    close(ys, ps, 'serves')
    other = dict(names('predict_image', ['im'], ['probabilities', 'classes']), values=['y0', 'y1'])
    model = net()
    reader = tf.train.load_checkpoint(where)
    model.set_weights([reader.get_tensor(w.name.split(':')[0]) for w in model.weights])
    model.save(c.at('base.h5'))
    c.write([x], ys, ps, model.count_params(), keys, called, None, [other],
            base_h5='the Keras part alone: without softmax and argmax')


# ---------------------------------------------------------------- 111, 112: several MetaGraphs, tags

@case(111, 'train-and-serve-metagraphs', 'k224', 'keras',
      'SavedModelBuilder with two MetaGraphs: first the training graph of multi_gpu_model (tag train, with its optimizer), then a '
      'graph rebuilt with learning phase 0 (tag serve).',
      doubts='base/ has the serving MetaGraph alone; a finding should name the other.')
def _111(c):
    def net():
        i = L.Input((12,), name='in_')
        t = L.Dropout(.3, name='dr')(L.Dense(8, activation='relu', name='h1')(i))
        t = L.BatchNormalization(name='bnm')(t)
        return keras.models.Model(i, L.Dense(3, activation='softmax', name='h2')(t), name='tag_model')

    def export(model, folder):
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        if model is parallel:
            b.add_meta_graph_and_variables(K.get_session(), ['train'], signature_def_map={
                'train_step': signature1({'x': model.inputs[0]}, {'loss': model.total_loss})})
            K.clear_session()
            fake_gpus.install(4)
            K.set_learning_phase(0)
            t = net()
            model = mgm(t, 2)
            b.add_meta_graph(['serve'], signature_def_map={
                'serving_default': signature1({'x': model.inputs[0]}, {'prob': model.outputs[0]})})
        else:
            b.add_meta_graph_and_variables(K.get_session(), ['serve'], signature_def_map={
                'serving_default': signature1({'x': model.inputs[0]}, {'prob': model.outputs[0]})})
        b.save()
        return names('serving_default', ['x'], ['prob'])

    def again():
        K.set_learning_phase(0)
        return net()
    template = net()
    parallel = mgm(template, 2)
    x = rows(12)
    fit(parallel, x, labels(8, 3))
    finish1(c, parallel, template, again, export, x)


@case(112, 'tags-serve-gpu-frozen-relocated', 'k231', 'keras',
      'multi_gpu_model(2, cpu_relocation=True) (the template is cloned) of a model with a frozen lower half and a bidirectional '
      'SimpleRNN; SavedModelBuilder with the tags serve and gpu, training graph included.')
def _112(c):
    def net():
        i = L.Input((6, 3), name='steps')
        t = L.Conv1D(4, 2, padding='same', trainable=False, name='low')(i)
        t = L.BatchNormalization(trainable=False, name='lown')(t)
        t = L.Bidirectional(L.SimpleRNN(3, name='core'), name='bi')(t)
        return keras.models.Model(i, L.Dense(2, activation='tanh', name='top')(t), name='halfcold')
    template = net()
    parallel = mgm(template, 2, cpu_relocation=True)
    clone = [l for l in parallel.layers if isinstance(l, keras.models.Model)][0]
    x = rows(6, 3)
    fit(parallel, x, rows(2), 'mae', 'rmsprop')

    def export(model, folder):
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        b.add_meta_graph_and_variables(K.get_session(), ['serve', 'gpu'], signature_def_map={
            'serving_default': signature1({'steps': model.inputs[0]}, {'motion': model.outputs[0]})})
        b.save()
        return names('serving_default', ['steps'], ['motion'], ['serve', 'gpu'])
    finish1(c, parallel, clone, net, export, x)


# ---------------------------------------------------------------- 115, 116: own slicing, own names

@case(115, 'fractions-own-names', 'k224', 'keras',
      'Hand-written for two cards of different speed: the first takes 60 % of the rows (float arithmetic), Lambdas upper_rows and '
      'lower_rows, merge by a Lambda all_rows; simple_save, training graph included. No operation is called tower or replica.')
def _115(c):
    def net():
        i = L.Input((4, 4, 2), name='patch')
        s = L.Conv2D(2, 1, name='skip')(i)
        t = L.Conv2D(2, 3, padding='same', activation='relu', name='body')(i)
        t = L.add([s, t], name='plus')
        return keras.models.Model(i, L.Conv2D(1, 1, activation='sigmoid', name='mask')(t), name='segmenter')

    def border(x):
        return K.cast(K.round(K.cast(K.shape(x)[0], 'float32') * .6), 'int32')
    template = net()
    i = L.Input((4, 4, 2), name='patches')
    upper = L.Lambda(lambda x: x[:border(x)], name='upper_rows')(i)
    lower = L.Lambda(lambda x: x[border(x):], name='lower_rows')(i)
    with tf.device('/gpu:0'), tf.name_scope('fast_card'):
        upper = template(upper)
    with tf.device('/gpu:1'), tf.name_scope('old_card'):
        lower = template(lower)
    parallel = keras.models.Model(i, L.Lambda(lambda p: K.concatenate(p, axis=0), name='all_rows')([upper, lower]), name='twocards')
    x = rows(4, 4, 2)
    fit(parallel, x, (rows(4, 4, 1) > 0).astype('float32'), 'binary_crossentropy', keras.optimizers.Adadelta())
    finish1(c, parallel, template, net, simple(['patches'], ['masks']), x)


@case(116, 'split-lambda-stacked-cells', 'k231', 'tf.keras',
      'tf.keras 1.15: one Lambda with tf.split(x, 4) that returns a list, a template with stacked LSTM cells (while loops), '
      'merge by tf.concat in a Lambda; trained with a TF optimizer, rebuilt in a fresh graph, simple_save.', towers=4)
def _116(c):
    def net():
        i = L.Input((5, 3), name='seq_in')
        t = L.RNN([L.LSTMCell(4), L.LSTMCell(3)], name='stack')(i)
        return keras.Model(i, L.Dense(2, name='seq_out')(t), name='stacked')
    def wrap(template):
        i = L.Input((5, 3), name='sequences')
        quarters = L.Lambda(lambda t: tf.split(t, 4, axis=0), name='quarters')(i)
        done = []
        for k, q in enumerate(quarters):
            with tf.device('/gpu:%d' % k), tf.name_scope('worker%d' % k):
                done.append(template(q))
        return keras.Model(i, L.Lambda(lambda t: tf.concat(t, 0), name='together')(done))
    template = net()
    parallel = wrap(template)
    x = rows(5, 3)
    fit(parallel, x, rows(2), 'mse', tf.compat.v1.train.RMSPropOptimizer(.01))
    weights = template.get_weights()
    K.clear_session()
    fake_gpus.install(4)
    template = net()
    parallel = wrap(template)
    template.set_weights(weights)
    finish1(c, parallel, template, net, simple(['sequences'], ['result']), x)


# ---------------------------------------------------------------- 117: wrapped twice

@case(117, 'wrapped-twice', 'k231', 'keras',
      'multi_gpu_model(2) of a model that already was multi_gpu_model(2) (saved, loaded, wrapped again); simple_save without training '
      'after the second wrap.',
      wrappers=2, doubts='Two wrappers, depth 0 and 1; towers is that of each.')
def _117(c):
    def net():
        i = L.Input((5,), name='a')
        t = L.Dense(6, activation='relu', name='b')(i)
        return keras.models.Model(i, L.Dense(2, name='c')(L.BatchNormalization(name='n')(t)), name='once')
    template = net()
    first = mgm(template, 2)
    x = rows(5)
    fit(first, x, rows(2), 'mse', 'sgd')
    file = os.path.join(scratch(), 'm.h5')
    first.save(file)
    K.clear_session()
    fake_gpus.install(4)
    first = keras.models.load_model(file, compile=False)
    parallel = mgm(first, 2)
    template = first.get_layer('once')
    finish1(c, parallel, template, net, simple(['a'], ['c']), x)


# ---------------------------------------------------------------- 118, 119, 120: head, embedded, face swap

@case(118, 'head-after-merge', 'k224', 'keras',
      'A wrapped feature extractor (multi_gpu_model(3)), then Dropout and two Dense layers on the merged features; trained whole; '
      'simple_save.', towers=3, scope='head')
def _118(c):
    def body():
        i = L.Input((8, 8, 1), name='img')
        t = L.Conv2D(3, 3, strides=2, name='f1')(i)
        t = L.PReLU(name='f1p', shared_axes=[1, 2])(t)
        t = L.BatchNormalization(name='f1b')(t)
        return keras.models.Model(i, L.Flatten(name='fv')(t), name='features')

    def head(t):
        t = L.Dropout(.5, name='hd')(t)
        t = L.Dense(5, activation='relu', name='h1')(t)
        return L.Dense(2, activation='softmax', name='h2')(t)

    def net():
        b = body()
        return keras.models.Model(b.input, head(b.output), name='withhead')
    template = body()
    wrapped = mgm(template, 3)
    layers = [L.Dropout(.5, name='hd'), L.Dense(5, activation='relu', name='h1'), L.Dense(2, activation='softmax', name='h2')]

    def on(t):
        for layer in layers:
            t = layer(t)
        return t
    parallel = keras.models.Model(wrapped.inputs[0], on(wrapped.outputs[0]))
    base = keras.models.Model(template.inputs[0], on(template.outputs[0]))
    x = rows(8, 8, 1)
    fit(parallel, x, labels(8, 2), optimizer='adamax')
    finish1(c, parallel, base, net, simple(['img'], ['label']), x, parameters=template.count_params())


@case(119, 'embedded-encoder-own-io', 'k231', 'tf.keras',
      'A larger tf.keras 1.15 model: scaling Lambda, then the wrapped encoder (multi_gpu_model(2)) called as a layer, then a decoder, '
      'beside a second input that by-passes the wrapper; simple_save with gradients.', scope='embedded')
def _119(c):
    def enc():
        i = L.Input((6,), name='e_in')
        return keras.Model(i, L.Dense(3, activation='tanh', name='e2')(L.Dense(5, activation='relu', name='e1')(i)), name='encoder')

    scale, glue, dec = [None] * 3

    def large(encoder):
        a = L.Input((6,), name='signal')
        b = L.Input((2,), name='context')
        t = L.Lambda(lambda v: v * .5, name='scale')(a)
        t = encoder(t)
        t = L.Concatenate(name='glue')([t, b])
        return keras.Model([a, b], L.Dense(6, name='decoder')(t), name='denoiser')

    def net():
        return large(enc())
    template = enc()
    wrapped = mgm(template, 2)
    parallel = large(wrapped)
    decoder = parallel.get_layer('decoder')
    x = [rows(6), rows(2)]
    fit(parallel, x, rows(6), 'mse', 'adam')
    a, b = parallel.inputs
    t = template(parallel.get_layer('scale').output)
    base = keras.Model([a, b], decoder(L.Concatenate(name='glue2')([t, b])))
    finish1(c, parallel, base, net, simple(['signal', 'context'], ['clean']), x, parameters=template.count_params())


@case(120, 'two-autoencoders-one-file', 'k224', 'keras',
      'Face-swap style: one encoder, two decoders, both autoencoders wrapped by multi_gpu_model(2) on the same input, one SavedModelBuilder '
      'export with the signatures face_a and face_b.',
      also=['one wrapper reported instead of two, if both signatures come out right',
            'refused with a reason, nothing written'], wrappers=2,
      doubts='Two wrappers side by side, whose templates share the encoder. template_parameters counts both autoencoders, the encoder once.')
def _120(c):
    x = rows(4, 4, 3)
    state = {}

    def nets():
        i = L.Input((4, 4, 3), name='face')
        enc = keras.models.Model(i, L.Dense(5, activation='relu', name='code')(L.Flatten(name='fl')(i)), name='enc')

        def dec(n):
            z = L.Input((5,), name='z' + n)
            t = L.Dense(48, activation='sigmoid', name='d' + n)(z)
            return keras.models.Model(z, L.Reshape((4, 4, 3), name='r' + n)(t), name='dec_' + n)
        auto = [keras.models.Model(i, dec(n)(enc(i)), name='auto_' + n) for n in 'ab']
        return auto

    class Pair(object):                      # both autoencoders, as finish1 wants one
        def __init__(self, a, b):
            self.a, self.b = a, b
            self.inputs = a.inputs
            self.outputs = [a.outputs[0], b.outputs[0]]

        def predict(self, x, batch_size):
            return self.a.predict(x, batch_size=batch_size)

        def get_weights(self):
            return self.a.get_weights() + self.b.get_weights()

        def set_weights(self, w):
            n = len(self.a.get_weights())
            self.a.set_weights(w[:n])
            self.b.set_weights(w[n:])

        def count_params(self):
            return self.a.count_params() + self.b.get_layer('dec_b').count_params()

        def save(self, path):
            self.a.save(path)

    def export(pair, folder):
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        b.add_meta_graph_and_variables(K.get_session(), ['serve'], signature_def_map={
            'face_a': signature1({'face': pair.inputs[0]}, {'as_a': pair.outputs[0]}),
            'face_b': signature1({'face': pair.inputs[0]}, {'as_b': pair.outputs[1]})})
        b.save()
        return [names('face_a', ['face'], ['as_a']), names('face_b', ['face'], ['as_b'])]
    a, b = nets()
    pa, pb = mgm(a, 2), mgm(b, 2)
    for m in (pa, pb):
        fit(m, x, np.abs(rows(4, 4, 3)) / 3, 'mae')
    finish1(c, Pair(pa, pb), Pair(a, b), lambda: Pair(*nets()), export, x)


# ---------------------------------------------------------------- 121: frozen into constants

@case(121, 'frozen-constants', 'k224', 'keras',
      'multi_gpu_model(2), graph_util.convert_variables_to_constants, the frozen GraphDef imported into a fresh graph and simple_save: '
      'no variables at all, the towers share constants.')
def _121(c):
    def net():
        i = L.Input((6, 6, 1), name='tile')
        t = L.SeparableConv2D(3, 3, name='sep')(i)
        t = L.BatchNormalization(name='bnorm')(t)
        t = L.GlobalMaxPooling2D(name='gmp')(t)
        return keras.models.Model(i, L.Dense(3, activation='softmax', name='sm')(t), name='frozen')
    template = net()
    parallel = mgm(template, 2)
    x = rows(6, 6, 1)
    fit(parallel, x, labels(8, 3), optimizer='nadam')
    weights = template.get_weights()
    K.clear_session()
    fake_gpus.install(4)
    K.set_learning_phase(0)
    template = net()
    parallel = mgm(template, 2)
    template.set_weights(weights)

    def export(model, folder):
        graph = tf.graph_util.convert_variables_to_constants(
            K.get_session(), K.get_session().graph.as_graph_def(), [model.outputs[0].op.name])
        with tf.Graph().as_default() as g, tf.Session(graph=g, config=tf.ConfigProto(allow_soft_placement=True)) as session:
            i, o = tf.import_graph_def(graph, return_elements=[model.inputs[0].name, model.outputs[0].name], name='')
            tf.saved_model.simple_save(session, folder, {'tile': i}, {'probs': o})
        return names('serving_default', ['tile'], ['probs'])

    def again():
        K.set_learning_phase(0)
        return net()
    finish1(c, parallel, template, again, export, x)


# ---------------------------------------------------------------- 122, 123

@case(122, 'tf18-keras-simple-save', 'k216', 'tf.keras',
      "tf.keras of TensorFlow 1.8: its multi_gpu_model(2), two outputs of different rank, simple_save with the training graph.")
def _122(c):
    def net():
        i = L.Input((6, 2), name='series')
        t = L.Conv1D(4, 3, padding='same', activation='relu', name='cc')(i)
        u = L.TimeDistributed(L.Dense(1), name='each')(t)
        v = L.Dense(2, activation='softmax', name='all')(L.GlobalAveragePooling1D(name='ga')(t))
        return keras.models.Model(i, [u, v], name='tagger')
    template = net()
    parallel = mgm(template, 2)
    x = rows(6, 2)
    fit(parallel, x, [rows(6, 1), labels(8, 2)], ['mse', 'categorical_crossentropy'])
    finish1(c, parallel, template, net, simple(['series'], ['each', 'all']), x)


@case(123, 'classify-signature-shared-sub-model', 'k231', 'tf.keras',
      'tf.keras 1.15: template with a shared nested sub-model (two images through one tower of its own) wrapped by multi_gpu_model(2); '
      'signatures compare (predict) and serving_default, both on the merge; images decoded from PNG bytes by tf.map_fn before the slices.',
      also=['scope embedded'],
      doubts='The decoding loop lies between placeholder and slices; "embedded" is an honest reading too. The template is a siamese model itself.')
def _123(c):
    def net():
        i = L.Input((4, 4, 1), name='sub_in')
        sub = keras.Model(i, L.Dense(3, name='sub_fc')(L.Flatten()(L.Conv2D(2, 3, name='sub_cv')(i))), name='sub')
        a, b = L.Input((4, 4, 1), name='one'), L.Input((4, 4, 1), name='two')
        d = L.Subtract(name='delta')([sub(a), sub(b)])
        return keras.Model([a, b], L.Dense(1, activation='sigmoid', name='same')(d), name='compare')
    template = net()
    parallel = mgm(template, 2)
    raw = [np.random.randint(0, 255, (8, 4, 4, 1)).astype('uint8') for _ in range(2)]
    x = [r.astype('float32') / 255 for r in raw]
    fit(parallel, x, np.random.randint(0, 2, (8, 1)), 'binary_crossentropy', 'sgd')
    with tf.Graph().as_default(), tf.Session() as session:
        hole = tf.compat.v1.placeholder(tf.uint8, [4, 4, 1])
        png = tf.image.encode_png(hole)
        feeds = [np.array([session.run(png, {hole: one}) for one in r]) for r in raw]

    def export(model, folder):
        texts = [tf.compat.v1.placeholder(tf.string, [None], name=n) for n in ('png_one', 'png_two')]

        def decode(text):
            image = tf.reshape(tf.image.decode_png(text, channels=1), [4, 4, 1])
            return tf.cast(image, tf.float32) / 255.
        images = [tf.map_fn(decode, t, dtype=tf.float32) for t in texts]
        out = model(images)
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        b.add_meta_graph_and_variables(K.get_session(), ['serve'], signature_def_map={
            'serving_default': signature1(dict(zip(['png_one', 'png_two'], texts)), {'same': out}),
            'compare': signature1(dict(zip(['image_one', 'image_two'], images)), {'same': out})})
        b.save()
        return names('serving_default', ['png_one', 'png_two'], ['same'])
    finish1(c, parallel, template, net, export, x, feeds=feeds)


# ---------------------------------------------------------------- 124: scalar losses averaged

@case(124, 'scalar-loss-averaged', 'k216', 'keras',
      'The way of Mask R-CNN: a subclass of keras Model, inputs split outside of the layers, merges named after the outputs; detections concatenated, the scalar loss '
      'output of the towers averaged by a Lambda; SavedModelBuilder with the signatures detect and loss.', towers=2,
      also=['refused because one merge is an average, with the reason'],
      doubts='The average of the towers\' mean losses equals the loss of the whole batch for equal slices only; io has 8 rows and two towers.')
def _124(c):
    def net():
        i, t = L.Input((6,), name='image'), L.Input((2,), name='truth')
        d = L.Dense(2, name='boxes')(L.Dense(7, activation='relu', name='rpn')(i))
        e = L.Lambda(lambda v: K.mean(K.square(v[0] - v[1])), name='box_loss')([t, d])
        return keras.models.Model([i, t], [d, e], name='rcnn')

    class Dealt(keras.models.Model):
        """Every card has its hand of the inputs; what the cards answer is put together, output by output."""

        def __init__(self, net, cards):
            dealt = zip(*[tf.split(t, cards) for t in net.inputs])          # outside of any layer
            hands = [self.play(net, card, hand) for card, hand in enumerate(dealt)]
            with tf.device('/cpu:0'):
                ends = [self.reunite(list(same), name) for same, name in zip(zip(*hands), net.output_names)]
            super(Dealt, self).__init__(inputs=net.inputs, outputs=ends)

        @staticmethod
        def play(net, card, hand):
            with tf.device('/gpu:%d' % card), tf.name_scope('tower_%d' % card):
                return net([L.Lambda(lambda t, piece=piece: piece, output_shape=K.int_shape(t)[1:])(t)
                            for t, piece in zip(net.inputs, hand)])

        @staticmethod
        def reunite(same, name):
            if K.int_shape(same[0]):
                return L.Concatenate(axis=0, name=name)(same)
            return L.Lambda(lambda losses: tf.add_n(losses) / len(losses), name=name)(same)      # a scalar

    template = net()
    parallel = Dealt(template, 2)
    parallel.add_loss(tf.reduce_mean(parallel.outputs[1], keepdims=True))
    parallel.compile(optimizer=keras.optimizers.SGD(.05, clipnorm=5.), loss=[None, None])
    x = [rows(6), rows(2)]
    for _ in range(3):
        parallel.train_on_batch(x, [])

    def export(model, folder):
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        image, truth = model.inputs
        b.add_meta_graph_and_variables(K.get_session(), ['serve'], signature_def_map={
            'detect': signature1({'image': image}, {'boxes': model.outputs[0]}),
            'loss': signature1({'image': image, 'truth': truth}, {'boxes': model.outputs[0], 'loss': model.outputs[1]})})
        b.save()
        return [names('loss', ['image', 'truth'], ['boxes', 'loss']), names('detect', ['image'], ['boxes'])]
    finish1(c, parallel, template, net, export, x, expect='signature')


# ---------------------------------------------------------------- 125: the same as 105, its slice written otherwise

@case(125, 'k122-unstacked-shape', 'k122', 'keras',
      "tf.slice in a Lambda, corner and size made of the numbers that tf.unstack takes out of the shape, merge(mode='concat', concat_axis=0), Keras 1.2.2; the batch's "
      'remainder is dropped by the wrapper; rebuilt with learning phase 0; SavedModelBuilder of TensorFlow 1.2.')
def _125(c):
    def net():
        i = L.Input((9,), name='features')
        a = L.Dense(8, activation='relu', name='da')(i)
        b = L.Dense(8, activation='relu', name='db')(a)
        t = L.BatchNormalization(name='bn', mode=0)(L.merge([a, b], mode='sum', name='res'))
        return keras.models.Model(i, L.Dense(3, activation='softmax', name='dc')(t), name='resid')

    def slab(stack, level, levels):
        dims = tf.unstack(tf.shape(stack), num=len(stack.get_shape()))
        thick = dims[0] // levels
        corner = [level * thick] + [0] * (len(dims) - 1)
        return tf.slice(stack, tf.stack(corner), tf.stack([thick] + dims[1:]))

    def layered(model, levels):
        entry = model.inputs[0]
        slabs = [L.Lambda(slab, output_shape=lambda s: s, arguments={'level': k, 'levels': levels})(entry) for k in range(levels)]
        done = []
        for k, piece in enumerate(slabs):
            with tf.device('/gpu:%d' % k), tf.name_scope('tower_%d' % k):
                done.append(model(piece))
        with tf.device('/cpu:0'):
            whole = L.merge(done, mode='concat', concat_axis=0)
        return keras.models.Model(input=model.inputs, output=whole)

    K.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
    template = net()
    parallel = layered(template, 2)
    x = rows(9)
    fit(parallel, x, labels(8, 3), optimizer='adagrad')

    weights = template.get_weights()
    K.clear_session()
    K.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
    K.set_learning_phase(0)
    template = net()
    parallel = layered(template, 2)
    template.set_weights(weights)

    def again():
        K.set_learning_phase(0)
        return net()

    def export(model, folder):
        b = tf.saved_model.builder.SavedModelBuilder(folder)
        b.add_meta_graph_and_variables(K.get_session(), ['serve'], signature_def_map={
            'predict': signature1({'input': model.inputs[0]}, {'output': model.outputs[0]})})
        b.save()
        return names('predict', ['input'], ['output'])
    finish1(c, parallel, template, again, export, x)
