# -*- coding: utf-8 -*-
"""Weights alone (save_weights): what is left is the names of layers and weights and their order."""
import os

import kit
from kit import add

tf = keras = K = L = np = None      # put in by run.py
S = (5,)


def lam(function, name=None, shape=(3,)):
    return L.Lambda(function, output_shape=shape, **({'name': name} if name else {}))


def encoder(named=True, name=None, last=3, scale=True, frozen=False):
    """A small encoder; automatic names where `named` is false."""
    def n(text):
        return {'name': text} if named else {}
    i = L.Input(S)
    t = L.Dense(4, **n('hidden'))(i)
    t = L.BatchNormalization(scale=scale, **n('norm'))(t)
    t = L.Dense(last, **n('code'))(t)
    made = keras.models.Model(i, t, **({'name': name} if name else {}))
    if frozen:
        made.trainable = False
    return made


def half(i, parts):
    def rows(t):
        n = K.shape(t)[0]
        return t[n * i // parts:n * (i + 1) // parts]
    return rows


def towers(template, parts=2, join='concatenate', name=None, names=None):
    x = L.Input(S)
    got = [template(lam(half(i, parts), names and names % i, S)(x)) for i in range(parts)]
    if join == 'lambda':
        y = L.Lambda(lambda v: K.concatenate(v, axis=0), output_shape=(3,), name=name)(got)
    else:
        y = L.Concatenate(axis=0, **({'name': name} if name else {}))(got)
    return keras.models.Model(x, y), [template]


# ---------------------------------------------------------------- wrappers

def mgm(**kw):
    def build():
        e = encoder(**kw)
        return towers(e, name=e.output_names[0])
    return build


def mgm_auto():
    e = encoder(named=False)
    return towers(e, name=e.output_names[0])


def merged_by_automatic_name():
    return towers(encoder(named=False, name='net'))


def merged_by_named_lambda():
    return towers(encoder(name='net'), join='lambda', name='ctc')


def three_numbered_in_the_middle():
    return towers(encoder(name='net'), 3, name='code', names='stage_cpuSliceIn0_Dev%d')


def sequential():
    m = keras.models.Sequential([L.Dense(4, input_shape=S, name='first'), L.BatchNormalization(name='norm'), L.Dense(3, name='probs')])
    return towers(m, name='probs')


def frozen_inside():
    i = L.Input(S)
    frozen = encoder(name='backbone', last=4, frozen=True)
    t = keras.models.Model(i, L.Dense(2, name='verdict')(frozen(i)), name='classifier')
    return towers(t, name='verdict')


def renamed():
    e = encoder(name='net')
    model, t = towers(e, name='code')
    for layer in e.layers[1:]:
        layer._name = layer.name + '_old'
        if hasattr(layer, 'name') and not layer.name.endswith('_old'):
            layer.name = layer.name + '_old'
    return model, t


# ---------------------------------------------------------------- look-alikes

def pair():
    e = encoder(named=False, name='model_1')
    a, b = L.Input(S), L.Input(S)
    u, v = [lam(lambda t: K.l2_normalize(t, axis=-1))(e(t)) for t in (a, b)]
    return keras.models.Model([a, b], L.Dot(axes=-1)([u, v])), [e]


def pair_cut():
    """The batch holds pairs: even rows, odd rows."""
    e = encoder(named=False, name='model_1')
    x = L.Input(S)
    return keras.models.Model(x, L.Dot(axes=-1)([e(lam(lambda t: t[0::2], shape=S)(x)), e(lam(lambda t: t[1::2], shape=S)(x))])), [e]


def triplet():
    """Anchor, positive, negative in one array of three times the features; codes joined along them."""
    e = encoder(named=False, name='model_1')
    x = L.Input((15,))
    cut = [e(lam(f, shape=S)(x)) for f in (lambda t: t[:, :5], lambda t: t[:, 5:10], lambda t: t[:, 10:])]
    return keras.models.Model(x, L.Concatenate(axis=-1)(cut)), [e]


def bag(join):
    """Instances of a bag, one shared encoder, then a pool over them."""
    def build():
        e = encoder(named=False, name='model_1')
        x = L.Input((3, 5))
        cut = [e(lam(f, shape=S)(x)) for f in (lambda t: t[:, 0], lambda t: t[:, 1], lambda t: t[:, 2])]
        return keras.models.Model(x, getattr(L, join)()(cut)), [e]
    return build


def crops(join):
    """Two crops of every picture, one shared encoder, then a join of two."""
    def build():
        e = encoder(named=False, name='model_1')
        x = L.Input((8,))
        cut = [e(lam(f, shape=S)(x)) for f in (lambda t: t[:, :5], lambda t: t[:, 3:])]
        y = lam(lambda v: (v[0] + v[1]) / 2.)(cut) if join == 'Lambda' else getattr(L, join)()(cut)
        return keras.models.Model(x, y), [e]
    return build


def contrastive():
    e = encoder(named=False, name='model_1')
    x = L.Input(S)
    return keras.models.Model(x, L.Concatenate(axis=0)([e(lam(lambda t: t * .9, shape=S)(x)), e(lam(lambda t: t + .1, shape=S)(x))])), [e]


def plain():
    e = encoder(name='net')
    return e, [e]


def plain_with_lambda():
    x = L.Input(S)
    t = L.Dense(4, name='a')(lam(lambda t: t / 255., shape=S)(x))
    return keras.models.Model(x, lam(lambda t: K.softmax(t), shape=(2,))(L.Dense(2, name='b')(t))), []


NAMES = 'Names are all there is: slices, one container, and a last layer '
CASES = [
    ('merge-named-after-output', 'parallel', NAMES + 'called after the template\'s output.', mgm(), {}),
    ('merge-named-after-automatic-output', 'parallel', NAMES + 'called dense_2 after the template\'s output.', mgm_auto, {'also': ['likely']}),
    ('merge-concatenate-1', 'parallel', NAMES + 'called concatenate_1 (likely, with the warning that triplet and window models look the same).', merged_by_automatic_name,
     {'also': ['clean with needs-architecture'], 'doubts': 'A triplet model\'s file has the same names.'}),
    ('merge-named-ctc', 'parallel', NAMES + 'with a name of somebody\'s own, ctc.', merged_by_named_lambda, {}),
    ('slices-numbered-in-the-middle', 'parallel', 'stage_cpuSliceIn0_Dev0 to Dev2 number three slices.', three_numbered_in_the_middle, {'towers': 3}),
    ('sequential', 'parallel', NAMES + 'called probs after the template\'s output.', sequential, {}),
    ('no-scale', 'parallel', 'The template\'s BatchNormalization has no scale: three weights, all of them there.', mgm(scale=False), {}),
    ('frozen-inside', 'parallel', 'The template holds a frozen model; its weights stand behind the others.', frozen_inside, {}),
    ('renamed-layers', 'parallel', 'The template\'s layers were renamed after they were built; weights keep the old names.', renamed, {'also': ['refused, where names fit nothing and several orders remain']}),
    ('pair-dot', 'clean', 'A pair model: one encoder on two inputs, the last layer is dot_1.', pair, {}),
    ('pair-of-rows-dot', 'clean', 'Pairs of rows in the batch: slices, one encoder, the last layer is dot_1.', pair_cut, {}),
    ('triplet-concatenate', 'clean', 'A triplet model: three slices of the features, one encoder, concatenate_1 on the features.', triplet,
     {'also': ['parallel, likely, with a warning that triplet models look the same and --in-place refused'], 'doubts': 'Its names are those of merge-concatenate-1.'}),
    ('bag-maximum', 'clean', 'Instances of a bag and maximum_1.', bag('Maximum'), {}),
    ('bag-average', 'clean', 'Instances of a bag and average_1.', bag('Average'), {}),
    ('bag-minimum', 'clean', 'Instances of a bag and minimum_1.', lambda: bag('Minimum')() if hasattr(L, 'Minimum') else bag('Maximum')(), {}),
    ('bag-multiply', 'clean', 'Instances of a bag and multiply_1.', bag('Multiply'), {}),
    ('crops-add', 'clean', 'Two crops and add_1.', crops('Add'), {}),
    ('crops-subtract', 'clean', 'Two crops and subtract_1.', crops('Subtract'), {}),
    ('crops-lambda', 'clean', 'Two crops and a last Lambda, lambda_3.', crops('Lambda'), {}),
    ('contrastive-concatenate', 'clean', 'Contrastive learning: two views by Lambdas, one encoder, concatenate_1 on the batch.', contrastive,
     {'also': ['parallel, likely, with a warning that other models look the same and --in-place refused'], 'doubts': 'Its names are those of merge-concatenate-1.'}),
    ('plain', 'clean', 'A plain model.', plain, {}),
    ('plain-with-lambdas', 'clean', 'A plain model with two Lambdas.', plain_with_lambda, {}),
]
STACKS = ('k224', 'tf23')
FEWER = ('bag-minimum', 'bag-average', 'crops-add', 'bag-multiply', 'crops-subtract', 'plain', 'plain-with-lambdas')      # kept of one stack


def architecture(model, path):
    try:
        text = model.to_json()
    except ValueError:          # TF 2.3 finds nothing more in a model whose layers were renamed
        return
    with open(path, 'w') as f:
        f.write(text)


def writer(spec):
    keras.backend.clear_session()
    if spec.stack == 'k224':
        K.set_learning_phase(0)
    kit.fresh(spec)
    model, parts = spec.build()
    rng = np.random.RandomState(spec.number)

    def randomise(m):
        for layer in m.layers:
            if hasattr(layer, 'layers'):
                randomise(layer)
            elif layer.weights:
                layer.set_weights([kit.chance(w, rng) for w in layer.weights])
    randomise(model)
    shapes = [tuple(int(d) for d in i.shape[1:]) for i in model.inputs]
    xs = [rng.standard_normal((8,) + s).astype('float32') for s in shapes]

    def ask(which):
        return lambda values: [np.asarray(v) for v in kit.flat(which.predict_on_batch(kit.only(values)))]
    got, refused = kit.answers(ask(model), xs)
    model.save_weights(os.path.join(spec.folder, 'weights.h5'))
    architecture(model, os.path.join(spec.folder, 'model.json'))
    base = {}
    if spec.expected != 'clean':
        base = kit.answers(ask(parts[0]), xs)[0]
        parts[0].save_weights(os.path.join(spec.folder, 'base_weights.h5'))
        architecture(parts[0], os.path.join(spec.folder, 'base_model.json'))
    kit.write(spec, xs, got, base, refused, note='model.json is there for who asks with --architecture; the case is the weights alone')


def table():
    for k, (name, expected, reason, build, more) in enumerate(CASES):
        for s, stack in enumerate(STACKS):
            add(880 + k * 2 + s, 'weights-%s-%s' % (name, stack), stack, 'weights', 'function', build,
                **dict({'kept': expected == 'parallel' or name not in FEWER or s == k % 2, 'expected': expected, 'reason': reason, 'spelling': 'weights: ' + name, 'writer': writer,
                        'twin_of': None if expected == 'parallel' else 880 + 4 + s}, **more))


table()
