"""What every case script shares (Python 2.7 and 3): seeds, sessions, and finish(), which writes what belongs beside the checkpoint."""
from __future__ import print_function

import io
import json
import os
import traceback

import numpy as np

CASE = {}  # run_case.py fills it: stack, api, number


def data(seed, rows, *shapes):
    """One float32 array per shape."""
    rng = np.random.RandomState(seed)
    out = [rng.normal(size=(rows,) + tuple(s)).astype('float32') for s in shapes]
    return out if len(out) > 1 else out[0]


def ids(seed, rows, length, top):
    return np.random.RandomState(seed).randint(0, top, size=(rows, length)).astype('int32')


def soft_session(backend):
    """A TF 1 session that puts '/gpu:i' on the CPU where there is no GPU."""
    import tensorflow as tf
    v1 = getattr(tf.compat, 'v1', tf)
    v1.set_random_seed(int(CASE['number']))
    np.random.seed(int(CASE['number']))
    session = v1.Session(config=v1.ConfigProto(allow_soft_placement=True))
    backend.set_session(session)
    return session


def seed2():
    import tensorflow as tf
    np.random.seed(int(CASE['number']))
    tf.random.set_seed(int(CASE['number']))


def reader_of(prefix):
    import tensorflow as tf
    prefix = os.path.join('.', prefix)
    if hasattr(tf.train, 'load_checkpoint'):
        return tf.train.load_checkpoint(prefix)
    return tf.train.NewCheckpointReader(prefix)


def tensors(prefix):
    reader, out, strings = reader_of(prefix), {}, []
    for name in sorted(reader.get_variable_to_shape_map()):
        value = np.asarray(reader.get_tensor(name))
        if value.dtype.kind in 'OSU':
            strings.append(name)
        else:
            out[name] = value
    return out, strings


def short(exc):
    return traceback.format_exception_only(type(exc), exc)[-1].strip().splitlines()[0][:160]


def text(path, string):
    with io.open(path, 'w', encoding='utf-8') as f:
        f.write(string if isinstance(string, type(u'')) else string.decode('utf-8'))


def listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def optimizer_state(used):
    try:
        return [np.asarray(w) for w in used.get_weights()]
    except Exception:  # TensorFlow's own optimizers, and those since 2.11
        try:
            return [np.asarray(v) for v in (used.variables() if callable(used.variables) else used.variables)]
        except Exception:
            return None


def finish(how, parallel, base, x, template=None, towers=None, scope=None, expected='parallel', without='clean with a warning',
           without_ok=(), prefix='parallel.ckpt', optimizer=True, compile_with=None, tolerance=1e-4, ok=(), doubts='', complete=True,
           same_order=True, **more):
    """Everything beside the checkpoint. optimizer: the checkpoint holds the optimizer's state, so base.h5 shall too."""
    x = [np.asarray(a) for a in listed(x)]
    assert all(len(a) == 8 for a in x)
    feed = x if len(x) > 1 else x[0]
    p = [np.asarray(a) for a in listed(parallel.predict(feed, batch_size=8))]
    y = [np.asarray(a) for a in listed(base.predict(feed, batch_size=8))]
    gap = max(float(np.abs(a.astype('float64') - b.astype('float64')).max()) for a, b in zip(p, y))
    assert [a.shape for a in p] == [a.shape for a in y], ([a.shape for a in p], [a.shape for a in y])
    assert gap <= tolerance, 'predictions differ by %g' % gap
    arrays = {'x%d' % i: a for i, a in enumerate(x)}
    arrays.update({'y%d' % i: a for i, a in enumerate(y)})
    arrays.update({'p%d' % i: a for i, a in enumerate(p)})
    np.savez_compressed('io.npz', **arrays)

    found, strings = tensors(prefix)
    np.savez_compressed('tensors.npz', **found)
    values = base.get_weights()
    missing = [i for i, w in enumerate(values) if not any(t.shape == w.shape and np.array_equal(t, w) for t in found.values())]
    assert complete is None or bool(missing) != complete, 'weights of the base not in the checkpoint: %s' % missing

    used = getattr(parallel, 'optimizer', None)
    state = optimizer_state(used) if optimizer else None
    if state:  # else the stack does not say what it is: believe the script
        optimizer = all(any(t.shape == w.shape and np.array_equal(t, w) for t in found.values()) for w in state)
    unsaved = {}

    def attempt(name, action):
        try:
            action()
        except Exception as exc:  # whatever the stack throws
            unsaved[name] = short(exc)
            if os.path.exists(name):
                os.remove(name)

    attempt('model.json', lambda: text('model.json', parallel.to_json()))
    attempt('base_model.json', lambda: text('base_model.json', base.to_json()))
    keras3 = CASE['api'] == 'keras 3'
    if not keras3:
        attempt('base_weights.h5', lambda: base.save_weights('base_weights.h5'))
    if keras3 or CASE['stack'] in ('tf215', 'tf221'):
        attempt('base.weights.h5', lambda: base.save_weights('base.weights.h5'))

    def full():
        if optimizer and used is not None:
            keywords = {'loss': 'mse'}
            keywords.update(compile_with or {})
            base.compile(optimizer=used, **keywords)
            base.save('base.h5')
        else:
            base.save('base.h5', include_optimizer=False) if CASE['stack'] not in ('k122', 'py27k122') else base.save('base.h5')

    attempt('base.h5', full)
    held = None
    if os.path.exists('base.h5'):
        import h5py
        with h5py.File('base.h5', 'r') as f:
            held = sorted(f['optimizer_weights'].attrs.get('weight_names', [])) if 'optimizer_weights' in f else []
            held = len(held) or (1 if 'optimizer_weights' in f else 0)

    case = {
        'stack': CASE['stack'], 'api': CASE['api'], 'how': how, 'prefix': prefix, 'expected': expected, 'towers': towers, 'scope': scope,
        'template_parameters': int((template if template is not None else base).count_params()),
        'base_parameters': int(base.count_params()),
        'without_architecture': without, 'without_architecture_also_acceptable': list(without_ok),
        'meta': os.path.exists(prefix + '.meta'), 'object_graph': '_CHECKPOINTABLE_OBJECT_GRAPH' in strings,
        'optimizer': type(used).__name__ if used is not None else None,
        'optimizer_state_in_checkpoint': bool(optimizer and used is not None),
        'base_h5_holds_optimizer_weights': bool(held), 'prediction_gap': gap,
        'weights_missing_from_checkpoint': len(missing), 'not_saved': unsaved,
        'also_acceptable': list(ok), 'doubts': doubts,
    }
    case.update(more)
    text('case.json', json.dumps(case, indent=1, sort_keys=True) + '\n')
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk('.') for f in fs)
    print('OK %s%s gap %.1e tensors %d missing %d opt %s unsaved %s  %d KB' % (
        CASE['number'], '' if optimizer else ' (no optimizer state)', gap, len(found), len(missing), held, unsaved, size // 1024))
