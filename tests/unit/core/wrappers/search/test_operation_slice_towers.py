"""Wrappers made of operations: one table of spellings, the look-alike of each, and the near miss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.judged import check_verdict, only_wrapper
from tests.unit.core.wrappers.inline import UNITS, Tensor, Writer, X
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.recognise_layer_graph import recognise
from unnest.core.wrappers.search.operation_slice_towers import find_towers, join_operands

Spelling = Callable[[Writer], Tensor]
DOES_NOT_GIVE_BACK = "{} does not give back the rows of x, each once and in order"
IN_ANOTHER_ORDER = "{} gives all rows of x, in another order"


def _end_to_end(w: Writer) -> Tensor:
    return w.join(w.dense(*w.split()))


def _split_of_split(w: Writer) -> Tensor:
    return w.call("concat", w.dense(*(q for half in w.split() for q in w.split(of=half))), axis=0)


def _slice_of_slice(w: Writer) -> Tensor:
    half = w.bound(1, 2)
    rest = w.rows(half)
    middle = w.call("compat.v1.floor_div", w.size(rest), y=2, name=None)
    return w.join(
        w.dense(w.rows(None, half), w.rows(None, middle, of=rest), w.rows(middle, of=rest))
    )


def _merge_of_merges(w: Writer) -> Tensor:
    a, b, c = w.dense(*w.split(3))
    return w.call("concat", [a, w.call("concat", [b, c], axis=0)], axis=0)


def _strided(w: Writer) -> Tensor:
    stacked = w.call("stack", w.dense(w.rows(0, None, 2), w.rows(1, None, 2)), axis=1)
    return w.call("reshape", stacked, shape=[-1, UNITS])


def _unstacked(w: Writer) -> Tensor:
    name, rank, _ = w.call("unstack", w.call("reshape", w.rows(), shape=[2, -1, 4]), num=2, axis=0)
    return w.join(w.dense([name, rank, 0], [name, rank, 1]))


def _ensured(w: Writer, first: int = 0) -> Tensor:
    """Halves whose width is checked, the half of number `first` first."""
    halves = [w.call("ensure_shape", part, shape=[None, 4]) for part in w.split()]
    return w.join(w.dense(*halves[first:], *halves[:first]))


def _put_together(w: Writer, first: int = 0) -> Tensor:
    """Each part is made of two slices, that of number `first` first."""
    quarters = w.split(4)
    pairs = (quarters[:2], quarters[2:])
    parts = [w.call("concat", [*pair[first:], *pair[:first]], axis=0) for pair in pairs]
    return w.join(w.dense(*parts))


def _reshaped_and_squeezed(w: Writer) -> Tensor:
    shape = [2, w.call("compat.v1.floor_div", w.size(), y=2, name=None), 4]
    blocks = w.call("reshape", w.rows(), shape=shape)
    return w.join(
        w.dense(*(w.call("squeeze", w.rows(i, i + 1, of=blocks), axis=[0]) for i in range(2)))
    )


def _gathered_back(w: Writer) -> Tensor:
    everything = w.call("range", w.size())
    joined = w.join(w.dense(w.rows(0, None, 2), w.rows(1, None, 2)))
    order = w.call("concat", [w.rows(i, None, 2, of=everything) for i in (0, 1)], axis=0)
    back = w.call("math.invert_permutation", order, name=None)
    return w.call("compat.v1.gather", joined, indices=back, axis=None, batch_dims=0)


def _scattered(w: Writer, first: int = 0) -> Tensor:
    places = [w.call("range", i, limit=w.size(), delta=2) for i in (0, 1)]
    parts = w.dense(
        *(
            w.call("compat.v1.gather", ["x", 0, 0], indices=p, axis=None, batch_dims=0)
            for p in places
        )
    )
    added = [
        w.call(
            "scatter_nd",
            w.call("expand_dims", places[(first + i) % 2], axis=1),
            updates=part,
            shape=[12, UNITS],
        )
        for i, part in enumerate(parts)
    ]
    return w.call("__operators__.add", added[0], y=added[1], name=None)


def _stitched(w: Writer, first: int = 0) -> Tensor:
    owners = w.call("math.floormod", w.call("range", w.size()), y=2, name=None)
    name, rank, _ = w.call(
        "dynamic_partition", ["x", 0, 0], partitions=owners, num_partitions=2, name=None
    )
    parts = w.dense([name, rank, 0], [name, rank, 1])
    places = w.call(
        "dynamic_partition",
        w.call("range", w.size()),
        partitions=owners,
        num_partitions=2,
        name=None,
    )
    ordered = [[places[0], places[1], (first + i) % 2] for i in (0, 1)]
    return w.call("dynamic_stitch", ordered, data=parts, name=None)


def _masked(w: Writer) -> Tensor:
    low = w.call("math.less", w.call("range", w.size()), y=w.bound(1, 2), name=None)
    high = w.call("math.logical_not", low, name=None)
    masked = [
        w.call("compat.v1.boolean_mask", ["x", 0, 0], mask=m, name="boolean_mask", axis=None)
        for m in (low, high)
    ]
    return w.join(w.dense(*masked))


def _in_shares(w: Writer) -> Tensor:
    at = w.bound(3, 5)
    return w.join(w.dense(w.rows(None, at), w.rows(at)))


def _by_bounds(w: Writer) -> Tensor:
    """TensorFlow's function for what `x[a:b]` does."""
    ends = [0, w.bound(1, 2), w.size()]
    parts = [
        w.call("strided_slice", ["x", 0, 0], begin=[ends[i]], end=[ends[i + 1]]) for i in (0, 1)
    ]
    return w.join(w.dense(*parts))


def _looked_up(w: Writer) -> Tensor:
    numbers = w.call("range", w.size())
    places = [w.rows(None, w.bound(1, 2), of=numbers), w.rows(w.bound(1, 2), of=numbers)]
    lookup = "compat.v1.nn.embedding_lookup"
    taken = [
        w.call(lookup, ["x", 0, 0], ids=p, partition_strategy="div", max_norm=None) for p in places
    ]
    return w.join(w.dense(*taken))


def _picked(w: Writer) -> Tensor:
    numbers = w.call("range", w.size())
    places = [w.rows(None, w.bound(1, 2), of=numbers), w.rows(w.bound(1, 2), of=numbers)]
    columns = [w.call("expand_dims", p, axis=1) for p in places]
    return w.join(
        w.dense(*(w.call("gather_nd", ["x", 0, 0], indices=c, batch_dims=0) for c in columns))
    )


def _within_zeros(w: Writer, first: int = 0) -> Tensor:
    """Each tower's rows within as many zeros as the others have rows."""
    halves = [w.rows(None, w.bound(1, 2)), w.rows(w.bound(1, 2))]
    parts, sizes = w.dense(*halves), [w.size(half) for half in halves]
    around = [[0, sizes[1]], [sizes[0], 0]]
    padded = [
        w.call(
            "pad",
            part,
            paddings=[around[(first + i) % 2], [0, 0]],
            mode="CONSTANT",
            constant_values=0,
        )
        for i, part in enumerate(parts)
    ]
    return w.call("__operators__.add", padded[0], y=padded[1], name=None)


def _rolled_back(w: Writer) -> Tensor:
    second, first = w.dense(w.rows(w.bound(1, 2)), w.rows(None, w.bound(1, 2)))
    return w.call("roll", w.call("concat", [second, first], axis=0), shift=w.bound(1, 2), axis=0)


def _swapped_and_back(w: Writer, cut: int = 0) -> Tensor:
    """The halves in another order, and out of that in their own."""
    halves = w.dense(w.rows(w.bound(1, 2)), w.rows(None, w.bound(1, 2)))
    swapped = w.call("concat", halves, axis=0)
    at = w.size(halves[cut])
    return w.call("concat", [w.rows(at, of=swapped), w.rows(None, at, of=swapped)], axis=0)


def _turned(w: Writer, perm: tuple[int, int] = (1, 0)) -> Tensor:
    """Columns side by side, turned again."""
    parts = [w.call("transpose", part, perm=[1, 0]) for part in w.dense(*w.split())]
    return w.call("transpose", w.call("concat", parts, axis=1), perm=[*perm])


def _turned_by_matrices(w: Writer, *, is_turned_back: bool = True) -> Tensor:
    """The same by a function that names no axes."""
    parts = [w.call("linalg.matrix_transpose", part) for part in w.dense(*w.split())]
    joined = w.call("concat", parts, axis=1)
    return w.call("linalg.matrix_transpose", joined) if is_turned_back else joined


def _side_by_side(w: Writer) -> Tensor:
    """Along the last axis but one of tensors whose shapes the file does not tell."""
    parts = w.dense(w.rows(None, w.bound(1, 2)), w.rows(w.bound(1, 2)))
    return w.call("concat", parts, axis=-2)


def _shifted(w: Writer, other: int = 1) -> Tensor:
    ends = [w.call("bitwise.right_shift", w.size(), y=bits, name=None) for bits in (1, other)]
    return w.join(w.dense(w.rows(None, ends[0]), w.rows(ends[1])))


def _at_equal_distances(w: Writer, before: int = 0) -> Tensor:
    rows = w.call("cast", w.size(), dtype="float32")
    numbers = w.call("cast", w.call("linspace", 0.0, stop=rows, num=4, axis=0), dtype="int32")
    ends = [w.call("__operators__.getitem", numbers, slice_spec=k) for k in range(4)]
    return w.join(w.dense(*(w.rows(ends[max(k - before, 0)], ends[k + 1]) for k in range(3))))


SPELLINGS: dict[str, tuple[Spelling, int]] = {
    "end to end": (_end_to_end, 2), "split of split": (_split_of_split, 4), "slice of slice": (_slice_of_slice, 3),
    "merge of merges": (_merge_of_merges, 3), "strided": (_strided, 2), "unstacked": (_unstacked, 2),
    "ensured": (_ensured, 2), "put together": (_put_together, 2),
    "blocks, squeezed": (_reshaped_and_squeezed, 2),
    "gathered back": (_gathered_back, 2), "stitched": (_stitched, 2), "masked": (_masked, 2),
    "in shares": (_in_shares, 2), "by bounds": (_by_bounds, 2), "looked up": (_looked_up, 2), "picked": (_picked, 2),
    "within zeros": (_within_zeros, 2), "rolled back": (_rolled_back, 2), "swapped and back": (_swapped_and_back, 2),
    "turned": (_turned, 2), "turned by matrices": (_turned_by_matrices, 2), "side by side": (_side_by_side, 2),
    "shifted": (_shifted, 2),
    "at equal distances": (_at_equal_distances, 3),
}  # fmt: skip


@pytest.mark.parametrize(("spelling", "towers"), SPELLINGS.values(), ids=SPELLINGS)
def test_one_definition(spelling: Spelling, towers: int) -> None:
    """However rows are cut and joined: the first tower reads the source, and gives what is merged."""
    writer = Writer()
    root = spelling(writer)
    found = only_wrapper(recognise(writer.graph(root)))
    assert found.inline is not None
    assert (len(found.towers), found.template, found.confidence) == (towers, "dense", "proven")
    assert found.inline.calls == {CallId("dense", 0)}
    assert set(found.inline.sources_by_slice.values()) == {*found.sources}
    assert found.ends == {Ref(*root): Ref("dense", 0, 0)}


@pytest.mark.parametrize(("axis", "joins"), [(-2, True), (-1, False), (-3, False)])
def test_an_axis_from_behind_may_be_the_batch(axis: int, joins: bool) -> None:
    w = Writer()
    parts = w.dense(["x", 0, 0], ["x", 0, 0])
    root = w.call("concat", parts, axis=axis)
    joined = join_operands(LayerTensors(w.graph(root)), Ref(*root))
    assert joined == ([Ref(*part) for part in parts] if joins else [])


def test_a_batch_of_fixed_size() -> None:
    """Rows scattered over a tensor of twelve rows need a batch of twelve."""
    writer = Writer(rows=12)
    found = only_wrapper(recognise(writer.graph(_scattered(writer))))
    assert found.sources == (Ref("x", 0, 0),)
    writer = Writer(rows=14)
    check_verdict(recognise(writer.graph(_scattered(writer))), "clean")


def _swapped(w: Writer) -> Tensor:
    return w.join([*reversed(w.dense(*w.split()))])


def _one_half_twice(w: Writer) -> Tensor:
    half = w.bound(1, 2)
    return w.join(w.dense(w.rows(None, half), w.rows(None, half)))


def _overlapping(w: Writer) -> Tensor:
    return w.join(w.dense(w.rows(None, w.bound(2, 3)), w.rows(w.bound(1, 3))))


def _two_thirds(w: Writer) -> Tensor:
    return w.join(w.dense(*w.split(3)[:2]))


def _dealt_end_to_end(w: Writer) -> Tensor:
    return w.join(w.dense(w.rows(0, None, 2), w.rows(1, None, 2)))


def _stacked_in_blocks(w: Writer) -> Tensor:
    return w.call("reshape", w.call("stack", w.dense(*w.split()), axis=1), shape=[-1, UNITS])


def _halved_rows(w: Writer) -> Tensor:
    return w.call("reshape", w.call("stack", w.dense(*w.split(), units=4), axis=1), shape=[-1, 2])


def _added(w: Writer) -> Tensor:
    return w.layer("Add", "joined", {}, [w.dense(*w.split())])[0]


def _different_layers(w: Writer) -> Tensor:
    a, b = w.split()
    one, other = (w.layer("ReLU", f"act_{i}", {}, [part])[0] for i, part in enumerate((a, b)))
    return w.join([*w.dense(one), *w.dense(other, name="dense_1")])


def _nested(w: Writer, *parts: Tensor) -> list[Tensor]:
    """One model, called on every part."""
    inner = Writer()
    config = inner.model(*inner.dense(X))["config"]
    return w.layer("Functional", "model", config, parts)


def _cast(w: Writer, part: Tensor, dtype: str) -> Tensor:
    """To a type and back."""
    return w.call("cast", w.call("cast", part, dtype=dtype, name=None), dtype="float32", name=None)


def _one_cast_behind(w: Writer) -> Tensor:
    a, b = _nested(w, *w.split())
    return w.join([a, _cast(w, b, "int32")])


def _one_cast_before(w: Writer) -> Tensor:
    a, b = w.split()
    return w.join(_nested(w, a, _cast(w, b, "float16")))


def _cast_otherwise(w: Writer) -> Tensor:
    a, b = _nested(w, *w.split())
    return w.join([_cast(w, a, "uint8"), _cast(w, b, "bool")])


def _one_rectified(w: Writer) -> Tensor:
    a, b = w.dense(*w.split())
    return w.join([w.call("nn.relu", a, name=None), w.call("nn.tanh", b, name=None)])


LOOK_ALIKES: dict[str, tuple[Spelling, str | None]] = {
    "ensured halves swapped": (lambda w: _ensured(w, 1), IN_ANOTHER_ORDER.format("joined")),
    "parts put together the other way round": (
        lambda w: _put_together(w, 1),
        IN_ANOTHER_ORDER.format("joined"),
    ),
    "halves swapped": (_swapped, IN_ANOTHER_ORDER.format("joined")),
    "one half twice": (_one_half_twice, "every tower reads the whole of x"),
    "overlapping": (_overlapping, DOES_NOT_GIVE_BACK.format("joined")),
    "two thirds": (_two_thirds, DOES_NOT_GIVE_BACK.format("joined")),
    "dealt out, joined end to end": (_dealt_end_to_end, IN_ANOTHER_ORDER.format("joined")),
    "blocks, dealt back": (_stacked_in_blocks, IN_ANOTHER_ORDER.format("op_4")),
    "rows cut in two": (_halved_rows, DOES_NOT_GIVE_BACK.format("op_4")),
    "within zeros, the other way round": (
        lambda w: _within_zeros(w, 1),
        DOES_NOT_GIVE_BACK.format("op_18"),
    ),
    "stitched to the other": (lambda w: _stitched(w, 1), IN_ANOTHER_ORDER.format("op_11")),
    "swapped, and cut elsewhere": (
        lambda w: _swapped_and_back(w, 1),
        IN_ANOTHER_ORDER.format("op_17"),
    ),
    "columns side by side": (lambda w: _turned(w, (0, 1)), DOES_NOT_GIVE_BACK.format("op_6")),
    "columns of matrices side by side": (
        lambda w: _turned_by_matrices(w, is_turned_back=False),
        DOES_NOT_GIVE_BACK.format("op_5"),
    ),
    "shifted by other numbers": (lambda w: _shifted(w, 2), DOES_NOT_GIVE_BACK.format("joined")),
    "a distance twice": (lambda w: _at_equal_distances(w, 1), DOES_NOT_GIVE_BACK.format("joined")),
    "weights of their own": (_different_layers, None),
    "one tower does something else": (_one_rectified, None),
    "one tower's outputs are cast": (_one_cast_behind, None),
    "one tower's inputs are cast": (_one_cast_before, None),
    "the towers are cast to different types": (_cast_otherwise, None),
}


@pytest.mark.parametrize(("look_alike", "reason"), LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_look_alikes(look_alike: Spelling, reason: str | None) -> None:
    """The nearest case of each spelling in which rows do not come back, with the reason."""
    writer = Writer()
    root = look_alike(writer)
    seen = recognise(writer.graph(root))
    assert seen.wrappers == ()
    assert (
        reason is None or {miss.layer: miss.reason for miss in seen.near_misses}[root[0]] == reason
    )


@pytest.mark.parametrize("is_before", [False, True], ids=["behind", "before"])
def test_casts_of_every_tower_are_its_own(is_before: bool) -> None:
    """They change values: what is left of the wrapper casts as its towers did."""
    w = Writer()
    if is_before:
        ends = _nested(w, *(_cast(w, part, "int32") for part in w.split()))
    else:
        ends = [_cast(w, part, "int32") for part in _nested(w, *w.split())]
    found = only_wrapper(recognise(w.graph(w.join(ends))))
    assert found.inline is not None
    assert {call.layer for call in found.inline.calls} == {
        "model",
        *(["op_2", "op_3"] if is_before else ["op_3", "op_4"]),
    }


def test_gradients_that_stop_before_every_tower_stop_in_the_result() -> None:
    """Without it the layers before the slices would be trained, which they were not."""
    w = Writer()
    ends = _nested(w, *(w.call("stop_gradient", part) for part in w.split()))
    found = only_wrapper(recognise(w.graph(w.join(ends))))
    assert found.inline is not None
    assert {call.layer for call in found.inline.calls} == {"model", "op_2"}


def test_a_sum_is_no_join() -> None:
    """A sum of the towers gives half of the rows."""
    writer = Writer()
    assert find_towers(LayerTensors(writer.graph(_added(writer))))[0] == []


def test_one_tower_that_is_read() -> None:
    """A tower that something else reads cannot be removed."""
    writer = Writer()
    parts = writer.dense(*writer.split())
    seen = recognise(writer.graph(writer.join(parts), parts[0]))
    assert seen.wrappers == ()
    assert [miss.reason for miss in seen.near_misses] == [
        "dense, a part of a tower, is read by other layers too"
    ]


def test_a_slice_that_is_read() -> None:
    """The same of a slice."""
    writer = Writer()
    half = writer.bound(1, 2)
    first = writer.rows(None, half)
    joined = writer.join(writer.dense(first, writer.rows(half)))
    seen = recognise(writer.graph(joined, writer.call("nn.relu", first, name=None)))
    assert [miss.reason for miss in seen.near_misses] == [
        f"{first[0]}, a slice, is read by other layers too"
    ]


def test_a_join_of_some_towers_that_is_read() -> None:
    """The same of what puts only some of the towers together: that part of the batch would be gone."""
    writer = Writer()
    a, b, c = writer.dense(*writer.split(3))
    some = writer.call("concat", [b, c], axis=0)
    joined = writer.call("concat", [a, some], axis=0)
    only_wrapper(recognise(writer.graph(joined)))
    seen = recognise(writer.graph(joined, writer.call("nn.relu", some, name=None)))
    assert seen.wrappers == ()
    assert f"{some[0]}, a join of some towers, is read by other layers too" in [
        miss.reason for miss in seen.near_misses
    ]


NORMALIZES = {
    f"{n}_initializer": "zeros" for n in ("gamma", "beta", "moving_mean", "moving_variance")
}
GHOST = {**NORMALIZES, "gamma_regularizer": None, "beta_regularizer": None}


@pytest.mark.parametrize(
    ("class_name", "config"), [("Dropout", {"rate": 0.5}), ("BatchNormalization", GHOST)]
)
def test_parts_on_purpose(class_name: str, config: dict[str, Any]) -> None:
    """Towers that learn nothing row by row: statistics of parts of a batch are what is wanted."""
    writer = Writer()
    seen = recognise(
        writer.graph(writer.join(writer.layer(class_name, "norm", config, writer.split())))
    )
    assert seen.wrappers == ()
    (miss,) = seen.near_misses
    assert (
        miss.reason == "the towers that end in norm hold no weights, except those of normalizations"
    )


def test_copies_of_what_has_no_weights() -> None:
    """Every tower may have an operation and a Keras layer of its own, equal but for the name."""
    writer = Writer()
    parts = [writer.call("nn.relu", part, name=None) for part in writer.dense(*writer.split())]
    parts = [
        writer.layer("Dropout", f"drop_{i}", {"rate": 0.5}, [part])[0]
        for i, part in enumerate(parts)
    ]
    found = only_wrapper(recognise(writer.graph(writer.join(parts))))
    assert {at.layer for at in found.first} == {"dense", "op_3", "drop_0"}


def _mean(w: Writer, losses: list[Tensor]) -> Tensor:
    return w.call("math.reduce_mean", w.call("stack", losses, axis=0), axis=None)


def _sum_divided(w: Writer, losses: list[Tensor]) -> Tensor:
    return w.call("math.truediv", w.call("math.add_n", losses), y=2.0, name=None)


def _sum(w: Writer, losses: list[Tensor]) -> Tensor:
    return w.call("math.add_n", losses)


@pytest.mark.parametrize(("averaged", "outputs"), [(_mean, 2), (_sum_divided, 2), (_sum, 0)])
def test_losses_are_averaged(
    averaged: Callable[[Writer, list[Tensor]], Tensor], outputs: int
) -> None:
    """A mean of numbers beside the rows is an output of the towers; a sum is not, and reads them."""
    writer = Writer()
    rows = writer.dense(*writer.split())
    losses = [writer.call("math.reduce_mean", part, axis=None) for part in rows]
    root = averaged(writer, losses)
    found = recognise(writer.graph(writer.join(rows), root)).wrappers
    assert [len(wrapper.merges) for wrapper in found] == ([outputs] if outputs else [])
    assert not found or found[0].ends[Ref(*root)] == Ref(*losses[0])


def test_means_of_rows_are_no_losses() -> None:
    """The towers' rows, averaged beside the rows: that is another output, for which the towers are needed."""
    writer = Writer()
    rows = writer.dense(*writer.split())
    check_verdict(recognise(writer.graph(writer.join(rows), _sum_divided(writer, rows))), "clean")


@pytest.mark.parametrize(("rows", "wrappers"), [(4, 0), (-1, 1)])
def test_towers_that_are_built_for_their_share(rows: int, wrappers: int) -> None:
    """A template that reshapes to the rows of one tower takes no whole batch."""
    writer = Writer(rows=8)
    parts = [
        writer.call("reshape", part, shape=[rows, UNITS]) for part in writer.dense(*writer.split())
    ]
    seen = recognise(writer.graph(writer.join(writer.dense(*parts, name="scores"))))
    assert len(seen.wrappers) == wrappers
    reason = "op_3 is built for the number of rows of one tower, and takes no other"
    assert [miss.reason for miss in seen.near_misses] == [reason] * (1 - wrappers)


def shaped(w: Writer) -> Tensor:
    """As pictures come from 0 to 255."""
    return w.call("math.subtract", w.call("math.truediv", X, y=127.5, name=None), y=1.0, name=None)


def standardized(w: Writer) -> Tensor:
    mean = w.call("math.reduce_mean", X, axis=-1, keepdims=True)
    return w.call("math.subtract", X, y=mean, name=None)


def centered(w: Writer) -> Tensor:
    """By one number of the whole batch, which was taken before it is cut."""
    return w.call("math.subtract", X, y=w.call("math.reduce_mean", X), name=None)


def masked(w: Writer) -> Tensor:
    return w.call("where", w.call("math.greater", X, y=0.5, name=None), x=X, y=0.0)


def rolled(w: Writer) -> Tensor:
    """Rows in another order, which all are still there: the slices' bounds are of the rows before."""
    return w.call("roll", X, shift=1, axis=0)


def turned_round(w: Writer) -> Tensor:
    return w.call("reverse", X, axis=[0])


@pytest.mark.parametrize("before", [shaped, standardized, centered, masked, rolled, turned_round])
@pytest.mark.parametrize("by_split", [True, False])
def test_what_is_computed_before_the_cut_has_rows(
    before: Callable[[Writer], Tensor], by_split: bool
) -> None:
    w = Writer()
    source = before(w)
    half = w.bound(1, 2)
    parts = (
        w.split(of=source)
        if by_split
        else [w.rows(stop=half, of=source), w.rows(start=half, of=source)]
    )
    found = only_wrapper(recognise(w.graph(w.join(w.dense(*parts)))))
    assert [ref.layer for ref in found.sources] == [source[0]]
