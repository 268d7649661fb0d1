"""What every case shares (Python 2.7 and 3): data, seeds, sessions, and finish(), which writes what belongs beside the checkpoint."""
from __future__ import print_function

import io
import json
import os
import traceback

import numpy as np

CASE = {}  # run_case.py fills it: stack, api, number, note
#: What an author says of a case: the note that is kept has it, and of a new case finish() is given it.
SAID = ('how', 'expected', 'towers', 'scope', 'without_architecture', 'without_architecture_also_acceptable', 'also_acceptable', 'doubts')


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


def eager():
    """Seeds for TF 2, with soft placement."""
    import tensorflow as tf
    seed2()
    tf.config.set_soft_device_placement(True)


def two_cpus():
    """MirroredStrategy over two virtual CPUs (call before anything else of TF 2)."""
    import tensorflow as tf
    cpu = tf.config.list_physical_devices('CPU')[0]
    if hasattr(tf.config, 'set_logical_device_configuration'):
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    else:
        tf.config.experimental.set_virtual_device_configuration(cpu, [tf.config.experimental.VirtualDeviceConfiguration()] * 2)
    eager()
    return tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1'])


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


def predictions(model, x):
    """Float32 in place of bfloat16, which NumPy's own files do not know."""
    made = [np.asarray(a) for a in listed(model.predict(x if len(x) > 1 else x[0], batch_size=8))]
    return [a.astype('float32') if 'bfloat16' in str(a.dtype) else a for a in made]


def absent(weights, found):
    """Places of the weights that a checkpoint has not."""
    return [i for i, w in enumerate(weights) if not any(t.shape == w.shape and np.array_equal(t, w) for t in found.values())]


def finish(par, base, x, template=None, prefix='parallel.ckpt', optimizer=True, settings=None, tolerance=1e-4, complete=True,
           json_of='parallel', base_optimizer=None, **said):
    """Everything beside the checkpoint. optimizer: the checkpoint holds the optimizer's state, so base.h5 shall too; settings: of
    base.compile; json_of='template': the parallel model's JSON was not kept; said: SAID of a new case, and what the note has besides."""
    x = [np.asarray(a) for a in listed(x)]
    assert all(len(a) == 8 for a in x)
    p, y = predictions(par, x), predictions(base, x)
    assert [a.shape for a in p] == [a.shape for a in y], ([a.shape for a in p], [a.shape for a in y])
    gap = max(float(np.abs(a.astype('float64') - b.astype('float64')).max()) for a, b in zip(p, y))
    assert gap <= tolerance, 'predictions differ by %g' % gap
    assert all(np.isfinite(a).all() for a in p), 'dead predictions'
    np.savez_compressed('io.npz', **{'%s%d' % (c, i): a for c, values in (('x', x), ('y', y), ('p', p)) for i, a in enumerate(values)})
    found, strings = tensors(prefix)
    np.savez_compressed('tensors.npz', **{n: t.view('uint16') if 'bfloat16' in str(t.dtype) else t for n, t in found.items()})
    missing = absent([np.asarray(w) for w in base.get_weights()], found)
    assert complete is None or bool(missing) != complete, 'weights of the base not in the checkpoint: %s' % missing

    used = getattr(par, 'optimizer', None)
    state = optimizer_state(used) if optimizer and used is not None else None
    if state:  # else the stack does not say what it is: believe the script
        optimizer = not absent(state, found)
    optimizer, unsaved = bool(optimizer and used is not None), {}

    def attempt(name, action):
        try:
            action()
        except Exception as exc:  # whatever the stack throws
            unsaved[name] = traceback.format_exception_only(type(exc), exc)[-1].strip().splitlines()[0][:160]
            if os.path.exists(name):
                os.remove(name)

    if json_of == 'parallel':
        attempt('model.json', lambda: text('model.json', par.to_json()))
    attempt('base_model.json', lambda: text('base_model.json', base.to_json()))
    keras3 = CASE['api'] == 'keras 3'
    if not keras3:
        attempt('base_weights.h5', lambda: base.save_weights('base_weights.h5'))
    if keras3 or CASE['stack'] in ('tf215', 'tf221'):
        attempt('base.weights.h5', lambda: base.save_weights('base.weights.h5'))
    order = [id(v) for v in par.trainable_weights] == [id(v) for v in base.trainable_weights]

    def full():
        if optimizer:
            base.compile(**dict({'loss': 'mse'}, optimizer=base_optimizer or used, **(settings or {})))
            base.save('base.h5')
        elif CASE['stack'].endswith('k122'):
            base.save('base.h5')
        else:
            base.save('base.h5', include_optimizer=False)

    attempt('base.h5', full)
    held = False
    if os.path.exists('base.h5'):
        import h5py
        with h5py.File('base.h5', 'r') as f:
            held = 'optimizer_weights' in f

    case = {'expected': 'parallel', 'towers': None, 'scope': None, 'without_architecture': 'clean with a warning',
            'without_architecture_also_acceptable': [], 'also_acceptable': [], 'doubts': ''}
    case.update((key, CASE['note'][key]) for key in SAID if key in CASE['note'])
    case.update(
        stack=CASE['stack'], api=CASE['api'], prefix=prefix, prediction_gap=gap, not_saved=unsaved, architecture_kept=json_of,
        template_parameters=int((base if template is None else template).count_params()), base_parameters=int(base.count_params()),
        meta=os.path.exists(prefix + '.meta'), object_graph='_CHECKPOINTABLE_OBJECT_GRAPH' in strings,
        optimizer=type(used).__name__ if used is not None else None, optimizer_state_in_checkpoint=optimizer,
        base_h5_holds_optimizer_weights=held, trainable_order_same=order, weights_missing_from_checkpoint=len(missing), **said)
    text('case.json', json.dumps(case, indent=1, sort_keys=True) + '\n')
    print('OK %s gap %.1e tensors %d missing %d optimizer %s/%s order %s graph %s meta %s unsaved %s' % (
        CASE['number'], gap, len(found), len(missing), optimizer, held, order, case['object_graph'], case['meta'], unsaved))
