# -*- coding: utf-8 -*-
"""Models that resemble a wrapper of the same spelling and are none."""
from kit import KINDS, add
from spellings import CONTAINERS, SHORT, rowed

KINDS_OF_LOOKALIKES = []


def lookalike(name, twin_of, reason, **facts):
    def keep(function):
        KINDS_OF_LOOKALIKES.append((name, twin_of, reason, function, facts))
        return function
    return keep


def whole(room, o, x, f):
    return room.templates[0](x)


# ---------------------------------------------------------------- rows in another order, twice or not at all

@lookalike('halves-swapped', 'split', 'The halves are joined the other way round: the second half of the batch comes first.')
def _(room, o, x, f):
    a, b = o.split(x, 2)
    return o.cat([f(b), f(a)])


@lookalike('quarters-crossed', 'split-of-split', 'The four parts are joined in the order 0, 2, 1, 3.')
def _(room, o, x, f):
    (a, b), (c, d) = [o.split(half, 2) for half in o.split(x, 2)]
    return o.cat([f(a), f(c), f(b), f(d)])


@lookalike('slice-of-slice-hole', 'slice-of-slice', 'The first row of the second half is in no part.', sized=True)
def _(room, o, x, f):
    half = o.n(x) // 2
    rest = o.rows(x, half)
    m = o.n(rest) // 2
    return o.cat([f(o.rows(x, None, half)), f(o.rows(rest, 1, m)), f(o.rows(rest, m))])


@lookalike('merges-swapped', 'merge-of-merges', 'The inner merges are in order, the outer one joins the second pair first.')
def _(room, o, x, f):
    a, b, c, d = [f(q) for q in o.split(x, 4)]
    return o.cat([o.cat([c, d]), o.cat([a, b])])


@lookalike('columns-joined-as-blocks', 'reshape-unstack', 'Unstacked along the second axis the parts are every second row, and they are joined as blocks.', sized=True)
def _(room, o, x, f):
    a, b = o.unstack(rowed(o, x, [o.n(x) // 2, 2]), 2, axis=1)
    return o.cat([f(a), f(b)])


@lookalike('one-half-twice', 'reshape-index', 'Both towers take block 0; block 1 is never read.', sized=True)
def _(room, o, x, f):
    blocks = rowed(o, x, [2, o.n(x) // 2])
    y = o.stack([f(blocks[0]), f(blocks[0])])
    return o.reshape(y, [-1, int(y.shape[-1])])


@lookalike('stripes-joined-as-blocks', 'strided', 'Even rows first, then odd rows: the parts are interleaved, the join puts them one behind the other.')
def _(room, o, x, f):
    return o.cat([f(o.rows(x, 0, None, 2)), f(o.rows(x, 1, None, 2))])


@lookalike('stripes-swapped', 'strided', 'The join interleaves, but odd rows come before even ones.')
def _(room, o, x, f):
    y = o.stack([f(o.rows(x, 1, None, 2)), f(o.rows(x, 0, None, 2))], axis=1)
    return o.reshape(y, [-1, int(y.shape[-1])])


@lookalike('blocks-joined-as-stripes', 'strided', 'The parts are halves, the join interleaves them row by row.')
def _(room, o, x, f):
    y = o.stack([f(part) for part in o.split(x, 2)], axis=1)
    return o.reshape(y, [-1, int(y.shape[-1])])


@lookalike('wrong-permutation', 'strided-permuted', 'The joined rows are gathered by the order of the parts instead of its inverse (the same at 8 rows, by chance, and only there).', sized=True, fixed=7)
def _(room, o, x, f):
    rows = o.range(o.n(x))
    y = o.cat([f(o.rows(x, i, None, 3)) for i in range(3)])
    return o.take(y, o.cat([o.rows(rows, i, None, 3) for i in range(3)]))


@lookalike('ranges-overlap', 'gather-ranges', 'The two ranges share a row; one more row comes out than went in.', sized=True)
def _(room, o, x, f):
    n = o.n(x)
    return o.cat([f(o.take(x, o.range(0, n // 2 + 1))), f(o.take(x, o.range(n // 2, n)))])


@lookalike('scattered-to-the-other', 'gather-scatter', 'What comes of even rows is scattered to odd ones and the other way round.', sized=True)
def _(room, o, x, f):
    n = o.n(x)
    even, odd = o.range(0, n, 2), o.range(1, n, 2)
    return o.scatter(odd, f(o.take(x, even)), n) + o.scatter(even, f(o.take(x, odd)), n)


@lookalike('same-mask-twice', 'masked', 'Both towers take the first half: the mask is not negated.', sized=True)
def _(room, o, x, f):
    n = o.n(x)
    first = o.range(n) < n // 2
    return o.cat([f(o.mask(x, first)), f(o.mask(x, first))])


@lookalike('parity-mask-joined-as-blocks', 'masked', 'Rows are masked by parity and joined as if they were halves.', sized=True)
def _(room, o, x, f):
    even = o.range(o.n(x)) % 2 < 1
    return o.cat([f(o.mask(x, even)), f(o.mask(x, o.negate(even)))])


@lookalike('ratios-disagree', 'ratio-3-2', 'The first part ends at 3/5, the second begins at 2/5: rows between are in both.', sized=True)
def _(room, o, x, f):
    n = o.n(x)
    return o.cat([f(o.rows(x, None, n * 3 // 5)), f(o.rows(x, n * 2 // 5))])


@lookalike('ratios-leave-a-part', 'ratio-4-2-1', 'Of the parts 4:2:1 the middle one is not run.', sized=True, fixed=7)
def _(room, o, x, f):
    n = o.n(x)
    return o.cat([f(o.rows(x, 0, n * 4 // 7)), f(o.rows(x, n * 6 // 7, n))])


@lookalike('only-the-mean-of-losses', 'averaged-loss', 'The rows that come out are the swapped halves; the averaged loss beside them proves nothing.', template='loss', layer=False)
def _(room, o, x, f):
    (a, l), (b, m) = [f(part) for part in o.split(x, 2)]
    return [o.cat([b, a]), o.mean([l, m])]


@lookalike('index-from-one', 'batch-times-index', 'The index of the parts begins at 1: the first third of the batch is left out, the last part is read twice.', sized=True)
def _(room, o, x, f):
    size = o.n(x) // 3
    return o.cat([f(o.rows(x, size, 2 * size)), f(o.rows(x, 2 * size)), f(o.rows(x, 2 * size))])


@lookalike('two-thirds', 'shape-divided', 'The size of a part is a third of the batch and there are two parts: the last third is left out.', sized=True)
def _(room, o, x, f):
    size = o.truncated(o.n(x), 3)
    return o.cat([f(o.rows(x, None, size)), f(o.rows(x, size, 2 * size))])


@lookalike('slice-op-of-time', 'slice-op', 'The parts are halves of the time axis, each of all rows, joined along time.', template='same', sized=True, shapes=[(8, 3)], base=whole)
def _(room, o, x, f):
    n = o.n(x)
    return o.cat([f(o.slice(x, [0, 0, 0], [n, 4, 3])), f(o.slice(x, [0, 4, 0], [n, 4, 3]))], axis=1)


@lookalike('time-joined-on-the-batch', 'split', 'Halves of the time axis of every row, joined along the batch: twice as many rows come out.', template='same', shapes=[(8, 3)], base=whole)
def _(room, o, x, f):
    a, b = o.split(x, 2, axis=1)
    return o.cat([f(a), f(b)])


@lookalike('features-joined-on-features', 'split', 'The parts are halves of the features of every row, joined along the features.', shapes=[(10,)])
def _(room, o, x, f):
    a, b = o.split(x, 2, axis=1)
    return o.cat([f(a), f(b)], axis=1)


@lookalike('stitched-to-the-other', 'partition-parity', 'The lists of row numbers at the stitch are swapped.', sized=True)
def _(room, o, x, f):
    n = o.n(x)
    parts = o.range(n) % 2
    a, b = o.partition(x, parts, 2)
    even, odd = o.partition(o.range(n), parts, 2)
    return o.stitch([odd, even], [f(a), f(b)])


@lookalike('second-input-crossed', 'two-inputs', 'The halves of the second input are given to the other tower.', template='two')
def _(room, o, x, f):
    (a, b), (c, d) = o.split(x[0], 2), o.split(x[1], 2)
    return o.cat([f([a, d]), f([b, c])])


@lookalike('second-input-half-for-both', 'dictionary-inputs', 'Both towers take the first half of the second input.', template='two', names=['features', 'extras'], dictionary=True, sized=True)
def _(room, o, x, f):
    n = o.n(x[0]) // 2
    return o.cat([f([o.rows(x[0], None, n), o.rows(x[1], None, n)]), f([o.rows(x[0], n), o.rows(x[1], None, n)])])


@lookalike('second-output-swapped', 'two-outputs', 'The first output is joined in order, the second one the other way round.', template='twoout', differs=1)
def _(room, o, x, f):
    (a, c), (b, d) = [f(part) for part in o.split(x, 2)]
    return [o.cat([a, b]), o.cat([d, c])]


@lookalike('one-tower-read', 'split', 'One tower\'s answers are an output of their own beside the joined ones.', differs=1)
def _(room, o, x, f):
    a, b = [f(part) for part in o.split(x, 2)]
    return [o.cat([a, b]), a * 2.]


@lookalike('other-weights', 'split', 'Two models of equal shape and different weights, one for each half.')
def _(room, o, x, f):
    g = room.callable(room.template(room.templates[0].kind, 'other_'), name='other')
    a, b = o.split(x, 2)
    return o.cat([f(a), g(b)])


@lookalike('one-tower-rectified', 'split', 'Between slice and tower one half passes an activation, the other does not.')
def _(room, o, x, f):
    a, b = o.split(x, 2)
    return o.cat([f(a), f(o.relu(b))])


@lookalike('sizes-overlap', 'split-sizes', 'The first part is n // 2 + 1 rows, the second the last n - n // 2: they share a row.', sized=True)
def _(room, o, x, f):
    n = o.n(x)
    return o.cat([f(o.rows(x, None, n // 2 + 1)), f(o.rows(x, n // 2))])


# ---------------------------------------------------------------- other trades

@lookalike('contrastive', 'split', 'Contrastive learning: two views of all rows (mirrored, scaled) through one encoder, joined on the batch.', template='conv1d')
def _(room, o, x, f):
    return o.cat([f(o.reverse(x, 1)), f(x * .8 + .1)])


@lookalike('test-time-augmentation', 'split', 'Test-time augmentation: mean of the answers for the rows and for the mirrored rows.', template='conv2d')
def _(room, o, x, f):
    return o.average([f(x), f(o.reverse(x, 2))])


@lookalike('siamese', 'two-inputs', 'Siamese twins: one encoder on each of two inputs, the distance of the codes is the output.', template='dense', shapes=[(5,), (5,)], base=False)
def _(room, o, x, f):
    return o.abs(f(x[0]) - f(x[1]))


@lookalike('mean-of-towers', 'split', 'The answers of the two halves are averaged, not joined.')
def _(room, o, x, f):
    a, b = o.split(x, 2)
    return o.average([f(a), f(b)])


@lookalike('gan-batch', 'split', 'A discriminator sees real and generated rows joined in one batch, its verdicts are cut apart again.', shapes=[(5,), (5,)], base=False, template='dense')
def _(room, o, x, f):
    made = room.head(5, 'generator')(x[1])
    a, b = o.split(f(o.cat([x[0], made])), 2)
    return [a, b]


def table():
    for l, (name, twin, reason, function, facts) in enumerate(KINDS_OF_LOOKALIKES):
        for c, (container, stack, form) in enumerate(CONTAINERS):
            stack = stack or ['tf215', 'tf23', 'tf210'][(l + c) % 3]
            form = form or ['inline', 'function'][(l + c // 3 + c) % 2]
            kept = {'h5': c == l % 3 or l < 10 and c == (l + 1) % 3, 'sm': c == 5 and l in (0, 8), 'bare1': c - 6 == l // 2 % 2 and l % 2 == 0, 'bare2': c - 8 == l // 2 % 2 and l % 2 == 1}[container]
            add(400 + l * 10 + c, 'not-%s-%s-%s-%s' % (name, SHORT[container], stack, form), stack, container, form, function,
                **dict({'kept': kept, 'expected': 'clean', 'template': 'dense' if container == 'sm' else KINDS[l % 4], 'spelling': twin, 'twin_of': twin_number(twin, c), 'reason': reason}, **facts))


def twin_number(spelling, c):
    from spellings import SPELLINGS
    return [100 + s * 10 + c for s, kind in enumerate(SPELLINGS) if kind[0] == spelling][0]


table()
