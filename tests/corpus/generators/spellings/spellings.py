# -*- coding: utf-8 -*-
"""Wrappers: rows cut and joined in every way one may write it, in every container."""
from kit import KERAS3, KINDS, add

CONTAINERS = [('h5', 'tf23', None), ('h5', 'tf210', None), ('h5', KERAS3, None), ('sm', 'tf23', None), ('sm', 'tf210', None), ('sm', 'tf215', None),
              ('bare1', 'k231', 'inline'), ('bare1', 'k231', 'function'), ('bare2', None, 'inline'), ('bare2', None, 'function')]
SHORT = {'h5': 'h5', 'sm': 'sm', 'bare1': 'bare', 'bare2': 'bare'}
BOTH = ('split',)      # kept inline and as a function
METADATA = ('split', 'strided', 'masked', 'ratio-3-2', 'averaged-loss')     # large: the others are made with --all
SPELLINGS = []


def spelling(name, towers=2, **facts):
    def keep(function):
        SPELLINGS.append((name, towers, function, facts))
        return function
    return keep


def rowed(o, x, parts):
    return o.reshape(x, parts + o.dims(x))


@spelling('split')
def split(room, o, x, f):
    a, b = o.split(x, 2)
    return o.cat([f(a), f(b)])


@spelling('split-of-split', 4)
def split_of_split(room, o, x, f):
    quarters = [q for half in o.split(x, 2) for q in o.split(half, 2)]
    return o.cat([f(q) for q in quarters])


@spelling('slice-of-slice', 3, sized=True)
def slice_of_slice(room, o, x, f):
    half = o.n(x) // 2
    rest = o.rows(x, half)
    m = o.n(rest) // 2
    return o.cat([f(o.rows(x, None, half)), f(o.rows(rest, None, m)), f(o.rows(rest, m))])


@spelling('merge-of-merges', 4)
def merge_of_merges(room, o, x, f):
    a, b, c, d = [f(q) for q in o.split(x, 4)]
    return o.cat([o.cat([a, b]), o.cat([c, d])])


@spelling('reshape-unstack', 2, sized=True)
def reshape_unstack(room, o, x, f):
    a, b = o.unstack(rowed(o, x, [2, o.n(x) // 2]), 2)
    return o.cat([f(a), f(b)])


@spelling('reshape-index', 2, sized=True)
def reshape_index(room, o, x, f):
    blocks = rowed(o, x, [2, o.n(x) // 2])
    y = o.stack([f(blocks[0]), f(blocks[1])])
    return o.reshape(y, [-1, int(y.shape[-1])])


@spelling('strided')
def strided(room, o, x, f):
    y = o.stack([f(o.rows(x, 0, None, 2)), f(o.rows(x, 1, None, 2))], axis=1)
    return o.reshape(y, [-1, int(y.shape[-1])])


@spelling('strided-permuted', 3, sized=True)
def strided_permuted(room, o, x, f):
    rows = o.range(o.n(x))
    y = o.cat([f(o.rows(x, i, None, 3)) for i in range(3)])
    return o.take(y, o.inverse(o.cat([o.rows(rows, i, None, 3) for i in range(3)])))


@spelling('reshape-columns', 2, sized=True)
def reshape_columns(room, o, x, f):
    pairs = rowed(o, x, [o.n(x) // 2, 2])
    y = o.stack([f(pairs[:, 0]), f(pairs[:, 1])], axis=1)
    return o.reshape(y, [-1, int(y.shape[-1])])


@spelling('gather-ranges', 2, sized=True)
def gather_ranges(room, o, x, f):
    n = o.n(x)
    return o.cat([f(o.take(x, o.range(0, n // 2))), f(o.take(x, o.range(n // 2, n)))])


@spelling('gather-scatter', 2, sized=True)
def gather_scatter(room, o, x, f):
    n = o.n(x)
    even, odd = o.range(0, n, 2), o.range(1, n, 2)
    return o.scatter(even, f(o.take(x, even)), n) + o.scatter(odd, f(o.take(x, odd)), n)


@spelling('masked', 2, sized=True)
def masked(room, o, x, f):
    n = o.n(x)
    first = o.range(n) < n // 2
    return o.cat([f(o.mask(x, first)), f(o.mask(x, o.negate(first)))])


@spelling('masked-scattered', 2, sized=True)
def masked_scattered(room, o, x, f):
    even = o.range(o.n(x)) % 2 < 1
    a, b = f(o.mask(x, even)), f(o.mask(x, o.negate(even)))
    y = o.update(o.zeros_like_rows(x, int(a.shape[-1])), o.where(even), a)
    return o.update(y, o.where(o.negate(even)), b)


@spelling('ratio-3-2', 2, sized=True)
def ratio_3_2(room, o, x, f):
    at = o.n(x) * 3 // 5
    return o.cat([f(o.rows(x, None, at)), f(o.rows(x, at))])


@spelling('ratio-4-2-1', 3, sized=True, fixed=7)
def ratio_4_2_1(room, o, x, f):
    n = o.n(x)
    at = [0] + [n * s // 7 for s in (4, 6, 7)]
    return o.cat([f(o.rows(x, a, b)) for a, b in zip(at, at[1:])])


@spelling('averaged-loss', 2, template='loss', layer=False)
def averaged_loss(room, o, x, f):
    (a, l), (b, m) = [f(part) for part in o.split(x, 2)]
    return [o.cat([a, b]), o.mean([l, m])]


@spelling('batch-times-index', 3, sized=True)
def batch_times_index(room, o, x, f):
    size = o.n(x) // 3
    return o.cat([f(o.rows(x, 0, size)), f(o.rows(x, size, 2 * size)), f(o.rows(x, 2 * size))])


@spelling('cast-floor', 2, sized=True)
def cast_floor(room, o, x, f):
    n = o.n(x)
    return o.cat([f(o.rows(x, o.floored(n, i, 2), o.floored(n, i + 1, 2))) for i in range(2)])


@spelling('shape-divided', 2, sized=True)
def shape_divided(room, o, x, f):
    size = o.truncated(o.n(x), 2)
    return o.cat([f(o.rows(x, None, size)), f(o.rows(x, size))])


@spelling('slice-op', 2, sized=True)
def slice_op(room, o, x, f):
    size, rest, zeros = o.n(x) // 2, o.dims(x), [0 for d in o.dims(x)]
    return o.cat([f(o.slice(x, [0] + zeros, [size] + rest)), f(o.slice(x, [size] + zeros, [-1] + rest))])


@spelling('partition-blocks', 2, sized=True)
def partition_blocks(room, o, x, f):
    n = o.n(x)
    parts = o.range(n) * 2 // n
    a, b = o.partition(x, parts, 2)
    return o.stitch(o.partition(o.range(n), parts, 2), [f(a), f(b)])


@spelling('partition-parity', 3, sized=True)
def partition_parity(room, o, x, f):
    n = o.n(x)
    parts = o.range(n) % 3
    return o.stitch(o.partition(o.range(n), parts, 3), [f(p) for p in o.partition(x, parts, 3)])


@spelling('two-inputs', 2, template='two')
def two_inputs(room, o, x, f):
    (a, b), (c, d) = o.split(x[0], 2), o.split(x[1], 2)
    return o.cat([f([a, c]), f([b, d])])


@spelling('dictionary-inputs', 2, template='two', names=['features', 'extras'], dictionary=True, sized=True)
def dictionary_inputs(room, o, x, f):
    n = o.n(x[0]) // 2
    return o.cat([f([o.rows(x[0], None, n), o.rows(x[1], None, n)]), f([o.rows(x[0], n), o.rows(x[1], n)])])


@spelling('two-outputs', 2, template='twoout')
def two_outputs(room, o, x, f):
    (a, c), (b, d) = [f(part) for part in o.split(x, 2)]
    return [o.cat([a, b]), o.cat([c, d])]


@spelling('split-sizes', 2, sized=True)
def split_sizes(room, o, x, f):
    n = o.n(x)
    a, b = o.split(x, [n // 2, n - n // 2])
    return o.cat([f(a), f(b)])


@spelling('blocks-of-stripes', 4)
def blocks_of_stripes(room, o, x, f):
    halves = []
    for half in o.split(x, 2):
        y = o.stack([f(o.rows(half, 0, None, 2)), f(o.rows(half, 1, None, 2))], axis=1)
        halves.append(o.reshape(y, [-1, int(y.shape[-1])]))
    return o.cat(halves)


@spelling('called-backwards', 3)
def called_backwards(room, o, x, f):
    a, b, c = o.split(x, 3)
    z = f(c)
    y = f(b)
    return o.cat([f(a), y, z])


def with_head(room, o, x, f):
    a, b = o.split(x, 2)
    return room.head(2, 'verdict')(o.cat([f(a), f(b)]))


def table():
    for s, (name, towers, function, facts) in enumerate(SPELLINGS):
        for c, (container, stack, form) in enumerate(CONTAINERS):
            stack = stack or ['tf215', 'tf23', 'tf210'][(s + c) % 3]
            form = form or ['inline', 'function'][(s + c // 3 + c) % 2]
            kept = container == 'sm' and name in METADATA and c - 3 == (0 if s % 6 == 0 else 1 + s % 2) or container != 'sm' and (container == 'h5' or name in BOTH and container != 'sm' or {
                'bare1': c - 6 == s % 2, 'bare2': c - 8 == (s + 1) % 2}.get(container, True))
            add(100 + s * 10 + c, '%s-%s-%s-%s' % (name, SHORT[container], stack, form), stack, container, form, function,
                **dict({'kept': kept, 'towers': towers, 'template': 'dense' if container == 'sm' else KINDS[s % 4], 'spelling': name,
                        'reason': 'The parts are the rows of the batch, each once, and the joined answers stand in the order of the rows.'}, **facts))


table()
