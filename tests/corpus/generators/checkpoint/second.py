"""What the case scripts of the second round share (Python 2.7 and 3): the first round's kit where it is the same, and their own finish()."""
from __future__ import print_function

import json
import os

import numpy as np
from kit import CASE, ids as tokens, listed as many, optimizer_state as state_of, seed2, short, soft_session as session_of, tensors, text as write_text


def rows(seed, n, *shapes):
    """One float32 array of n rows per shape; a single one comes bare."""
    rng = np.random.RandomState(seed)
    made = [rng.normal(size=(n,) + tuple(s)).astype('float32') for s in shapes]
    return made[0] if len(made) == 1 else made


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


def wide(a):
    a = np.asarray(a)
    return a.astype('float32') if 'bfloat16' in str(a.dtype) else a


def same(a, b):
    return a.shape == b.shape and np.array_equal(a, b)


def finish(how, par, base, x, template=None, towers=None, scope=None, expected='parallel', without='clean with a warning', without_ok=(),
           prefix='parallel.ckpt', optimizer=True, settings=None, tolerance=1e-4, ok=(), doubts='', json_of='parallel', complete=True, base_optimizer=None, **more):
    """optimizer: the file holds the optimizer's state; settings: of base.compile; json_of='template': the parallel model's JSON was not kept."""
    x = [np.asarray(a) for a in many(x)]
    assert all(len(a) == 8 for a in x)
    feed = x if len(x) > 1 else x[0]
    p = [wide(a) for a in many(par.predict(feed, batch_size=8))]
    y = [wide(a) for a in many(base.predict(feed, batch_size=8))]
    assert [a.shape for a in p] == [a.shape for a in y], ([a.shape for a in p], [a.shape for a in y])
    gap = max(float(np.abs(a.astype('float64') - b.astype('float64')).max()) for a, b in zip(p, y))
    assert gap <= tolerance, 'predictions differ by %g' % gap
    assert all(np.isfinite(a).all() and a.std() > 0 for a in p), 'dead predictions'
    arrays = {}
    for letter, values in (('x', x), ('y', y), ('p', p)):
        arrays.update(('%s%d' % (letter, i), a) for i, a in enumerate(values))
    np.savez_compressed('io.npz', **arrays)

    found, strings = tensors(prefix)
    # NumPy's own files know no bfloat16: those are kept as their bits
    np.savez_compressed('tensors.npz', **{n: t.view('uint16') if 'bfloat16' in str(t.dtype) else t for n, t in found.items()})
    weights = [np.asarray(w) for w in base.get_weights()]
    missing = [i for i, w in enumerate(weights) if not any(same(t, w) for t in found.values())]
    assert not missing or not complete, 'weights of the base that are not in the checkpoint: %s' % missing

    used = getattr(par, 'optimizer', None)
    state = state_of(used) if optimizer and used is not None else None
    if state:
        optimizer = all(any(same(t, w) for t in found.values()) for w in state)
    unsaved = {}

    def attempt(name, action):
        try:
            action()
        except Exception as exc:
            unsaved[name] = short(exc)
            if os.path.exists(name):
                os.remove(name)

    keras3 = CASE['api'] == 'keras 3'
    if json_of == 'parallel':
        attempt('model.json', lambda: write_text('model.json', par.to_json()))
    attempt('base_model.json', lambda: write_text('base_model.json', base.to_json()))
    if not keras3:
        attempt('base_weights.h5', lambda: base.save_weights('base_weights.h5'))
    if keras3 or CASE['stack'] in ('tf215', 'tf221'):
        attempt('base.weights.h5', lambda: base.save_weights('base.weights.h5'))
    order = [id(v) for v in par.trainable_weights] == [id(v) for v in base.trainable_weights]

    def whole():
        if optimizer and used is not None:
            base.compile(**dict({'loss': 'mse'}, optimizer=base_optimizer or used, **(settings or {})))
            base.save('base.h5')
        elif CASE['stack'].endswith('k122'):
            base.save('base.h5')
        else:
            base.save('base.h5', include_optimizer=False)

    attempt('base.h5', whole)
    held = False
    if os.path.exists('base.h5'):
        import h5py
        with h5py.File('base.h5', 'r') as f:
            held = 'optimizer_weights' in f and len(f['optimizer_weights']) > 0

    case = {
        'stack': CASE['stack'], 'api': CASE['api'], 'how': how, 'prefix': prefix, 'expected': expected, 'towers': towers, 'scope': scope,
        'template_parameters': int((base if template is None else template).count_params()), 'base_parameters': int(base.count_params()),
        'without_architecture': without, 'without_architecture_also_acceptable': list(without_ok),
        'meta': os.path.exists(prefix + '.meta'), 'object_graph': '_CHECKPOINTABLE_OBJECT_GRAPH' in strings,
        'optimizer': type(used).__name__ if used is not None else None, 'optimizer_state_in_checkpoint': bool(optimizer and used is not None),
        'base_h5_holds_optimizer_weights': held, 'trainable_order_same': order, 'prediction_gap': gap,
        'weights_missing_from_checkpoint': len(missing), 'not_saved': unsaved, 'architecture_kept': json_of,
        'also_acceptable': list(ok), 'doubts': doubts,
    }
    case.update(more)
    write_text('case.json', json.dumps(case, indent=1, sort_keys=True) + '\n')
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk('.') for f in fs)
    print('OK %s gap %.1e tensors %d missing %d optimizer %s/%s order %s graph %s meta %s unsaved %s %d KB' % (
        CASE['number'], gap, len(found), len(missing), case['optimizer_state_in_checkpoint'], held, order, case['object_graph'], case['meta'], unsaved, size // 1024))
