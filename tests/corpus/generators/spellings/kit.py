# -*- coding: utf-8 -*-
"""What the scripts share: the table of cases, templates, row operations, containers.  Python 3.6 and later.

`tf`, `keras`, `K`, `L` and `np` are put in by run.py.
"""
import json
import os
import shutil

CASES = {}
tf = keras = K = L = np = None      # put in by run.py
OUT = STACK = None

KERAS3 = 'k3'
READ_BY = {'h5': '.h5', 'sm': 'SavedModel with Keras metadata', 'bare1': 'SavedModel, graph only, TF 1', 'bare2': 'SavedModel, graph only, TF 2',
           'weights': 'weights .h5'}


class Spec(object):
    """One case: what is written, by which stack, into which container."""

    def __init__(self, number, name, stack, container, form, build, **facts):
        self.number, self.name, self.stack, self.container, self.form, self.build = number, name, stack, container, form, build
        self.towers, self.scope, self.template, self.expected = facts.pop('towers', 2), facts.pop('scope', 'whole'), facts.pop('template', 'dense'), facts.pop('expected', 'parallel')
        self.kept = facts.pop('kept', True)
        self.facts = facts

    @property
    def folder(self):
        return os.path.join(OUT, '%03d-%s' % (self.number, self.name))


def add(number, name, stack, container, form, build, **facts):
    assert number not in CASES, (number, name, CASES[number].name)
    CASES[number] = Spec(number, name, stack, container, form, build, **facts)


# ---------------------------------------------------------------- rows

class TFRows(object):
    """Row operations by TensorFlow's own functions; joins by Keras's layer where `layer` is true."""

    def __init__(self, layer=False):
        self.layer = layer

    def n(self, x):
        return tf.shape(x)[0]

    def rows(self, x, start=None, stop=None, step=None):
        return x[start:stop:step]

    def dims(self, x):
        return [int(d) for d in x.shape[1:]]

    def split(self, x, parts, axis=0):
        return tf.split(x, parts, axis=axis)

    def cat(self, parts, axis=0):
        return L.Concatenate(axis=axis)(list(parts)) if self.layer else tf.concat(list(parts), axis)

    def stack(self, parts, axis=0):
        return tf.stack(list(parts), axis=axis)

    def unstack(self, x, k, axis=0):
        return tf.unstack(x, num=k, axis=axis)

    def reshape(self, x, shape):
        return tf.reshape(x, shape)

    def take(self, x, rows):
        return tf.gather(x, rows)

    def range(self, *bounds):
        return tf.range(*bounds)

    def inverse(self, order):
        return tf.math.invert_permutation(order)

    def mask(self, x, where):
        return tf.boolean_mask(x, where)

    def negate(self, where):
        return tf.logical_not(where)

    def scatter(self, rows, values, n):
        return tf.scatter_nd(tf.expand_dims(rows, 1), values, tf.stack([n, int(values.shape[-1])]))

    def update(self, old, rows, values):
        return tf.tensor_scatter_nd_update(old, tf.expand_dims(rows, 1), values)

    def where(self, mask):
        return tf.cast(tf.reshape(tf.where(mask), [-1]), tf.int32)

    def zeros_like_rows(self, x, d):
        return tf.zeros(tf.stack([tf.shape(x)[0], d]))

    def slice(self, x, begin, size):
        return tf.slice(x, begin, size)

    def partition(self, x, parts, k):
        return tf.dynamic_partition(x, parts, k)

    def stitch(self, rows, values):
        return tf.dynamic_stitch(rows, values)

    def floored(self, n, i, k):
        return tf.cast(tf.floor(tf.cast(n, tf.float32) * float(i) / float(k)), tf.int32)

    def truncated(self, n, k):
        return tf.cast(n / k, tf.int32)

    def mean(self, values):
        return tf.reduce_mean(tf.stack(list(values)))

    def average(self, parts):
        return tf.add_n(list(parts)) / float(len(parts))

    def reverse(self, x, axis):
        return tf.reverse(x, [axis])

    def relu(self, x):
        return tf.nn.relu(x)

    def square_mean(self, x):
        return tf.reduce_mean(tf.square(x))

    def abs(self, x):
        return tf.abs(x)


class Keras3Rows(TFRows):
    """The same by keras.ops.  A batch of open size has no number there: sizes are those of a fixed batch."""

    def n(self, x):
        return x.shape[0] // 1

    def rows(self, x, start=None, stop=None, step=None):
        return x[start:stop:step] if isinstance(x, np.ndarray) else x[start:stop:step, ...]     # a lone slice is refused

    def split(self, x, parts, axis=0):
        if isinstance(parts, list):
            parts = [int(v) for v in np.cumsum(parts)[:-1]]
        return keras.ops.split(x, parts, axis=axis)

    def cat(self, parts, axis=0):
        parts = list(parts)
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts, axis)
        return L.Concatenate(axis=axis)(parts) if self.layer else keras.ops.concatenate(parts, axis=axis)

    def stack(self, parts, axis=0):
        return keras.ops.stack(list(parts), axis=axis)

    def unstack(self, x, k, axis=0):
        return keras.ops.unstack(x, num=k, axis=axis)

    def reshape(self, x, shape):
        return keras.ops.reshape(x, [int(d) for d in shape])

    def take(self, x, rows):
        return keras.ops.take(x, rows, axis=0)

    def range(self, *bounds):
        return np.arange(*bounds).astype('int32')

    def inverse(self, order):
        return np.argsort(order).astype('int32')

    def mask(self, x, where):
        return x[where]

    def negate(self, where):
        return np.logical_not(where)

    def scatter(self, rows, values, n):
        return keras.ops.scatter(rows[:, None], values, (n, int(values.shape[-1])))

    def update(self, old, rows, values):
        return keras.ops.scatter_update(old, rows[:, None], values)

    def where(self, mask):
        return np.nonzero(mask)[0].astype('int32')

    def zeros_like_rows(self, x, d):
        return keras.ops.zeros((x.shape[0], d))

    def slice(self, x, begin, size):
        return keras.ops.slice(x, begin, [d - b if s == -1 else s for b, s, d in zip(begin, size, x.shape)])

    def partition(self, x, parts, k):
        return keras.ops.dynamic_partition(x, parts, k)

    def stitch(self, rows, values):
        return keras.ops.dynamic_stitch(rows, values)

    def floored(self, n, i, k):
        return int(np.floor(float(n) * i / k))

    def truncated(self, n, k):
        return int(n / k)

    def mean(self, values):
        return keras.ops.mean(keras.ops.stack(list(values)))

    def average(self, parts):
        return L.Average()(list(parts))

    def reverse(self, x, axis):
        return keras.ops.flip(x, axis=axis)

    def relu(self, x):
        return keras.ops.relu(x)

    def square_mean(self, x):
        return keras.ops.mean(keras.ops.square(x))

    def abs(self, x):
        return keras.ops.abs(x)


# ---------------------------------------------------------------- templates

SHAPES = {'conv1d': [(6, 2)], 'conv2d': [(6, 6, 1)], 'dense': [(5,)], 'residual': [(4,)], 'two': [(4,), (3,)], 'twoout': [(5,)], 'loss': [(5,)],
          'same': [(4, 3)]}
KINDS = ['conv1d', 'dense', 'conv2d', 'residual']


class Template(object):
    """Some layers and how they are joined; calling it applies the same layers again."""

    def __init__(self, kind, o, lib=None, prefix=''):
        self.kind, self.o, self.shapes, p = kind, o, SHAPES[kind], prefix
        lib = lib or L
        self.plain = not hasattr(lib, 'ReLU')          # tf.layers of TensorFlow 1: activations are functions
        bn = lib.BatchNormalization(name=p + 'norm')
        if kind == 'conv1d':
            self.layers = [lib.Conv1D(3, 3, name=p + 'conv'), bn, self._relu(lib, p), lib.Flatten(name=p + 'flat'), lib.Dense(2, name=p + 'scores')]
        elif kind == 'conv2d':
            self.layers = [lib.Conv2D(2, 3, name=p + 'conv'), bn, self._relu(lib, p), lib.AveragePooling2D(2, 2, name=p + 'pool') if self.plain else lib.AveragePooling2D(2, name=p + 'pool'),
                           lib.Flatten(name=p + 'flat'), lib.Dense(3, name=p + 'classes')]
        elif kind == 'same':
            self.layers = [lib.Conv1D(3, 3, padding='same', name=p + 'conv'), bn, lib.Dense(2, name=p + 'scores')]
        else:
            self.layers = [lib.Dense(4, name=p + 'hidden'), bn, self._relu(lib, p), lib.Dense(2, name=p + 'scores')]
            if kind == 'two':
                self.layers += [lib.Dense(3, name=p + 'meta')] + ([] if self.plain else [lib.Concatenate(name=p + 'both')])
            if kind == 'twoout':
                self.layers += [lib.Dense(1, name=p + 'age')]
            if kind == 'residual' and not self.plain:
                self.layers += [lib.Add(name=p + 'sum')]

    @staticmethod
    def _relu(lib, p):
        return lib.ReLU(name=p + 'act') if hasattr(lib, 'ReLU') else tf.nn.relu

    def __call__(self, x):
        kind, l = self.kind, self.layers
        if kind == 'two':
            a, b = l[0](x[0]), l[4](x[1])
            y = tf.concat([a, b], -1) if self.plain else l[5]([a, b])
            return l[3](l[2](l[1](y)))
        if kind == 'residual':
            y = l[0](x)
            y = y + x if self.plain else l[4]([y, x])
            return l[3](l[2](l[1](y)))
        if kind == 'twoout':
            y = l[2](l[1](l[0](x)))
            return [l[3](y), l[4](y)]
        y = x
        for layer in l:
            y = layer(y)
        return [y, self.o.square_mean(y)] if kind == 'loss' else y

    def weights(self):
        return [w for layer in self.layers if hasattr(layer, 'weights') for w in layer.weights]

    def inputs(self, batch=None):
        made = []
        for k, shape in enumerate(self.shapes):
            made.append(L.Input(batch_shape=(batch,) + shape, name='part_%d' % k) if batch else L.Input(shape, name='part_%d' % k))
        return made

    def model(self, name='template', batch=None):
        ins = self.inputs(batch)
        return keras.Model(ins if len(ins) > 1 else ins[0], self(ins if len(ins) > 1 else ins[0]), name=name)


def chance(weight, rng):
    """A value for a weight; variances are positive."""
    shape = tuple(int(d) for d in weight.shape)
    name = weight.path if hasattr(weight, 'path') else weight.name
    if 'variance' in name:
        return rng.uniform(.5, 1.5, shape).astype('float32')
    if 'gamma' in name:
        return rng.uniform(.7, 1.3, shape).astype('float32')
    return (rng.standard_normal(shape) if hasattr(rng, 'standard_normal') and shape else rng.randn(*shape)).astype('float32') * .6


def flat(value):
    if isinstance(value, dict):
        return [value[k] for k in sorted(value)]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def only(values):
    return values if len(values) > 1 else values[0]


# ---------------------------------------------------------------- io and facts

def inputs_of(spec):
    rng = np.random.RandomState(spec.number)
    return [rng.randn(*((8,) + s)).astype('float32') for s in (spec.facts.get('shapes') or SHAPES[spec.template])]


def answers(ask, xs, batch=None):
    """{batch: outputs} for every batch of 1 to 8 rows that the model takes (of a fixed batch: that one); with why the others fail."""
    got, refused = {}, {}
    for n in [batch] if batch else range(1, 9):
        try:
            got[n] = [np.asarray(v) for v in ask([x[:n] for x in xs])]
        except Exception as error:          # noqa: BLE001
            refused[n] = type(error).__name__
    return got, refused


def gap(one, two):
    worst = 0.
    for a, b in zip(one, two):
        if a.shape != b.shape:
            return float('inf')
        worst = max(worst, float(np.abs(a.astype('f8') - b).max()) if a.size else 0.)
    return worst if len(one) == len(two) else float('inf')


def write(spec, xs, parallel, base, refused, **more):
    """Check the case, then io.npz and case.json."""
    clean = spec.expected == 'clean'
    arrays = dict(('x_%d' % i, x) for i, x in enumerate(xs))
    worst, held = 0., []
    for n in sorted(parallel):
        arrays.update(('%s_%d_%d' % ('y' if clean else 'parallel', n, i), v) for i, v in enumerate(parallel[n]))
        if not clean:
            difference = gap(parallel[n], base[n])
            if not np.isfinite(difference) or difference > 1e-4:
                raise AssertionError('parallel and base differ by %g at batch %d' % (difference, n))
            worst = max(worst, difference)
            arrays.update(('base_%d_%d' % (n, i), v) for i, v in enumerate(base[n]))
        held.append(n)
    assert held, 'takes no batch: %s' % refused
    if clean and base:
        which = spec.facts.get('differs', 0)
        same = [n for n in held for whole in base.get(n, []) if gap([parallel[n][which]], [whole]) < 1e-3]
        assert len(set(same)) < len(held), 'a look-alike that answers as the template does at every batch'
    np.savez_compressed(os.path.join(spec.folder, 'io.npz'), **arrays)
    facts = {
        'stack': spec.stack, 'container': READ_BY.get(spec.container, spec.container), 'spelling': spec.facts['spelling'], 'template': spec.form,
        'towers': None if clean else spec.towers, 'scope': None if clean else spec.scope, 'expected': spec.expected,
        'reason': spec.facts['reason'], 'also_acceptable': spec.facts.get('also', []), 'batches': held,
    }
    if not clean:
        facts['largest_difference'] = worst
    if facts['container'] == 'weights .h5':
        facts['architecture'] = None  # model.json is there for who asks; the case is the weights alone
    for key in ('twin_of', 'doubts', 'note'):
        if spec.facts.get(key):
            facts[key] = spec.facts[key]
    if refused:
        facts['batches_refused'] = dict((str(k), v) for k, v in refused.items())
    facts.update((k, v) for k, v in more.items() if v not in (None, '', []))
    with open(os.path.join(spec.folder, 'case.json'), 'w') as f:
        json.dump(facts, f, indent=1, sort_keys=True)
        f.write('\n')


def fresh(spec):
    if os.path.isdir(spec.folder):
        shutil.rmtree(spec.folder)
    os.makedirs(spec.folder)


def keep_weights(spec, values):
    """The base's weights by name: where a SavedModel of it would say no more."""
    if spec.expected != 'clean':
        np.savez_compressed(os.path.join(spec.folder, 'base.npz'), **dict((k.replace('/', '|'), v) for k, v in values.items()))


def top(spec):
    return 'lookalike' if spec.expected == 'clean' else 'parallel'


# ---------------------------------------------------------------- containers

class Room(object):
    """What a builder may ask for beside the row operations."""

    def __init__(self, o, form, make):
        self.o, self.form, self.make = o, form, make
        self.templates = []

    def template(self, kind, prefix='', name='template', batch=None):
        made = Template(kind, self.o, self.make, prefix)
        self.templates.append(made)
        return made

    def callable(self, template, name='template', batch=None):
        raise NotImplementedError

    def head(self, units, name):
        made = (self.make or L).Dense(units, name=name)
        self.templates.append(type('Head', (), {'weights': staticmethod(lambda: list(made.weights)), 'layers': [made]}))
        return made


class KerasRoom(Room):
    def callable(self, template, name='template', batch=None):
        return template.model(name, batch) if self.form == 'function' else template


class FunctionRoom(Room):
    def callable(self, template, name='template', batch=None):
        return tf.function(lambda x: template(x)) if self.form == 'function' else template


def randomise(room, rng):
    for t in room.templates:
        for w in t.weights():
            w.assign(chance(w, rng))


def keras_case(spec):
    """A functional model, written as .h5 or as SavedModel with metadata; the base beside it as .h5."""
    three = spec.stack == KERAS3
    keras.backend.clear_session()
    o = (Keras3Rows if three else TFRows)(layer=spec.facts.get('layer', spec.number % 2 == 1))
    batch = spec.facts.get('fixed', 8) if three and spec.facts.get('sized') else None
    batch = spec.facts.get('batch', batch)
    room = KerasRoom(o, spec.form, None)
    template = room.template(spec.template)
    f = room.callable(template)
    shapes = spec.facts.get('shapes') or SHAPES[spec.template]
    names = spec.facts.get('names') or ['rows', 'details', 'third'][:len(shapes)]
    ins = [L.Input(batch_shape=(batch,) + s, name=n) if batch else L.Input(s, name=n) for s, n in zip(shapes, names)]
    x = only(ins)
    y = spec.build(room, o, x, f)
    given = dict(zip(names, ins)) if spec.facts.get('dictionary') else x
    model = keras.Model(given, y, name='parallel' if spec.expected != 'clean' else 'model')
    twin = None
    if spec.facts.get('base') is not False:
        if spec.facts.get('base'):
            b_ins = [L.Input(s, name=n) for s, n in zip(shapes, names)]
            b_given = dict(zip(names, b_ins)) if spec.facts.get('dictionary') else only(b_ins)
            twin = keras.Model(b_given, spec.facts['base'](room, o, only(b_ins), f), name='base')
        elif spec.form == 'function' and spec.expected != 'clean' and not spec.facts.get('dictionary'):
            twin = f
        else:
            b_ins = template.inputs()
            twin = keras.Model(only(b_ins), template(only(b_ins)), name='base')
    randomise(room, np.random.RandomState(spec.number))
    xs = inputs_of(spec)

    def ask(which):
        def call(values):
            mine = dict(zip(names, values)) if isinstance(which.input, dict) else only(values)
            return [v.numpy() for v in flat(which(mine if isinstance(mine, dict) else only([tf.constant(v) for v in values]), training=False))]
        return call
    parallel, refused = answers(ask(model), xs, batch)
    base = answers(ask(twin), xs)[0] if twin else {}
    fresh(spec)
    more = {}
    if spec.container == 'h5':
        path = os.path.join(spec.folder, top(spec) + '.h5')
        model.save(path)
        if three or STACK == 'tf210':
            keep_weights(spec, dict((getattr(w, 'path', w.name), np.asarray(w)) for w in twin.weights) if twin else {})
        elif spec.expected != 'clean':
            twin.save(os.path.join(spec.folder, 'base.h5'))
        try:
            loaded = keras.models.load_model(path, compile=False) if not three else keras.models.load_model(path, compile=False, safe_mode=False)
            n = max(parallel)
            assert gap(ask(loaded)([v[:n] for v in xs]), parallel[n]) < 1e-4, 'loaded again it answers otherwise'
        except Exception as error:          # noqa: BLE001
            more['loads_in_its_stack'] = ('%s: %s' % (type(error).__name__, ' '.join(str(error).split())))[:250]
    else:
        path = os.path.join(spec.folder, top(spec))
        model.save(path, save_format='tf')
        keep_weights(spec, dict((w.name, w.numpy()) for w in twin.weights) if twin else {})
        n = max(parallel)
        more.update(served2(path, names, [v[:n] for v in xs], parallel[n]))
    write(spec, xs, parallel, base, refused, **more)


def served2(path, names, values, like):
    """The serving signature answers as the model; the names of its inputs and outputs in order."""
    loaded = tf.saved_model.load(path)         # what it loaded lives as long as this
    function = loaded.signatures['serving_default']
    wanted = function.structured_input_signature[1]
    if sorted(wanted) != sorted(names):
        assert len(wanted) == len(names) == 1, sorted(wanted)
        names = sorted(wanted)
    out = dict((k, v.numpy()) for k, v in function(**dict((k, tf.constant(v)) for k, v in zip(names, values))).items())
    order = []
    for value in like:
        order.append([k for k in sorted(out) if k not in order and gap([out[k]], [value]) < 1e-4][0])
    return {'serving': {'signature': 'serving_default', 'tags': ['serve'], 'inputs': list(names), 'outputs': order}}


def bare2_case(spec):
    """tf.saved_model.save of a tf.Module: one tf.function, its variables, no Keras."""
    keras.backend.clear_session()
    o = TFRows()
    names = spec.facts.get('names') or ['rows', 'details', 'third'][:len(spec.facts.get('shapes') or SHAPES[spec.template])]
    shapes = spec.facts.get('shapes') or SHAPES[spec.template]
    room = FunctionRoom(o, spec.form, None)
    template = room.template(spec.template)
    f = room.callable(template)
    base_build = spec.facts.get('base') or (lambda room, o, x, f: f(x))
    signature = [tf.TensorSpec([spec.facts.get('batch')] + list(s), tf.float32, name=n) for s, n in zip(shapes, names)]
    for s in (SHAPES[spec.template],):
        template(only([tf.zeros((2,) + k) for k in s]))
    heads = {}

    class Remembering(object):
        """Templates and heads that a builder makes are made once, whoever asks."""
        templates = room.templates

        def template(self, kind, prefix='', **kw):
            if prefix not in heads:
                heads[prefix] = room.template(kind, prefix)
                heads[prefix](only([tf.zeros((2,) + k) for k in SHAPES[kind]]))
            return heads[prefix]

        def callable(self, t, name='template', batch=None):
            key = ('callable', id(t))
            if key not in heads:
                heads[key] = room.callable(t)
            return heads[key]

        def head(self, units, name):
            if name not in heads:
                heads[name] = room.head(units, name)
            return heads[name]
    inner = Remembering()

    def module(build):
        def serve(*given):
            x = dict(zip(names, given)) if spec.facts.get('dictionary') else only(list(given))
            if isinstance(x, dict):
                x = [x[k] for k in names]
            return dict(('out_%d' % i, v) for i, v in enumerate(flat(build(inner, o, x, f))))
        if spec.facts.get('dictionary'):
            def entry(batch):
                return serve(*[batch[k] for k in names])
            function = tf.function(entry, input_signature=[dict((n, s) for n, s in zip(names, signature))])
        else:
            function = tf.function(serve, input_signature=signature)
        made = tf.Module(name='server')
        made.serve = function
        return made
    # heads are built eagerly, before a function that may not make variables is traced
    eager = [tf.zeros((12,) + s) for s in shapes]        # 12 rows: every number of towers divides them
    spec.build(inner, o, only(eager), f)
    randomise(room, np.random.RandomState(spec.number))
    xs = inputs_of(spec)

    def ask(made):
        def call(values):
            values = [tf.constant(v) for v in values]
            out = made.serve(dict(zip(names, values))) if spec.facts.get('dictionary') else made.serve(*values)
            return [out[k].numpy() for k in sorted(out)]
        return call
    parallel = module(spec.build)
    parallel.held = [w for t in room.templates for w in t.weights()]
    got, refused = answers(ask(parallel), xs)
    base, whole = None, {}
    if spec.facts.get('base') is not False:
        base = module(base_build)
        base.held = parallel.held if spec.facts.get('base') else template.weights()
        whole = answers(ask(base), xs)[0]
    fresh(spec)
    path = os.path.join(spec.folder, top(spec))
    n = max(got)
    tf.saved_model.save(parallel, path, signatures={'serving_default': parallel.serve})
    keep_weights(spec, dict((w.name, w.numpy()) for w in (base.held if base else ())))
    write(spec, xs, got, whole, refused, **served2(path, sorted(names) if spec.facts.get('dictionary') else names,
                                                   [dict(zip(names, xs))[k][:n] for k in (sorted(names) if spec.facts.get('dictionary') else names)], got[n]))


class Layers1(object):
    """tf.layers: the reference variables and functions of a TensorFlow 1 script."""

    def __init__(self):
        for name in ('Dense', 'Conv1D', 'Conv2D', 'BatchNormalization', 'Flatten', 'AveragePooling2D'):
            setattr(self, name, getattr(tf.layers, name))


def bare1_case(spec):
    """A session's graph by simple_save or SavedModelBuilder; the base alone in a fresh graph."""
    names = spec.facts.get('names') or ['rows', 'details', 'third'][:len(spec.facts.get('shapes') or SHAPES[spec.template])]
    shapes = spec.facts.get('shapes') or SHAPES[spec.template]
    xs = inputs_of(spec)

    def whole(build, values=None, path=None):
        with tf.Graph().as_default(), tf.Session() as session:
            K.set_session(session)
            K.set_learning_phase(0)
            o = TFRows()
            ref = spec.form == 'inline' and spec.number % 4 < 2
            room = FunctionRoom(o, spec.form, Layers1() if ref else None)
            template = room.template(spec.template)
            ins = [tf.placeholder(tf.float32, [spec.facts.get('batch')] + list(s), name=n) for s, n in zip(shapes, names)]
            if spec.form == 'function' and not ref:
                # Keras layers make their variables outside of the function
                for layer, shape in built(template):
                    layer.build(shape)
            outs = flat(build(room, o, only(ins), room.callable(template)))
            outs = [tf.identity(v, name='out_%d' % i) for i, v in enumerate(outs)]
            session.run(tf.global_variables_initializer())
            if values is None:
                rng = np.random.RandomState(spec.number)
                values = dict((w.name, chance(w, rng)) for t in room.templates for w in t.weights())
            for v in tf.global_variables():
                if v.name in values:
                    v.load(values[v.name], session)
            values = dict((w.name, values[w.name]) for t in room.templates for w in t.weights())

            def ask(given):
                return session.run(outs, dict(zip(ins, given)))
            got = answers(ask, xs)
            keys = ['out_%d' % i for i in range(len(outs))]
            if path:
                if spec.number % 2:
                    tf.saved_model.simple_save(session, path, inputs=dict(zip(names, ins)), outputs=dict(zip(keys, outs)))
                else:
                    builder = tf.saved_model.builder.SavedModelBuilder(path)
                    info = tf.saved_model.utils.build_tensor_info
                    builder.add_meta_graph_and_variables(session, ['serve'], signature_def_map={
                        'serving_default': tf.saved_model.signature_def_utils.build_signature_def(
                            dict((k, info(v)) for k, v in zip(names, ins)), dict((k, info(v)) for k, v in zip(keys, outs)), 'tensorflow/serving/predict')})
                    builder.save()
            return got, values, keys
    fresh(spec)
    path = os.path.join(spec.folder, top(spec))
    (got, refused), values, keys = whole(spec.build, None, path)
    base = {}
    if spec.facts.get('base') is not False:
        (base, _), kept, _ = whole(spec.facts.get('base') or (lambda room, o, x, f: f(x)), values)
        keep_weights(spec, kept)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        meta = tf.saved_model.loader.load(session, ['serve'], path)
        mine = meta.signature_def['serving_default']
        n = max(got)
        again = session.run([mine.outputs[k].name for k in keys], dict((mine.inputs[k].name, v[:n]) for k, v in zip(names, xs)))
        assert gap(again, got[n]) < 1e-4, 'serves otherwise'
    write(spec, xs, got, base, refused, serving={'signature': 'serving_default', 'tags': ['serve'], 'inputs': list(names), 'outputs': keys})


def built(template):
    """Layers of a template with the shapes they are built for."""
    kind, l = template.kind, template.layers
    shapes = {'conv1d': [(None, 6, 2), (None, 4, 3), None, None, (None, 12)], 'conv2d': [(None, 6, 6, 1), (None, 4, 4, 2), None, None, None, (None, 8)],
              'same': [(None, 4, 3), (None, 4, 3), (None, 4, 3)],
              'dense': [(None, 5), (None, 4), None, (None, 4)], 'loss': [(None, 5), (None, 4), None, (None, 4)],
              'residual': [(None, 4), (None, 4), None, (None, 4)], 'two': [(None, 4), (None, 7), None, (None, 7), (None, 3)],
              'twoout': [(None, 5), (None, 4), None, (None, 4), (None, 4)]}[kind]
    for layer, shape in zip(l, shapes):
        if shape:
            yield layer, tf.TensorShape(shape)


WRITERS = {'h5': keras_case, 'sm': keras_case, 'bare1': bare1_case, 'bare2': bare2_case}
