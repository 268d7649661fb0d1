"""Load models with the Keras this runs under (Python 2.7 to 3.11), predict, and write down what came out.

    PYTHON stack.py JOB.json OUT.jsonl

JOB: {"scripts": fixtures/scripts, "api": which Keras, "own": whether it is the one that wrote the files, "cases": [
  {"id", "line": the case's words, "model": whether it is a full save, "flat": see leaves(), "source": the parallel file,
   "io": or null, "code": the Python minor version whose code the fixed file holds, or null,
   "files": {"fixed": the output of unnest, "base": what the same stack saved directly}, "json": the base's, or null}]}
OUT: one line per case, written as it is done: {"id", "fixed": OUTCOME, "base": OUTCOME}. Nothing is judged here.
"""
# Written for Python 2.7 and 3 alike, hence:
# mypy: ignore-errors
from __future__ import division, print_function

import json
import os
import re
import sys
import traceback

with open(sys.argv[1]) as told:
    JOB = json.load(told)
sys.path.insert(0, str(JOB['scripts']))
sys.dont_write_bytecode = True

import make_case as M  # noqa: E402 - sets HOME and the like before TensorFlow is imported
import h5py  # noqa: E402
import numpy as np  # noqa: E402

A = M.A
SIZES = (1, 3)


def custom_objects():
    """The custom objects that a user of these models passes: the classes, and the modules that stored code names."""
    known = dict(M.custom_objects(), tf=A.tf, K=A.K, np=np)
    if A.generation == 3:
        # Keras 3 does not find the losses that it writes by their short names into .h5; this is the usual remedy.
        known.update(mse=A.keras.losses.mean_squared_error, mae=A.keras.losses.mean_absolute_error)
    return known


def texts(values):
    return [v.decode('utf8') if isinstance(v, bytes) else v for v in values]


def attribute(group, name):
    """An attribute that may be in pieces."""
    found = list(group.attrs[name]) if name in group.attrs else []
    k = 0
    while '%s%d' % (name, k) in group.attrs:
        found += list(group.attrs['%s%d' % (name, k)])
        k += 1
    return texts(found)


# ---- three ways to get a model out of a file ----

def runs_here(case):
    """Stored code is for one minor version of Python; another one may crash on it."""
    return case['code'] in (None, '%d.%d' % sys.version_info[:2])


def loaded(case, path):
    """load_model, as everybody does."""
    if not runs_here(case):
        raise ValueError('not tried: stored code of Python %s' % case['code'])
    return A.keras.models.load_model(path, custom_objects=custom_objects())


def stored_architecture(path):
    """The architecture in the file, without its weights."""
    with h5py.File(path, 'r') as f:
        text = f.attrs['model_config']
    text = text.decode('utf8') if isinstance(text, bytes) else text
    return A.keras.models.model_from_json(text, custom_objects=custom_objects())


def built_architecture(case):
    """The architecture, by the code that made it; weights that were never trained."""
    if case['json']:
        with open(str(case['json'])) as f:
            text = f.read()
        if JOB['own'] or '"Lambda"' not in text:
            try:
                model = A.keras.models.model_from_json(text, custom_objects=custom_objects())
            except Exception as e:
                case['json_error'] = '%s: %s' % (type(e).__name__, e)  # the code below needs no JSON
            else:
                A.scramble(model, 77)
                return model
    parsed = M.cases.parse(case['line'])
    if not JOB['own']:
        # The stack's own multi_gpu_model is gone; the template, and what is around it, is the same.
        if not parsed['flags'] & set(M.cases.CHANGES_OUTPUT):
            model = M.models.make(parsed['model'])[0]
            A.scramble(model, 77)
            return model
        parsed['wrapper'] = 'carried'
    parsed['flags'].discard('reload')
    model = M.build(parsed).base()
    A.scramble(model, 77)
    return model


def rebuilt(case, path):
    """load_weights into the architecture that the code of the fixtures builds."""
    model = built_architecture(case)
    model.load_weights(path)
    return model


def leaves(model):
    """The layers of a model and of the models in it: weights without an architecture are listed so."""
    for layer in model.layers:
        for leaf in leaves(layer) if A.is_model(layer) else [layer]:
            yield leaf


def by_hand(case, path):
    """The stored tensors, put where their names say (or else in their order), without Keras's loader."""
    model = None
    if case['model'] and runs_here(case):
        try:
            model = stored_architecture(path)
        except Exception as e:
            case['json_error'] = '%s: %s' % (type(e).__name__, e)
    model = model or built_architecture(case)
    names, values = [], []
    with h5py.File(path, 'r') as f:
        top = f['model_weights'] if 'model_weights' in f else f
        for layer in attribute(top, 'layer_names'):
            for name in attribute(top[layer], 'weight_names'):
                names.append(name)
                values.append(top[layer][name][()])
    mine = []
    for layer in leaves(model) if case['flat'] else model.layers:
        mine += [w for w in layer.weights if not any(w is m for m in mine)]
    if len(mine) != len(values):
        raise ValueError('%d weights for %d places' % (len(values), len(mine)))
    own = [w.name for w in mine]
    if len(set(names)) == len(names) and set(names) == set(own):
        mine = [mine[own.index(n)] for n in names]
    for w, v in zip(mine, values):
        if tuple(int(d) for d in w.shape) != v.shape:
            raise ValueError('%s: %r for %r' % (w.name, v.shape, tuple(w.shape)))
    if A.graph_mode:
        A.K.batch_set_value(list(zip(mine, values)))
    else:
        for w, v in zip(mine, values):
            w.assign(v)
    return model


WAYS = (('load_model', loaded), ('load_weights', rebuilt), ('by hand', by_hand))


# ---- what is asked of it ----

def worst(found, wanted, model):
    """The largest difference, relative to the largest value where that is above 1."""
    result = 0.0
    found, wanted = A.aslist(found), A.aslist(wanted)
    if len(found) != len(wanted):
        raise ValueError('%d outputs for %d' % (len(found), len(wanted)))
    for tensor, a, b in zip(model.outputs, found, wanted):
        if len(A.shape_of(tensor)) == 0:
            continue  # a mean over a batch of another size is another mean
        a, b = np.asarray(a, 'float64'), np.asarray(b, 'float64')
        if a.shape != b.shape or not np.isfinite(a).all():
            raise ValueError('%r %s for %r' % (a.shape, np.isfinite(a).all(), b.shape))
        if a.size:
            result = max(result, float(np.max(np.abs(a - b)) / max(1.0, np.max(np.abs(b)))))
    return result


def inputs_for(model):
    """Rows of noise where none were recorded."""
    rng = np.random.RandomState(5)
    fixed = A.shape_of(model.inputs[0])[0]
    rows = int(fixed or 8)
    made = []
    for tensor in model.inputs:
        shape = (rows,) + tuple(int(d) for d in A.shape_of(tensor)[1:])
        made.append(rng.randn(*shape).astype('float32'))
    return made, rows


def predictions(case, model, outcome):
    if case['io']:
        with np.load(str(case['io'])) as z:
            xs = [z['x%d' % k] for k in range(sum(n.startswith('x') for n in z.files))]
            ys = [z['y%d' % k] for k in range(sum(n.startswith('y') for n in z.files))]
        rows = len(xs[0])
    else:
        xs, rows = inputs_for(model)
        ys = None
    first = M.predict(model, xs, rows)
    if ys is None:
        return first
    outcome['worst'] = {'recorded': worst(first, ys, model)}
    if A.shape_of(model.inputs[0])[0] is None:
        for size in SIZES:
            outcome['worst'][str(size)] = worst(M.predict(model, xs, size), ys, model)
    return first


def optimizer_values(model):
    optimizer = getattr(model, 'optimizer', None)
    if optimizer is None:
        return None
    if A.kind == 'keras' and A.generation == 3:
        return [np.asarray(v) for v in optimizer.variables]
    if hasattr(optimizer, 'get_weights'):
        return [np.asarray(v) for v in optimizer.get_weights()]
    found = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
    return [np.asarray(v) for v in found]


def stored_state(path):
    with h5py.File(path, 'r') as f:
        if 'optimizer_weights' not in f:
            return None
        group = f['optimizer_weights']
        return [(n, group[n][()]) for n in attribute(group, 'weight_names')]


def fits(model, stored):
    """Keras 3 builds the optimizer of an .h5 for no variables at all: whether its state belongs to the model all the same.

    A name may have lost the model that was around the layer, or have been counted.
    """
    fresh = type(model.optimizer).from_config(model.optimizer.get_config())
    fresh.build(model.trainable_variables)
    last = lambda name: re.sub('_[0-9]+$', '', name.split('/')[-1])
    return [tuple(v.shape) for v in fresh.variables] == [v.shape for _, v in stored] and all(
        last(n).endswith(last(v.path)) for v, (n, _) in zip(fresh.variables, stored))


def same(found, wanted):
    """Bit for bit: None, or what differs."""
    if found is None or len(found) != len(wanted):
        return '%s tensors for %d' % (found if found is None else len(found), len(wanted))
    for k, (a, b) in enumerate(zip(found, wanted)):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype or a.tobytes() != b.tobytes():
            return 'tensor %d: %s %r for %s %r%s' % (
                k, a.dtype, a.shape, b.dtype, b.shape, '' if a.shape != b.shape else ', other values')
    return None


def outcome_of(case, name):
    """{"way", "worst", "tried": {way: error}, "optimizer", "compiled"}, what it predicted, its optimizer's tensors."""
    path, outcome = str(case['files'][name]), {'way': None, 'tried': {}}
    case.pop('json_error', None)
    for way, load in WAYS:
        if way == 'load_model' and not case['model']:
            continue
        A.K.clear_session()
        try:
            model = load(case, path)
            found = predictions(case, model, outcome)
            off = max(outcome.get('worst', {'': 0}).values())
            if off > 1e-2:
                raise ValueError('predicts something else: %.2g' % off)
        except Exception as e:
            outcome.pop('worst', None)
            said = traceback.format_exc().strip().splitlines()
            outcome['tried'][way] = '%s: %s' % (type(e).__name__, ' '.join(' '.join(said[-1:]).split())[-300:])
            if os.environ.get('UNNEST_TRACE'):
                sys.stderr.write('%s %s %s\n%s\n' % (case['id'], name, way, '\n'.join(said)))
            continue
        outcome['way'] = way
        state = None
        if way == 'load_model':
            outcome['compiled'] = getattr(model, 'optimizer', None) is not None
            state = optimizer_values(model)
            stored = stored_state(str(case['files'][name]))
            source = stored_state(str(case['source']))
            if source is not None:
                outcome['stored'] = same([v for _, v in stored or []], [v for _, v in source]) or 'equal'
                outcome['optimizer'] = same(state, [v for _, v in source]) or 'equal'
                if A.generation == 3 and outcome['optimizer'] != 'equal' and fits(model, stored):
                    outcome['optimizer'] = 'fits'
        break
    else:
        found = state = None
    if 'json_error' in case:
        outcome['tried']['json'] = case['json_error']
    return outcome, found, state


def main():
    A.load(str(JOB['api']))
    M.models.setup()
    M.wrappers.setup()
    config = getattr(A.keras, 'config', None)
    if hasattr(config, 'enable_unsafe_deserialization'):
        config.enable_unsafe_deserialization()  # these files are ours
    with open(sys.argv[2], 'w') as out:
        for case in JOB['cases']:
            fixed, found, state = outcome_of(case, 'fixed')
            base, wanted, wanted_state = outcome_of(case, 'base')
            line = {'id': case['id'], 'fixed': fixed, 'base': base}
            if found is not None and wanted is not None:
                line['bits'] = [np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(found, wanted)]
                line['apart'] = max([float(np.max(np.abs(np.asarray(a, 'float64') - b))) if np.size(a) else 0.0
                                     for a, b in zip(found, wanted)] + [0.0])
            if state is not None and wanted_state is not None:
                line['states'] = same(state, wanted_state) or 'equal'
            out.write(json.dumps(line, sort_keys=True) + '\n')
            out.flush()


if __name__ == '__main__':
    try:
        main()
    finally:
        M.shutil.rmtree(M.HOME, ignore_errors=True)
