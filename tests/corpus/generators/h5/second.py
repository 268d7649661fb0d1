"""What the second round adds to common.py: full control of compile, of the kept files, and official multi_gpu_model."""
from common import *

if os.environ['STRANGER_STACK'] in ('k209', 'k216', 'k224', 'py27k224', 'k231', 'tf20', 'tf22', 'tf23'):
    import fake_gpus
    fake_gpus.install(8)  # before the first weight, for its session


def text(model, name):
    with io.open(path(name), 'w', encoding='utf-8') as f:
        s = model.to_json()
        f.write(s if not isinstance(s, bytes) else s.decode('utf-8'))


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


def opt(kind):
    o = keras.optimizers
    new = K3 or (hasattr(o, 'legacy') and not hasattr(o, 'legacy_tf_layers') and VERSION >= '2.11')
    lr = {'learning_rate': 0.01} if new else {'lr': 0.01}
    return {'adam': lambda: o.Adam(**lr), 'amsgrad': lambda: o.Adam(amsgrad=True, **lr), 'nadam': lambda: o.Nadam(**lr),
            'rmsprop': lambda: o.RMSprop(**lr), 'adagrad': lambda: o.Adagrad(**lr), 'sgd': lambda: o.SGD(**lr),
            'adadelta': lambda: o.Adadelta(), 'adamax': lambda: o.Adamax(**lr),
            'nesterov': lambda: o.SGD(momentum=.9, nesterov=True, **lr)}[kind]()


def targets(outs):
    t = [onehot(v.shape) if v.ndim == 2 and v.shape[-1] > 1 else (np.round(v * 0 + .5) + 1).astype('float32') for v in outs]
    return t if len(t) > 1 else t[0]


def wrap(parallel, base, x, towers, how, reason, scope='whole', template=None, merge=None, optimizer='adam', loss='mse',
         comp=None, base_comp=None, files='h5', y=None, steps=2, fit_kw=None, doubts='', extra=None, shake_it=True, base_predict=None,
         atol=2e-5, compiled=False, depths=None, wrappers=1, parallel_predict=None, opaque_slices=True):
    """files: h5, keras, or weights, weights+parallel, weights+template (which JSON was kept)."""
    x = x if isinstance(x, dict) or len(x) > 1 else x[0]
    if shake_it:
        shake(parallel)
    run = parallel_predict or predict
    comp = dict({'loss': loss}, **(comp or {}))
    if not compiled:
        parallel.compile(optimizer=opt(optimizer), **comp)
    first = run(parallel, x)
    y = targets(first) if y is None else y
    for _ in range(steps):
        parallel.train_on_batch(x, y, **(fit_kw or {}))
    finite(parallel)
    if not compiled:
        base.compile(optimizer=parallel.optimizer, **dict(comp, **(base_comp or {})))
    p, b = run(parallel, x), (base_predict or predict)(base, x)
    assert [v.shape for v in p] == [v.shape for v in b], ([v.shape for v in p], [v.shape for v in b])
    worst = max(float(np.max(np.abs(np.asarray(u, 'float64') - np.asarray(v, 'float64')))) for u, v in zip(p, b))
    assert worst <= atol, worst
    if files.startswith('weights'):
        parallel.save_weights(path('weights.h5'))
        base.save_weights(path('base_weights.h5'))
        text(base, 'base_model.json')
        if files != 'weights':
            text(parallel if files.endswith('parallel') else base, 'model.json')
    else:
        for s in files.split(','):
            parallel.save(path('parallel.' + s))
            base.save(path('base.' + s))
    save_io(x, parallel=p, base=b)
    inner = template if template is not None else base
    values = collections.OrderedDict([
        ('how', how), ('kind', 'wrapper'), ('towers', towers), ('scope', scope), ('wrappers', wrappers), ('wrapper', parallel.name),
        ('merge', merge), ('template', inner.name), ('base', base.name), ('expected', 'parallel'), ('code_free', not opaque_slices),
        ('optimizer', type(parallel.optimizer).__name__), ('largest_difference', worst), ('reason', reason), ('doubts', doubts)])
    if files.startswith('weights'):
        values['architecture'] = {'weights': None, 'weights+parallel': 'parallel', 'weights+template': 'template'}[files]
    if depths:
        values['towers_by_depth'] = depths
    values.update(extra or {})
    write_case(values)
    print('wrapper   %-44s worst %.1e' % (os.environ['STRANGER_CASE'], worst))


def same(model, x, how, reason, kind='lookalike', optimizer='sgd', loss='mse', comp=None, files='h5', y=None, doubts='', extra=None,
         trained=True, shake_it=True, fit_kw=None, compiled=False, run=None):
    """A look-alike or a plain model: it must be called clean."""
    x = x if isinstance(x, dict) or len(x) > 1 else x[0]
    if shake_it:
        shake(model)
    run = run or predict_rows
    if not compiled:
        model.compile(optimizer=opt(optimizer), **dict({'loss': loss}, **(comp or {})))
    if trained:
        y = targets(run(model, x)) if y is None else y
        for _ in range(2):
            model.train_on_batch(x, y, **(fit_kw or {}))
    finite(model)
    out = run(model, x)
    if files.startswith('weights'):
        model.save_weights(path('lookalike.h5'))
        text(model, 'model.json')
    else:
        for s in files.split(','):
            model.save(path('lookalike.' + s))
    save_io(x, y=out)
    values = collections.OrderedDict([
        ('how', how), ('kind', kind), ('towers', None), ('scope', None), ('model', model.name), ('template', None), ('expected', 'clean'),
        ('reason', reason), ('doubts', doubts)])
    values.update(extra or {})
    write_case(values)
    print('%-9s %-44s %s' % (kind, os.environ['STRANGER_CASE'], [v.shape for v in out]))


def official(model, gpus, **kw):
    """The stack's own multi_gpu_model."""
    try:
        f = keras.utils.multi_gpu_model
    except AttributeError:
        from keras.utils.training_utils import multi_gpu_model as f
    return f(model, gpus=gpus, **kw)
