"""What all cases share: which Keras, tiny templates, and how a case is written down (Python 2.7 and 3).

Nothing here slices or merges: every script brings its own wrapper.
"""
from __future__ import print_function

import collections
import io
import json
import os
import sys

KERAS = os.environ.get('STRANGER_KERAS', 'keras')
OUT = os.environ['STRANGER_OUT']

import numpy as np
np.random.seed(7)
import tensorflow as tf
try:
    tf.random.set_seed(7)
except AttributeError:
    tf.set_random_seed(7)
import h5py  # noqa

if KERAS == 'tf.keras':
    keras = tf.keras
elif KERAS == 'tf_keras':
    import tf_keras as keras
else:
    import keras
import warnings
warnings.filterwarnings('ignore')

VERSION = getattr(keras, '__version__', '?')
K1 = VERSION.startswith('1.')
K3 = VERSION.startswith('3.')
K = keras.backend
L = keras.layers
Model, Sequential = keras.models.Model, keras.models.Sequential
Input = L.Input
Lambda, Dense, Activation, BatchNormalization = L.Lambda, L.Dense, L.Activation, L.BatchNormalization
Flatten, LSTM, Embedding, Dropout = L.Flatten, L.LSTM, L.Embedding, L.Dropout
Concatenate, concatenate = getattr(L, 'Concatenate', None), getattr(L, 'concatenate', None)
try:
    Layer = L.Layer
except AttributeError:
    from keras.engine.topology import Layer


# --- templates ---------------------------------------------------------------------------------

def conv(n, **kw):
    if K1:
        return L.Convolution2D(n, 3, 3, **kw)
    return L.Conv2D(n, (3, 3), **kw)


def mlp(name=None, features=6, classes=3):
    layers = [Dense(7, activation='relu', input_shape=(features,)), BatchNormalization(),
              Dense(classes, activation='softmax')]
    if K3:
        layers = [Input((features,)), Dense(7, activation='relu'), BatchNormalization(),
                  Dense(classes, activation='softmax')]
    return Sequential(layers, **({'name': name} if name else {}))


def cnn(name=None, shape=(8, 8, 3), classes=3, deep=False):
    """Functional, Conv + BatchNorm (twice where deep)."""
    a = Input(shape=shape)
    h = Activation('relu')(BatchNormalization()(conv(4)(a)))
    h = L.MaxPooling2D((2, 2))(h)
    if deep:
        h = BatchNormalization()(conv(5, activation='relu')(h))
    h = Dense(classes, activation='softmax')(Flatten()(h))
    return Model(a, h, **({'name': name} if name else {}))


def rnn(name=None, steps=5, features=3, units=4):
    layers = [LSTM(units, input_shape=(steps, features)), BatchNormalization(), Dense(2)]
    if K3:
        layers = [Input((steps, features)), LSTM(units), BatchNormalization(), Dense(2)]
    return Sequential(layers, **({'name': name} if name else {}))


def two_io(name=None):
    a, b = Input(shape=(6,), name='wide'), Input(shape=(4,), name='deep')
    h = BatchNormalization()(Dense(5, activation='relu')(a))
    g = Dense(5, activation='tanh')(b)
    both = concatenate([h, g])
    left = Dense(2, activation='softmax', name='left')(both)
    right = Dense(1, name='right')(both)
    return Model([a, b], [left, right], **({'name': name} if name else {}))


def siamese(name=None):
    enc = Sequential([Dense(5, activation='relu', input_shape=(6,)), BatchNormalization()], name='encoder')
    u, v = Input(shape=(6,)), Input(shape=(6,))
    d = L.subtract([enc(u), enc(v)])
    return Model([u, v], Dense(1, activation='sigmoid')(d), **({'name': name} if name else {}))


def nested(name=None, freeze=True):
    """Sequential inside Functional, BatchNorm at both levels, the inner first layer frozen."""
    inner = Sequential([Dense(6, activation='relu', input_shape=(6,)), BatchNormalization(), Dense(4)], name='trunk')
    if freeze:
        inner.layers[0].trainable = False
    a = Input(shape=(6,))
    h = BatchNormalization()(inner(a))
    return Model(a, Dense(3, activation='softmax')(h), **({'name': name} if name else {}))


# --- weights, data -----------------------------------------------------------------------------

def leaves(model):
    for layer in model.layers:
        if not isinstance(layer, (Model, Sequential)) and isinstance(getattr(layer, 'layer', None), (Model, Sequential)):
            layer = layer.layer  # TimeDistributed
        if isinstance(layer, (Model, Sequential)):
            for sub in leaves(layer):
                yield sub
        else:
            yield layer


def shake(model, seed=11):
    """Random weights everywhere, and BatchNorm statistics that differ from layer to layer."""
    rng = np.random.RandomState(seed)
    for layer in leaves(model):
        old = layer.get_weights()
        if not old:
            continue
        new = [0.4 * rng.randn(*np.shape(w)) if np.asarray(w).dtype.kind == 'f' else w for w in old]
        if 'BatchNormalization' in type(layer).__name__:
            new = [rng.uniform(.6, 1.6, np.shape(w)) if i in (0, len(old) - 1) else n
                   for i, (w, n) in enumerate(zip(old, new))]
        layer.set_weights([np.asarray(n, np.asarray(w).dtype) for n, w in zip(new, old)])
    return model


def data(*shapes, **kw):
    rng = np.random.RandomState(kw.get('seed', 5))
    # halves only, so that io.npz packs well
    return [(np.round(rng.randn(kw.get('n', 12), *s) * 2) / 2).astype('float32') for s in shapes]


def aslist(v):
    if isinstance(v, dict):
        return [v[k] for k in sorted(v)]
    return list(v) if isinstance(v, (list, tuple)) else [v]


def onehot(shape, seed=3):
    rng = np.random.RandomState(seed)
    y = np.zeros(shape, 'float32')
    y[np.arange(shape[0]), rng.randint(0, shape[-1], shape[0])] = 1
    return y


# --- writing a case ----------------------------------------------------------------------------

def write_case(values):
    if not os.path.isdir(OUT):
        os.makedirs(OUT)
    case = collections.OrderedDict([
        ('case', os.environ['STRANGER_CASE']), ('stack', os.environ['STRANGER_STACK']), ('keras', KERAS),
        ('keras_version', VERSION), ('tensorflow_version', tf.__version__),
        ('python', '%d.%d.%d' % sys.version_info[:3])])
    case.update(values)
    with io.open(os.path.join(OUT, 'case.json'), 'w', encoding='utf-8') as f:
        f.write(json.dumps(case, indent=1, separators=(',', ': ')).encode('utf-8').decode('utf-8') + u'\n')


def path(name):
    if not os.path.isdir(OUT):
        os.makedirs(OUT)
    return os.path.join(OUT, name)


def predict(model, x, order=None):
    n = len(next(iter(x.values())) if isinstance(x, dict) else aslist(x)[0])
    y = model.predict(x, batch_size=n, verbose=0)
    return [np.asarray(v) for v in aslist(y)]


def train(model, x, y, steps=2):
    for _ in range(steps):
        model.train_on_batch(x, y)


def optimizer_of(name):
    o = keras.optimizers
    kw = {'lr': 0.01} if not (K3 or hasattr(o, 'legacy')) else {'learning_rate': 0.01}
    if name == 'momentum':
        return o.SGD(momentum=0.9, **kw)
    return {'adam': o.Adam, 'sgd': o.SGD, 'rmsprop': o.RMSprop, 'adagrad': o.Adagrad}[name](**kw)


def wrapper(parallel, base, how, towers, x, template=None, scope='whole', merge=None, wrappers=1,
            loss='mse', base_loss=None, metrics=None, optimizer='sgd', files='h5', fit_x=None, fit_y=None,
            expected='parallel', reason='', doubts='', atol=1e-5, base_x=None, pick=None, inner_towers=None, confidence=None, extra=None,
            opaque_slices=True):
    """Train the parallel model, save it; compile what should come out alike, save that too."""
    x = x if isinstance(x, dict) or len(x) > 1 else x[0]
    shake(parallel)
    opt = optimizer_of(optimizer)
    compile_kw = {'metrics': metrics} if metrics else {}
    parallel.compile(optimizer=opt, loss=loss, **compile_kw)
    first = predict(parallel, x)
    if fit_y is None:
        fit_y = [onehot(np.shape(v)) if np.ndim(v) == 2 and np.shape(v)[-1] > 1 else np.ones_like(v) for v in first]
        fit_y = fit_y if len(fit_y) > 1 else fit_y[0]
    train(parallel, x if fit_x is None else fit_x, fit_y)
    base.compile(optimizer=parallel.optimizer, loss=base_loss or loss, **compile_kw)
    p, y = predict(parallel, x), predict(base, x if base_x is None else base_x)
    y = y if pick is None else [y[k] for k in pick]  # base's outputs in the parallel model's order
    worst = max(float(np.max(np.abs(np.asarray(a, 'float64') - np.asarray(b, 'float64')))) for a, b in zip(p, y))
    assert [a.shape for a in p] == [b.shape for b in y], ([a.shape for a in p], [b.shape for b in y])
    assert worst <= atol, worst
    if files == 'weights':
        parallel.save_weights(path('weights.h5'))
        base.save_weights(path('base_weights.h5'))
    elif files == 'weights.h5':
        parallel.save_weights(path('parallel.weights.h5'))
        base.save_weights(path('base.weights.h5'))
    if files.startswith('weights'):
        for name, m in (('model.json', parallel), ('base_model.json', base)):
            with io.open(path(name), 'w', encoding='utf-8') as f:
                text = m.to_json()
                f.write(text if not isinstance(text, bytes) else text.decode('utf-8'))
    else:
        for suffix in files.split(','):
            parallel.save(path('parallel.' + suffix))
            base.save(path('base.' + suffix))
    arrays = {}
    for k, v in (enumerate(aslist(x)) if not isinstance(x, dict) else sorted(x.items())):
        arrays['x_%s' % k] = v
    for k, v in enumerate(p):
        arrays['parallel_%d' % k] = v
    for k, v in enumerate(y):
        arrays['base_%d' % k] = v
    np.savez_compressed(path('io.npz'), **arrays)
    inner = template if template is not None else base
    values = collections.OrderedDict([
        ('how', how), ('towers', towers), ('scope', scope), ('wrappers', wrappers),
        ('wrapper', parallel.name), ('merge', merge), ('template', inner.name), ('base', base.name),
        ('expected', expected), ('code_free', not opaque_slices), ('optimizer', type(opt).__name__),
        ('largest_difference', worst), ('reason', reason), ('doubts', doubts)])
    if inner_towers:
        values['towers_by_depth'] = inner_towers
    if extra:
        values.update(extra)
    write_case(values)
    print('wrapper  %-46s worst %.1e' % (os.environ['STRANGER_CASE'], worst))


def predict_rows(model, x):
    """As predict, for models that give back more or fewer rows than they take."""
    return [np.asarray(v) for v in aslist(model.predict_on_batch(x))]


def lookalike(model, how, reason, x, doubts='', loss='mse', optimizer='sgd', files='h5', towers=None, fit_y=None,
              expected='clean', template=None, extra=None, opaque_slices=True):
    x = x if isinstance(x, dict) or len(x) > 1 else x[0]
    shake(model)
    opt = optimizer_of(optimizer)
    model.compile(optimizer=opt, loss=loss)
    first = predict_rows(model, x)
    n = len(next(iter(x.values())) if isinstance(x, dict) else aslist(x)[0])
    # rows that multiply cannot be trained through Keras's own row check: left as they are
    if all(len(v) == n for v in first):
        fit_y = fit_y if fit_y is not None else [np.ones_like(v) for v in first]
        train(model, x, fit_y if len(fit_y) > 1 else fit_y[0])
    y = predict_rows(model, x)
    if files == 'weights':
        model.save_weights(path('lookalike.h5'))
        with io.open(path('model.json'), 'w', encoding='utf-8') as f:
            f.write(u'%s' % model.to_json())
    else:
        for suffix in files.split(','):
            model.save(path('lookalike.' + suffix))
    arrays = {}
    for k, v in (enumerate(aslist(x)) if not isinstance(x, dict) else sorted(x.items())):
        arrays['x_%s' % k] = v
    for k, v in enumerate(y):
        arrays['y_%d' % k] = v
    np.savez_compressed(path('io.npz'), **arrays)
    values = collections.OrderedDict([
        ('how', how), ('towers', towers), ('scope', None), ('model', model.name), ('template', template),
        ('expected', expected), ('code_free', not opaque_slices), ('reason', reason), ('doubts', doubts)])
    if extra:
        values.update(extra)
    write_case(values)
    print('lookalike %-45s %s' % (os.environ['STRANGER_CASE'], [v.shape for v in y]))
