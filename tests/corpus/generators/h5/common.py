"""What all cases share: which Keras, tiny templates, and how a case is written down (Python 2.7 and 3).

Nothing here slices or merges: every case brings its own wrapper.
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

def path(name):
    if not os.path.isdir(OUT):
        os.makedirs(OUT)
    return os.path.join(OUT, name)


def text(model, name):
    s = model.to_json()
    with io.open(path(name), 'w', encoding='utf-8') as f:
        f.write(s if not isinstance(s, bytes) else s.decode('utf-8'))


def write_case(**computed):
    """The author's note, with what this run knows."""
    with io.open(os.environ['STRANGER_NOTE'], encoding='utf-8') as f:
        case = json.load(f, object_pairs_hook=collections.OrderedDict)
    case.update(case=os.environ['STRANGER_CASE'], stack=os.environ['STRANGER_STACK'], keras=KERAS, keras_version=VERSION,
                tensorflow_version=tf.__version__, python='%d.%d.%d' % sys.version_info[:3], **computed)
    with io.open(path('case.json'), 'w', encoding='utf-8') as f:
        f.write(json.dumps(case, indent=1, separators=(',', ': ')).encode('utf-8').decode('utf-8') + u'\n')
    print('%-9s %-46s %s' % (case['expected'], case['case'], computed.get('largest_difference', '')))


def save_io(x, **sets):
    arrays = {}
    for k, v in (enumerate(aslist(x)) if not isinstance(x, dict) else sorted(x.items())):
        arrays['x_%s' % k] = v
    for name, ys in sets.items():
        for k, v in enumerate(ys):
            arrays['%s_%d' % (name, k)] = v
    for k, v in arrays.items():
        assert np.all(np.isfinite(v)), ('not finite', k)
    np.savez_compressed(path('io.npz'), **arrays)


def finite(model):
    for w in model.get_weights():
        assert np.all(np.isfinite(w)), 'weights not finite'


def predict(model, x):
    n = len(next(iter(x.values())) if isinstance(x, dict) else aslist(x)[0])
    return [np.asarray(v) for v in aslist(model.predict(x, batch_size=n, verbose=0))]


def predict_rows(model, x):
    """As predict, for models that give back more or fewer rows than they take."""
    return [np.asarray(v) for v in aslist(model.predict_on_batch(x))]


def optimizer_of(kind):
    o = keras.optimizers
    lr = {'learning_rate': 0.01} if K3 or hasattr(o, 'legacy') else {'lr': 0.01}
    return {'adam': lambda: o.Adam(**lr), 'amsgrad': lambda: o.Adam(amsgrad=True, **lr), 'nadam': lambda: o.Nadam(**lr),
            'rmsprop': lambda: o.RMSprop(**lr), 'adagrad': lambda: o.Adagrad(**lr), 'sgd': lambda: o.SGD(**lr),
            'adadelta': lambda: o.Adadelta(), 'adamax': lambda: o.Adamax(**lr), 'momentum': lambda: o.SGD(momentum=.9, **lr),
            'nesterov': lambda: o.SGD(momentum=.9, nesterov=True, **lr)}[kind]()


def targets(outs):
    t = [onehot(np.shape(v)) if np.ndim(v) == 2 and np.shape(v)[-1] > 1 else np.ones_like(v, 'float32') for v in outs]
    return t if len(t) > 1 else t[0]


def save(model, name, files):
    """`h5`, `keras` or both; `weights`, or `weights.h5` (keyed by paths)."""
    if files == 'weights.h5':
        model.save_weights(path(name + '.weights.h5'))
    elif files.startswith('weights'):
        model.save_weights(path({'parallel': 'weights.h5', 'base': 'base_weights.h5'}.get(name, name + '.h5')))
    else:
        for suffix in files.split(','):
            model.save(path('%s.%s' % (name, suffix)))


def wrapper(parallel, base, x, template=None, optimizer='sgd', loss='mse', comp=None, base_comp=None, files='h5', y=None, steps=2,
            fit_kw=None, shake_it=True, parallel_predict=predict, base_predict=predict, base_x=None, pick=None, atol=2e-5, compiled=False,
            **computed):
    """Train the parallel model, save it; compile what should come out alike, save that too.

    files: h5, keras; weights, weights+parallel, weights+template (which JSON was kept); weights.h5. pick: outputs of the base in the
    parallel model's order.
    """
    x = x if isinstance(x, dict) or len(x) > 1 else x[0]
    if shake_it:
        shake(parallel)
    comp = dict({'loss': loss}, **(comp or {}))
    if not compiled:
        parallel.compile(optimizer=optimizer_of(optimizer), **comp)
    first = parallel_predict(parallel, x)
    for _ in range(steps):
        parallel.train_on_batch(x, targets(first) if y is None else y, **(fit_kw or {}))
    finite(parallel)
    if not compiled:
        base.compile(optimizer=parallel.optimizer, **dict(comp, **(base_comp or {})))
    p, b = parallel_predict(parallel, x), base_predict(base, x if base_x is None else base_x)
    b = b if pick is None else [b[k] for k in pick]
    assert [v.shape for v in p] == [v.shape for v in b], ([v.shape for v in p], [v.shape for v in b])
    worst = max(float(np.max(np.abs(np.asarray(u, 'float64') - np.asarray(v, 'float64')))) for u, v in zip(p, b))
    assert worst <= atol, worst
    save(parallel, 'parallel', files)
    save(base, 'base', files)
    if files.startswith('weights'):
        text(base, 'base_model.json')
        if files != 'weights':
            text(base if files.endswith('template') else parallel, 'model.json')
    save_io(x, parallel=p, base=b)
    said = dict(wrapper=parallel.name, template=(base if template is None else template).name, base=base.name,
                optimizer=type(parallel.optimizer).__name__, largest_difference=worst)
    write_case(**dict(said, **computed))


def lookalike(model, x, optimizer='sgd', loss='mse', comp=None, files='h5', y=None, trained=True, shake_it=True, fit_kw=None,
              compiled=False, run=predict_rows):
    """A look-alike or a plain model: it must be called clean."""
    x = x if isinstance(x, dict) or len(x) > 1 else x[0]
    if shake_it:
        shake(model)
    if not compiled:
        model.compile(optimizer=optimizer_of(optimizer), **dict({'loss': loss}, **(comp or {})))
    first = run(model, x)
    n = len(next(iter(x.values())) if isinstance(x, dict) else aslist(x)[0])
    # rows that multiply cannot be trained through Keras's own row check: left as they are
    if trained and all(len(v) == n for v in first):
        for _ in range(2):
            model.train_on_batch(x, targets(first) if y is None else y, **(fit_kw or {}))
    finite(model)
    out = run(model, x)
    save(model, 'lookalike', files)
    if files.startswith('weights'):
        text(model, 'model.json')
    save_io(x, y=out)
    write_case(model=model.name)


def official(model, gpus, **kw):
    """The stack's own multi_gpu_model."""
    try:
        f = keras.utils.multi_gpu_model
    except AttributeError:
        from keras.utils.training_utils import multi_gpu_model as f
    return f(model, gpus=gpus, **kw)
