# -*- coding: utf-8 -*-
"""What is stored as numbers: arguments of functions, config keys of classes, cells of closures."""
import os

import kit
from kit import KERAS3, add

tf = keras = K = L = np = None      # put in by run.py


# ---------------------------------------------------------------- functions that Lambdas call

def get_slice(data, i, parts):
    import tensorflow as tf
    shape = tf.shape(data)
    step = shape[:1] // parts
    size = shape[:1] - step * i if i == parts - 1 else step
    stride = tf.concat([step, shape[1:] * 0], axis=0)
    return tf.slice(data, stride * i, tf.concat([size, shape[1:]], axis=0))


def get_share(data, share, total, start):
    import tensorflow as tf
    n = tf.shape(data)[0]
    return data[n * start // total:n * (start + share) // total]


def get_rows(data, start, stop):
    import tensorflow as tf
    n = tf.cast(tf.shape(data)[0], 'float32')
    return data[tf.cast(n * start, 'int32'):tf.cast(n * stop, 'int32')]


def classes():
    """Layer classes of somebody's own; some names say nothing or something else."""
    class Base(L.Layer):
        keys = ()

        def __init__(self, **kw):
            self.given = dict((k, kw.pop(k)) for k in self.keys)
            super(Base, self).__init__(**kw)

        def get_config(self):
            return dict(super(Base, self).get_config(), **self.given)

        def compute_output_shape(self, shape):
            return (None,) + tuple(shape[1:])

    def of_index(name):
        def call(self, x):
            return get_slice(x, self.given['index'], self.given['parts'])
        return type(name, (Base,), {'keys': ('index', 'parts'), 'call': call})

    class RowRange(Base):
        keys = ('start', 'stop')

        def call(self, x):
            return get_rows(x, self.given['start'], self.given['stop'])

    class NthSlice(Base):
        keys = ('i',)

        def call(self, x):
            return get_slice(x, self.given['i'], 2)

    class Rotate90(Base):
        keys = ('k',)

        def call(self, x):
            return K.permute_dimensions(x[:, ::-1] if self.given['k'] % 2 else x[:, :, ::-1], (0, 2, 1, 3)) if self.given['k'] else x

    class ColorJitter(Base):
        keys = ('strength', 'seed')

        def call(self, x):
            return x * (1. + self.given['strength'] * ((self.given['seed'] * 7919 % 13) / 13. - .5)) + .05 * self.given['seed']

    class View(Base):
        keys = ()

        def call(self, x):
            return x * .9 + .2 * (1 if self.name.endswith('b') else -1)

    class SliceBatch(Base):
        def call(self, x):
            return x[:4] if self.name.endswith('0') else x[4:]

        def compute_output_shape(self, shape):
            return (4,) + tuple(shape[1:])

    class ConcatBatch(Base):
        def call(self, parts):
            return parts[0] + parts[1]

        def compute_output_shape(self, shapes):
            return shapes[0]
    found = {'RowRange': RowRange, 'NthSlice': NthSlice, 'Rotate90': Rotate90, 'ColorJitter': ColorJitter, 'View': View, 'SliceBatch': SliceBatch, 'ConcatBatch': ConcatBatch}
    for name in ('NoiseFreeSlice', 'MinibatchPart', 'AddonsCut', 'Gather'):
        found[name] = of_index(name)
    return found


def lam(function, shape=None, **arguments):
    """A Lambda with arguments; Keras 2.2.4 wants to know the shape."""
    return L.Lambda(function, output_shape=shape, arguments=arguments)


def joined(parts, name=None):
    return L.Concatenate(axis=0, **({'name': name} if name else {}))(parts)


def numbered(*numbers):
    """Towers on get_slice(x, i, parts) for these pairs."""
    def build(f, x):
        shape = kit.SHAPES['dense'][0]
        return joined([f(lam(get_slice, shape, i=i, parts=p)(x)) for i, p in numbers])
    return build


def shared(*numbers):
    def build(f, x):
        return joined([f(lam(get_share, kit.SHAPES['dense'][0], share=s, total=t, start=a)(x)) for s, t, a in numbers])
    return build


def ranged(*numbers):
    def build(f, x):
        return joined([f(lam(get_rows, kit.SHAPES['dense'][0], start=a, stop=b)(x)) for a, b in numbers])
    return build


def of_class(name, *configs):
    def build(f, x):
        made = classes()[name]
        return joined([f(made(name='%s_%d' % (name.lower(), k), **c)(x)) for k, c in enumerate(configs)])
    return build


def loop_closures(late):
    def build(f, x):
        outs, made, parts = [], [], 2
        for i in range(parts):
            if late:
                def rows(t):
                    import tensorflow as tf
                    n = tf.shape(t)[0]
                    return t[n * i // parts:n * (i + 1) // parts]
            else:
                def rows(t, i=i, parts=parts):
                    import tensorflow as tf
                    n = tf.shape(t)[0]
                    return t[n * i // parts:n * (i + 1) // parts]
            made.append(L.Lambda(rows, output_shape=kit.SHAPES['dense'][0]))
            outs.append(f(made[-1](x)))
        return joined(outs)
    return build


def loop_bounds(f, x):
    """As in classes of 2018: the rows of a batch of 8 by their numbers, cells of a closure made in a loop."""
    outs = []
    for k in range(2):
        start, stop = k * 4, (k + 1) * 4
        outs.append(f(L.Lambda(lambda t: t[start:stop], output_shape=kit.SHAPES['dense'][0], name='tower_%d_rows' % k)(x)))
    return joined(outs)


def cells(order, parts=2):
    """Closures made by a function: every cell holds its own numbers."""
    def maker(i, parts):
        def rows(t):
            import tensorflow as tf
            n = tf.shape(t)[0]
            return t[n * i // parts:n * (i + 1) // parts]
        return rows

    def build(f, x):
        return joined([f(L.Lambda(maker(i, parts), output_shape=kit.SHAPES['dense'][0])(x)) for i in order])
    return build


def crossed(f, x):
    shapes = kit.SHAPES['two']
    cut = [[lam(get_slice, s, i=i, parts=2)(t) for i in range(2)] for t, s in zip(x, shapes)]
    return joined([f([cut[0][0], cut[1][1]]), f([cut[0][1], cut[1][0]])])


def straight(f, x):
    return joined([f([lam(get_slice, s, i=i, parts=2)(t) for t, s in zip(x, kit.SHAPES['two'])]) for i in range(2)])


def views(name, *configs):
    def build(f, x):
        made = classes()[name]
        return joined([f(made(name='view_%s' % 'ab'[k], **c)(x)) for k, c in enumerate(configs)])
    return build


def own_random(f, x):
    """Keras's own layers of chance: two views of every image."""
    e = L if hasattr(L, 'RandomFlip') else keras.layers.experimental.preprocessing
    return joined([f(e.RandomFlip('horizontal', seed=1, name='flip_a')(x)), f(e.RandomRotation(.2, seed=2, name='turn_b')(x))])


def own_noise(f, x):
    return joined([f(L.GaussianNoise(.1, name='noise_a')(x)), f(L.GaussianNoise(.2, name='noise_b')(x))])


def own_dropout(f, x):
    return joined([f(L.Dropout(.2, name='view_a')(x)), f(L.Dropout(.2, name='view_b')(x))])


def sum_named_concat(f, x):
    cut = [lam(get_slice, kit.SHAPES['dense'][0], i=i, parts=2)(x) for i in range(2)]
    return classes()['ConcatBatch'](name='concat_batch')([f(c) for c in cut])


CASES = [
    # name, expected, reason, build, more
    ('numbers-right', 'parallel', 'i and parts number the two halves in order.', numbered((0, 2), (1, 2)), {}),
    ('parts-differ', 'clean', 'The first slice is one of two parts, the second one of three: a row in between is in none or in both.', numbered((0, 2), (1, 3)), {}),
    ('index-equal', 'clean', 'Both Lambdas store i = 0: the first half twice; arguments are stored when the layer is made.', numbered((0, 2), (0, 2)), {}),
    ('index-equal-last', 'clean', 'Both Lambdas store i = 1, the last part: arguments are no closure cells, nothing bound them late.', numbered((1, 2), (1, 2)), {}),
    ('parts-too-large', 'clean', 'Two slices of four parts: the second half of the batch is in none.', numbered((0, 4), (1, 4)), {}),
    ('other-order', 'clean', 'The second half is joined first.', numbered((1, 2), (0, 2)), {}),
    ('index-too-large', 'clean', 'The slices are parts 1 and 2 of 2: the first half is left out.', numbered((1, 2), (2, 2)), {}),
    ('three-of-three', 'parallel', 'i and parts number the three thirds in order.', numbered((0, 3), (1, 3), (2, 3)), {'towers': 3}),
    ('three-one-missing', 'clean', 'Parts 0 and 2 of three; part 1 is in no tower.', numbered((0, 3), (2, 3)), {}),
    ('shares-right', 'parallel', 'The shares 3 and 2 of 5 are the whole batch in order.', shared((3, 5, 0), (2, 5, 3)), {}),
    ('shares-total-differs', 'clean', 'Shares of 5 and of 6: the totals contradict one another.', shared((3, 5, 0), (2, 6, 3)), {}),
    ('shares-below-total', 'clean', 'Shares 3 and 2 of a total of 6: the last sixth is in no tower.', shared((3, 6, 0), (2, 6, 3)), {}),
    ('shares-start-wrong', 'clean', 'The second share starts at 2 where the first one ends at 3: they overlap.', shared((3, 5, 0), (2, 5, 2)), {}),
    ('fractions-right', 'parallel', 'Rows 0 to one half and one half to the end.', ranged((0., .5), (.5, 1.)), {}),
    ('fractions-end-zero', 'clean', 'The second part ends at 0.0: it has no rows.', ranged((0., .5), (.5, 0.)), {}),
    ('fractions-hole', 'clean', 'Rows between 0.25 and 0.5 are in no part.', ranged((0., .25), (.5, 1.)), {}),
    ('inputs-right', 'parallel', 'Every tower takes the same part of both inputs.', straight, {'template': 'two'}),
    ('inputs-crossed', 'clean', 'The second input is cross-wired: each tower takes the other half of it.', crossed, {'template': 'two'}),
    ('cells-right', 'parallel', 'The cells hold i and parts of each part in order.', cells((0, 1)), {}),
    ('cells-late', 'parallel', 'Closures made in a loop: when the file is written all cells hold the last i, as Python binds late; each tower was built with its own. '
     'Trained and run as a wrapper in memory.', loop_closures(True), {'also': ['likely with a finding'], 'stacks': ('k224',),
      'doubts': 'In memory the graph is a wrapper\'s; loaded again from the file every Lambda takes the last part.'}),
    ('cells-late-eager', 'clean', 'Closures made in a loop hold the last i, and this Keras calls them again at every step: the model that ran took the last part twice.', loop_closures(True),
     {'also': ['parallel, likely, with a finding: the person meant a wrapper'], 'stacks': ('tf23', 'tf215'),
      'doubts': 'The same source text was a wrapper under Keras 2.2.4, where the graph is built once.'}),
    ('cells-late-bounds', 'parallel', 'start and stop bound late: 4 and 8 in both cells, those of the last part of a batch of 8; each tower was built with its own.', loop_bounds,
     {'also': ['likely with a finding'], 'stacks': ('k224',), 'doubts': 'In memory the graph is a wrapper\'s; loaded again from the file every Lambda takes the last part.'}),
    ('cells-default', 'parallel', 'Bound early by a default argument.', loop_closures(False), {'also': ['clean where the stored form does not tell the numbers']}),
    ('cells-first-twice', 'clean', 'Both cells hold the first part; a loop that binds late leaves the last one.', cells((0, 0)), {'also': []}),
    ('class-range', 'parallel', 'start and stop of both layers are the batch in order.', of_class('RowRange', {'start': 0., 'stop': .5}, {'start': .5, 'stop': 1.}), {}),
    ('class-range-overlap', 'clean', 'The ranges 0 to 0.75 and 0.5 to 1 overlap.', of_class('RowRange', {'start': 0., 'stop': .75}, {'start': .5, 'stop': 1.}), {}),
    ('class-range-swapped', 'clean', 'The second half is joined first.', of_class('RowRange', {'start': .5, 'stop': 1.}, {'start': 0., 'stop': .5}), {}),
    ('class-index-alone', 'clean', 'A lone counter i tells no slice: it could as well be the number of an augmentation.', of_class('NthSlice', {'i': 0}, {'i': 1}),
     {'also': ['parallel, likely, where --slice-layer NthSlice vouches for it'], 'doubts': 'It is a wrapper in truth; nothing stored says so.', 'wrapper_in_truth': True}),
    ('class-noise-name', 'parallel', 'index and parts number the halves in order, whatever the class is called.', of_class('NoiseFreeSlice', {'index': 0, 'parts': 2}, {'index': 1, 'parts': 2}), {}),
    ('class-minibatch-name', 'parallel', 'index and parts number the thirds in order, whatever the class is called.', of_class('MinibatchPart', *[{'index': k, 'parts': 3} for k in range(3)]), {'towers': 3}),
    ('class-addons-name', 'parallel', 'index and parts number the halves in order, whatever the class is called.', of_class('AddonsCut', {'index': 0, 'parts': 2}, {'index': 1, 'parts': 2}), {}),
    ('class-index-equal', 'clean', 'Both layers take part 0 of 2; config keys are stored when the layer is made.', of_class('Gather', {'index': 0, 'parts': 2}, {'index': 0, 'parts': 2}), {}),
    ('class-parts-differ', 'clean', 'Part 0 of 2 and part 1 of 4.', of_class('MinibatchPart', {'index': 0, 'parts': 2}, {'index': 1, 'parts': 4}), {}),
    ('views-rotated', 'clean', 'Contrastive learning: two rotations of every image through one encoder.', views('Rotate90', {'k': 0}, {'k': 1}), {'template': 'conv2d'}),
    ('views-rotated-equal', 'clean', 'An augmentation of somebody\'s own, twice with the same number.', views('Rotate90', {'k': 1}, {'k': 1}), {'template': 'conv2d'}),
    ('views-jittered', 'clean', 'Contrastive learning: two jitters of every image through one encoder.', views('ColorJitter', {'strength': .5, 'seed': 0}, {'strength': .5, 'seed': 1}), {'template': 'conv2d'}),
    ('views-opaque', 'clean', 'A class of somebody\'s own that tells nothing, twice on the whole input, one encoder.', views('View', {}, {}), {'template': 'conv1d'}),
    ('sizes-declared', 'parallel', 'The class tells nothing, but the declared sizes do: a batch of 8, a template for 4 rows, two towers.', of_class('SliceBatch', {}, {}),
     {'batch': 8, 'inner': 4}),
    ('sizes-undeclared', 'clean', 'The same class without declared sizes tells nothing.', of_class('SliceBatch', {}, {}), {'doubts': 'It is a wrapper in truth; nothing stored says so.', 'wrapper_in_truth': True}),
    ('sum-called-concat', 'clean', 'The joining class is called ConcatBatch and adds; its name proves nothing.', sum_named_concat, {}),
    ('keras-random', 'clean', 'Two random views by Keras\'s own layers through one encoder: contrastive learning.', own_random, {'template': 'conv2d', 'stacks': ('tf23', 'tf215')}),
    ('keras-noise', 'clean', 'Two noisy views by Keras\'s own GaussianNoise.', own_noise, {}),
    ('keras-dropout', 'clean', 'Two views by Keras\'s own Dropout (as in SimCSE).', own_dropout, {}),
]
STACKS = ('k224', 'tf23', 'tf215')


def writer(spec):
    keras.backend.clear_session()
    if hasattr(K, 'set_learning_phase') and spec.stack == 'k224':
        K.set_learning_phase(0)
    kit.fresh(spec)
    o = kit.TFRows()
    template = kit.Template(spec.template, o)
    inner = template.model(batch=spec.facts.get('inner'))
    shapes = kit.SHAPES[spec.template]
    batch = spec.facts.get('batch')
    ins = [L.Input(batch_shape=(batch,) + s, name='rows_%d' % k) if batch else L.Input(s, name='rows_%d' % k) for k, s in enumerate(shapes)]
    model = keras.models.Model(kit.only(ins), spec.build(inner, kit.only(ins)), name='model')
    rng = np.random.RandomState(spec.number)
    for layer in template.layers:
        if layer.weights:
            layer.set_weights([kit.chance(w, rng) for w in layer.weights])
    xs = kit.inputs_of(spec)

    def ask(which):
        def call(values):
            return [np.asarray(v) for v in kit.flat(which.predict_on_batch(kit.only(values)))]
        return call
    got, refused = kit.answers(ask(model), xs, batch)
    ins = template.inputs()
    twin = inner if not batch else keras.models.Model(kit.only(ins), template(kit.only(ins)), name='template')
    base = kit.answers(ask(twin), xs)[0]
    path = os.path.join(spec.folder, kit.top(spec) + '.h5')
    model.save(path)
    if spec.expected != 'clean':
        twin.save(os.path.join(spec.folder, 'base.h5'))
    if spec.facts.get('wrapper_in_truth'):
        base = {}
    kit.write(spec, xs, got, base, refused)


def table():
    for k, (name, expected, reason, build, more) in enumerate(CASES):
        more = dict(more)
        for s, stack in enumerate(STACKS):
            if stack not in more.get('stacks', STACKS):
                continue
            add(750 + k * 3 + s, '%s-%s' % (name, stack), stack, 'h5', 'function', build,
                **dict({'kept': s == k % 3 or 'stacks' in more or name in ('numbers-right', 'class-index-alone'), 'expected': expected, 'reason': reason, 'spelling': 'claims: ' + name, 'writer': writer,
                        'twin_of': None if expected == 'parallel' else 750 + s}, **dict((q, v) for q, v in more.items() if q != 'stacks')))


table()
