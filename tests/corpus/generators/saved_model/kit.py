# -*- coding: utf-8 -*-
"""What the case scripts share.  Runs on Python 2.7 and 3; TensorFlow is put in by run.py."""
from __future__ import print_function, division

import json
import os
import shutil
import sys
import tempfile

CASES = {}
tf = keras = K = L = np = fake_gpus = None      # put in by run.py


def case(number, name, stack, api, how, **facts):
    """A case: its number, the stack that writes it and what a reader should find."""
    def keep(function):
        assert number not in CASES, number
        CASES[number] = dict(facts, number=number, name=name, stack=stack, api=api,
                             how=how, module=function.__module__, function=function)
        return function
    return keep


def aslist(value):
    if isinstance(value, dict):
        return [value[k] for k in sorted(value)]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def names(signature, inputs, outputs, tags=('serve',)):
    return {'signature': signature, 'inputs': list(inputs), 'outputs': list(outputs),
            'tags': list(tags)}


def rows(*shape):
    return np.random.randn(*((8,) + shape)).astype('float32')


def scratch():
    return tempfile.mkdtemp()


def moved(written, folder):
    """Exporters that write into a time-stamped folder: give that folder its name."""
    if isinstance(written, bytes) and not isinstance(written, str):
        written = written.decode()
    shutil.move(str(written), folder)


class Case(object):

    def __init__(self, spec, out):
        self.spec = spec
        self.folder = os.path.join(out, '%03d-%s' % (spec['number'], spec['name']))
        if os.path.isdir(self.folder):
            shutil.rmtree(self.folder)
        os.makedirs(self.folder)

    def at(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, xs, ys, ps, parameters, signatures, serving, serving_parallel=None,
              other=(), **more):
        """io.npz and case.json."""
        spec = self.spec
        arrays = {}
        for letter, values in (('x', xs), ('y', ys), ('p', ps)):
            for i, value in enumerate(values):
                value = np.asarray(value)
                if value.dtype == object:
                    value = value.astype('S')
                if value.dtype.kind == 'U':
                    value = np.char.encode(value, 'utf-8')
                arrays['%s%d' % (letter, i)] = value
        arrays.update(more.pop('arrays', {}))
        np.savez(self.at('io.npz'), **arrays)
        clean = spec.get('expected', 'parallel') == 'clean'
        facts = {
            'stack': spec['stack'],
            'api': spec['api'],
            'how': spec['how'],
            'expected': spec.get('expected', 'parallel'),
            'towers': None if clean else spec.get('towers', 2),
            'scope': None if clean else spec.get('scope', 'whole'),
            'template_parameters': int(parameters),
            'also_acceptable': list(spec.get('also', [])),
            'doubts': spec.get('doubts', ''),
            'signatures': sorted(signatures),
            'serving': serving,
        }
        if 'wrappers' in spec:
            facts['wrappers'] = spec['wrappers']
        if serving_parallel and serving_parallel != serving:
            facts['serving_parallel'] = serving_parallel
        if other:
            facts['other_serving'] = list(other)
        facts.update(more)
        kept = sorted(os.path.join(os.path.relpath(d, top), f)
                      for top in [self.at('lookalike' if clean else 'parallel')]
                      for d, _, files in os.walk(top) for f in files
                      if os.path.relpath(d, top).split(os.sep)[0] in ('assets', 'assets.extra'))
        if kept:
            facts['assets'] = kept
        with open(self.at('case.json'), 'w') as f:
            json.dump(facts, f, indent=1, sort_keys=True)
            f.write('\n')


def close(a, b, what, limit=1e-4):
    assert len(a) == len(b), (what, len(a), len(b))
    for one, two in zip(a, b):
        one, two = np.asarray(one), np.asarray(two)
        assert one.shape == two.shape, (what, one.shape, two.shape)
        if one.dtype.kind in 'SOU':
            assert (one == two).all(), what
        else:
            gap = np.abs(one.astype('float64') - two.astype('float64')).max()
            assert gap <= limit, '%s: %g' % (what, gap)


def differ(a, b, what):
    """a look-alike: what a mistaken cut would give is not what the model gives"""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape == b.shape:
        assert np.abs(a - b).max() > 1e-3, what


# ---------------------------------------------------------------- TensorFlow 1

def signature1(inputs, outputs, method='tensorflow/serving/predict'):
    info = tf.saved_model.utils.build_tensor_info
    return tf.saved_model.signature_def_utils.build_signature_def(
        inputs=dict((k, info(v)) for k, v in inputs.items()),
        outputs=dict((k, info(v)) for k, v in outputs.items()), method_name=method)


def simple(ins, outs):
    """An exporter: tf.saved_model.simple_save of a Keras model, these names."""
    def export(model, folder):
        tf.saved_model.simple_save(K.get_session(), folder,
                                   inputs=dict(zip(ins, model.inputs)),
                                   outputs=dict(zip(outs, model.outputs)))
        return names('serving_default', ins, outs)
    return export


def soft():
    return tf.ConfigProto(allow_soft_placement=True)


def run1(folder, where, feeds):
    """Call a signature in a fresh session of the same TensorFlow."""
    graph = tf.Graph()
    with graph.as_default(), tf.Session(graph=graph, config=soft()) as session:
        meta = tf.saved_model.loader.load(session, where['tags'], folder)
        mine = meta.signature_def[where['signature']]
        got = session.run([mine.outputs[k].name for k in where['outputs']],
                          dict((mine.inputs[k].name, v) for k, v in zip(where['inputs'], feeds)))
        keys = sorted(k for k in meta.signature_def.keys() if not k.startswith('__saved_model'))
        return got, keys


def finish1(c, parallel, base, rebuild, export, xs, feeds=None, same=True, parameters=None,
            expect=None, h5=True, clear=True):
    """Export the parallel model, then the base, alone in a fresh graph.

    expect='signature': y and p are what the signatures give, not what predict gives.
    rebuild() makes the base again; export(model, folder) saves and says how it is called, as one
    names() or as a list of them, the first the main one.
    """
    ps = ys = None
    if expect is None:
        ps = aslist(parallel.predict(xs, batch_size=8))
        ys = aslist(base.predict(xs, batch_size=8))
        if same:
            close(ys, ps, 'predict')
    weights = base.get_weights()
    parameters = parameters or base.count_params()
    called = aslist2(export(parallel, c.at('parallel')))
    if clear:
        K.clear_session()
    fresh = rebuild()
    fresh.set_weights(weights)
    if h5:
        try:
            fresh.save(c.at('base.h5'))
        except AttributeError:              # tf.keras 1.8: not without an optimizer
            fresh.save(c.at('base.h5'), include_optimizer=False)
    called_base = aslist2(export(fresh, c.at('base')))
    feeds = feeds if feeds is not None else (xs if isinstance(xs, list) else [xs])
    other, arrays = [], {}
    for k, (mine, bases) in enumerate(zip(called, called_base)):
        got, keys = run1(c.at('parallel'), mine, feeds[:len(mine['inputs'])])
        want, base_keys = run1(c.at('base'), bases, feeds[:len(bases['inputs'])])
        if k == 0:
            if expect is None:
                close(want, ys, 'base serves')
                close(got, ps, 'parallel serves')
            else:
                ys, ps = want, got
            assert sorted(keys) == sorted(base_keys), (keys, base_keys)
            signatures = keys
        else:
            keyed = ['s%d_y%d' % (k, i) for i in range(len(want))]
            arrays.update(zip(keyed, want))
            other.append(dict(bases, values=keyed))
        if same:
            close(want, got, 'signature %s' % mine['signature'])
    c.write(feeds, ys, ps, parameters, signatures, called_base[0], called[0], other, arrays=arrays)


def aslist2(value):
    return value if isinstance(value, list) else [value]


# ---------------------------------------------------------------- TensorFlow 2

def run2(folder, feeds, where):
    """Call a named signature; its outputs."""
    loaded = tf.saved_model.load(folder)        # holds the variables
    function = loaded.signatures[where['signature']]
    spec = function.structured_input_signature[1]
    out = function(**dict((n, tf.constant(v, dtype=spec[n].dtype)) for n, v in zip(where['inputs'], feeds)))
    return [out[n].numpy() for n in where['outputs']]


def order(model):
    """The input names of a Keras model as its signature declares them."""
    return [n.split(':')[0] for n in model.input_names]


def finish2(c, parallel, base, save, xs, ins=None, base_ins=None, parameters=None, same=True,
            h5=True, signature='serving_default', others=(), **more):
    """save(model, folder) for both; predictions by predict, then by the signature."""
    feeds = xs if isinstance(xs, list) else [xs]
    ps = [np.asarray(v) for v in aslist(parallel.predict(xs, batch_size=8))]
    ys = [np.asarray(v) for v in aslist(base.predict(xs, batch_size=8))]
    if same:
        close(ys, ps, 'predict')
    parameters = parameters or base.count_params()
    save(parallel, c.at('parallel'))
    save(base, c.at('base'))
    if h5:
        base.save(c.at('base.h5'))
    got, called, keys = ask(c.at('parallel'), feeds, ps, signature, ins)
    want, called_base, base_keys = ask(c.at('base'), feeds, ys, signature, base_ins or ins)
    close(got, ps, 'parallel serves')
    close(want, ys, 'base serves')
    assert keys == base_keys, (keys, base_keys)
    other, arrays = [], {}
    for k, where in enumerate(others, 1):
        got = run2(c.at('parallel'), feeds, where)
        want = run2(c.at('base'), feeds, where)
        if same:
            close(want, got, where['signature'])
        keyed = ['s%d_y%d' % (k, i) for i in range(len(want))]
        arrays.update(zip(keyed, want))
        other.append(dict(where, values=keyed))
    c.write(feeds, ys, ps, parameters, keys, called_base, called, other, arrays=arrays, **more)


def ask(folder, feeds, like, signature, ins):
    """Call a signature: input names known, output names found by value."""
    loaded = tf.saved_model.load(folder)
    function = loaded.signatures[signature]
    spec = function.structured_input_signature[1]
    ins = list(ins) if ins else sorted(spec)
    if any(i not in spec for i in ins):
        assert len(spec) == 1, (ins, sorted(spec))
        ins = sorted(spec)
    assert len(ins) == len(feeds), (ins, len(feeds))
    arguments = dict((n, tf.constant(v, dtype=spec[n].dtype)) for n, v in zip(ins, feeds))
    out = dict((k, v.numpy()) for k, v in function(**arguments).items())
    outs, left = [], dict(out)
    for want in like:
        best = [k for k in sorted(left) if left[k].shape == want.shape and
                (left[k] == want if want.dtype.kind in 'SOU' else
                 np.abs(left[k] - want) < 1e-3).all()]
        assert best, ('no output like y%d' % len(outs),
                      [(k, v.shape) for k, v in out.items()], want.shape)
        outs.append(best[0])
        left.pop(best[0])
    return [out[k] for k in outs], names(signature, ins, outs), sorted(loaded.signatures)


# ---------------------------------------------------------------- look-alikes

def lookalike1(c, model, export, xs, wrong=None, parameters=None, feeds=None):
    """A TensorFlow 1 model that must be left alone; wrong: what a mistaken cut would compute."""
    ps = aslist(model.predict(xs, batch_size=8))
    if wrong is not None:
        differ(ps[0], wrong, 'genuine look-alike')
    called = export(model, c.at('lookalike'))
    feeds = feeds if feeds is not None else (xs if isinstance(xs, list) else [xs])
    got, keys = run1(c.at('lookalike'), called, feeds)
    close(got, ps, 'serves')
    c.write(feeds, ps, ps, parameters or model.count_params(), keys, called)


def lookalike2(c, model, save, xs, wrong=None, parameters=None, ins=None):
    feeds = xs if isinstance(xs, list) else [xs]
    ps = [np.asarray(v) for v in aslist(model.predict(xs, batch_size=8))]
    if wrong is not None:
        differ(ps[0], np.asarray(wrong), 'genuine look-alike')
    save(model, c.at('lookalike'))
    got, called, keys = ask(c.at('lookalike'), feeds, ps, 'serving_default', ins)
    close(got, ps, 'serves')
    c.write(feeds, ps, ps, parameters or model.count_params(), keys, called)
