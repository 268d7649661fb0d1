"""The rows that towers read, where their slices are made of operations: in order, or something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.judged import check_verdict, only_wrapper
from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.model import Ref
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.row_trial_of_slices_and_joins import try_rows
from unnest.core.wrappers.search.batch_trials import RowOrder, TrialAnswer

Layer = dict[str, Any]
Tensor = list[Any]
Shape = tuple[int | None, ...]

SHAPE: Shape = (None, 6, 4)
X: Tensor = ["x", 0, 0]


class Writer:
    """Layers of one model, as their writer stores them."""

    def __init__(self, shape: Shape = SHAPE) -> None:
        self.shape = shape
        entry = {
            "class_name": "InputLayer",
            "name": "x",
            "config": {"name": "x", "batch_input_shape": list(shape)},
        }
        self.layers: list[Layer] = [{**entry, "inbound_nodes": []}]

    def add(self, class_name: str, config: Mapping[str, Any], node: Any) -> Tensor:
        """One more layer with one call; its first output."""
        name = f"layer_{len(self.layers)}"
        own = {"name": name, **config}
        self.layers.append(
            {"class_name": class_name, "name": name, "config": own, "inbound_nodes": [node]}
        )
        return [name, 0, 0]

    def model(self, inputs: Sequence[Tensor], merge: Mapping[str, Any]) -> Layer:
        """The wrapper: a template called on each of these, and a merge."""
        calls = [[[*one, {}]] for one in inputs]
        self.layers.append(
            {"class_name": "Functional", "name": "net", "config": NET, "inbound_nodes": calls}
        )
        self.layers.append(
            {**merge, "inbound_nodes": [[["net", 1 + i, 0, {}] for i in range(len(inputs))]]}
        )
        ends = {"input_layers": [X], "output_layers": [["merge", 0, 0]]}
        return {
            "class_name": "Functional",
            "config": {"name": "outer", "layers": self.layers, **ends},
        }


NET = {
    "name": "net",
    "layers": [
        {
            "class_name": "InputLayer",
            "name": "in",
            "config": {"batch_input_shape": [None, 6, 4]},
            "inbound_nodes": [],
        },
        {
            "class_name": "Flatten",
            "name": "out",
            "config": {"trainable": True},
            "inbound_nodes": [[["in", 0, 0, {}]]],
        },
    ],
    "input_layers": [["in", 0, 0]],
    "output_layers": [["out", 0, 0]],
}
CONCATENATE = {
    "class_name": "Concatenate",
    "name": "merge",
    "config": {"axis": 0, "trainable": True},
}


class Functions(Writer):
    """TFOpLambda, SlicingOpLambda."""

    def call(self, function: str, first: Any, **others: Any) -> Tensor:
        """A function called on a tensor, a constant or a list of tensors."""
        config = {"trainable": True, "dtype": "float32", "function": function}
        if isinstance(first, list) and isinstance(first[0], list):
            return self.add("TFOpLambda", config, [[*one, others] for one in first])
        node = first if isinstance(first, list) else ["_CONSTANT_VALUE", -1, first]
        return self.add("TFOpLambda", config, [*node, others])

    def size(self) -> Tensor:
        """The number of rows."""
        shape = self.call("compat.v1.shape", X, name=None, out_type="int32")
        return self.call("__operators__.getitem", shape, slice_spec=0)

    def bound(self, part: int, total: int) -> Tensor:
        """Return the row at which so many shares of the batch end."""
        product = self.call("math.multiply", self.size(), y=part, name=None)
        return self.call("compat.v1.floor_div", product, y=total, name=None)

    def rows(self, start: Any, stop: Any, step: Any = None) -> Tensor:
        """x[start:stop:step]."""
        return self.call(
            "__operators__.getitem", X, slice_spec={"start": start, "stop": stop, "step": step}
        )


class Nodes(Writer):
    """TensorFlowOpLayer."""

    def op(self, op: str, inputs: Sequence[Any], **attributes: int) -> Tensor:
        """An operation on tensors and constants."""
        constants = {str(i): v for i, v in enumerate(inputs) if not _is_tensor(v)}
        attrs = {key: {"i": str(value)} for key, value in attributes.items()}
        node = {
            "name": op,
            "op": op,
            "input": [f"in{i}" for i in range(len(inputs))],
            "attr": attrs,
        }
        refs = [[*v, {}] for v in inputs if _is_tensor(v)]
        return self.add(
            "TensorFlowOpLayer", {"trainable": True, "node_def": node, "constants": constants}, refs
        )

    def bound(self, part: int, total: int) -> Tensor:
        """Return the row at which so many shares of the batch end."""
        size = self.op("StridedSlice", [self.op("Shape", [X]), [0], [1], [1]], shrink_axis_mask=1)
        return self.op("FloorDiv", [self.op("Mul", [size, part]), total])

    def rows(self, start: Tensor | None, stop: Tensor | None) -> Tensor:
        """x[start:stop], whole ends by mask."""
        ends = [
            [0] if end is None else self.op("Pack", [end], N=1, axis=0) for end in (start, stop)
        ]
        return self.op(
            "StridedSlice",
            [X, *ends, [1]],
            begin_mask=int(start is None),
            end_mask=int(stop is None),
        )


class Keras3(Writer):
    """Operations with args and kwargs."""

    def op(self, class_name: str, *args: Any, **config: Any) -> Tensor:
        """An operation with arguments in its call and in its config."""
        return self.add(
            class_name, config, {"args": [_keras_3(a, self.shape) for a in args], "kwargs": {}}
        )


def _is_tensor(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], str)


def _keras_3(value: Any, shape: Shape) -> Any:
    if _is_tensor(value):
        config = {"shape": list(shape), "dtype": "float32", "keras_history": value}
        return {"class_name": "__keras_tensor__", "config": config}
    if isinstance(value, slice):
        return {
            "class_name": "__slice__",
            "config": {"start": value.start, "stop": value.stop, "step": value.step},
        }
    if value is ...:
        return {"class_name": "__ellipsis__", "config": {}}
    return [_keras_3(part, shape) for part in value] if isinstance(value, (list, tuple)) else value


def graph_of(writer: Writer, inputs: Sequence[Tensor]) -> Graph:
    """The layer graph of a wrapper around these."""
    return read(writer.model(inputs, CONCATENATE))


def answer(writer: Writer, inputs: Sequence[Tensor]) -> RowOrder:
    """Return the rows' order for the model as stored; without a shape that, or unknown."""
    found = taken(graph_of(writer, inputs), inputs).rows
    del writer.layers[-2:]
    shaped, writer.layers[0]["config"] = writer.layers[0]["config"], {"name": "x"}
    unknown_shape = taken(graph_of(writer, inputs), inputs, shape=writer.shape).rows
    writer.layers[0]["config"] = shaped
    del writer.layers[-2:]
    assert writer.shape[0] is not None or unknown_shape in (found, RowOrder.UNKNOWN)
    return found


def taken(graph: Graph, *inputs: Sequence[Tensor], shape: Shape = (None, None)) -> TrialAnswer:
    """Return the rows that the towers read of the one input."""
    x = Ref("x", 0, 0)
    return try_rows(graph, {tuple(Ref(*t) for t in i): x for i in inputs}, {x: shape})


def part(tensor: Tensor, number: int) -> Tensor:
    """Another output of the same call."""
    return [tensor[0], 0, number]


PARTS = st.lists(st.integers(1, 5), min_size=1, max_size=6)
QUICK = settings(max_examples=12, deadline=None)


def edges(parts: Sequence[int]) -> list[int]:
    """Return the rows at which the shares end, from 0 on."""
    return [0, *accumulate(parts)]


def by_functions(parts: Sequence[int]) -> tuple[Writer, list[Tensor]]:
    """x[n * a // t : n * b // t]."""
    w, ends = Functions(), edges(parts)
    return w, [w.rows(w.bound(a, ends[-1]), w.bound(b, ends[-1])) for a, b in pairwise(ends)]


def by_gather(parts: Sequence[int]) -> tuple[Writer, list[Tensor]]:
    """gather(x, range(a, b))."""
    w, ends = Functions(), edges(parts)
    ranges = [
        w.call("range", w.bound(a, ends[-1]), limit=w.bound(b, ends[-1])) for a, b in pairwise(ends)
    ]
    return w, [
        w.call("compat.v1.gather", X, indices=r, axis=None, batch_dims=0, name=None) for r in ranges
    ]


def by_masks(parts: Sequence[int]) -> tuple[Writer, list[Tensor]]:
    """boolean_mask(x, a <= range(n) and range(n) < b)."""
    w, ends = Functions(), edges(parts)
    row = w.call("range", w.size())
    found = []
    for a, b in pairwise(ends):
        lower = w.call("math.greater_equal", row, y=w.bound(a, ends[-1]))
        upper = w.call("math.less", row, y=w.bound(b, ends[-1]))
        mask = w.call("math.logical_and", lower, y=upper, name=None)
        found.append(w.call("compat.v1.boolean_mask", X, mask=mask, name="boolean_mask", axis=None))
    return w, found


def by_sizes(parts: Sequence[int]) -> tuple[Writer, list[Tensor]]:
    """split(x, [sizes, -1])."""
    w, ends = Functions(), edges(parts)
    sizes = [
        w.call("math.subtract", w.bound(b, ends[-1]), y=w.bound(a, ends[-1]))
        for a, b in pairwise(ends)
    ]
    split = w.call("split", X, num_or_size_splits=[*sizes[:-1], -1], axis=0)
    return w, [part(split, i) for i in range(len(parts))]


def by_nodes(parts: Sequence[int]) -> tuple[Writer, list[Tensor]]:
    """The same bounds, with the first and last end left open."""
    w, ends = Nodes(), edges(parts)
    bounds = [None, *(w.bound(a, ends[-1]) for a in ends[1:-1]), None]
    return w, [w.rows(a, b) for a, b in pairwise(bounds)]


def by_node_slices(parts: Sequence[int]) -> tuple[Writer, list[Tensor]]:
    """Slice(x, [a, 0, 0], [b - a, -1, -1])."""
    w, ends = Nodes(), edges(parts)
    found = []
    for a, b in pairwise(ends):
        start, stop = w.bound(a, ends[-1]), w.bound(b, ends[-1])
        begin = w.op("Pack", [start, 0, 0], axis=0, N=3)
        size = w.op("Pack", [w.op("Sub", [stop, start]), -1, -1], axis=0, N=3)
        found.append(w.op("Slice", [X, begin, size]))
    return w, found


def by_subscripts(parts: Sequence[int]) -> tuple[Writer, list[Tensor]]:
    """x[a:b, ...] of a fixed batch."""
    ends = edges(parts)
    w = Keras3((ends[-1], 6, 4))
    return w, [w.op("GetItem", X, [slice(a, b), ...]) for a, b in pairwise(ends)]


def by_places(parts: Sequence[int]) -> tuple[Writer, list[Tensor]]:
    """Keras 3's split at places, of a fixed batch."""
    ends = edges(parts)
    w = Keras3((ends[-1], 6, 4))
    split = w.op("Split", X, indices_or_sections=ends[1:-1], axis=0)
    return w, [part(split, i) for i in range(len(parts))]


def by_keras_3_slices(parts: Sequence[int]) -> tuple[Writer, list[Tensor]]:
    """ops.slice(x, [a, 0, 0], [b - a, 6, 4]) of a fixed batch."""
    ends = edges(parts)
    w = Keras3((ends[-1], 6, 4))
    return w, [w.op("Slice", X, [a, 0, 0], shape=[b - a, 6, 4]) for a, b in pairwise(ends)]


Recipe = Callable[[Sequence[int]], tuple[Writer, list[Tensor]]]
SHARES: list[Recipe] = [
    by_functions, by_gather, by_masks, by_sizes, by_nodes, by_node_slices,
    by_subscripts, by_places, by_keras_3_slices,
]  # fmt: skip


@pytest.mark.parametrize("recipe", SHARES)
@QUICK
@given(PARTS)
def test_shares_of_the_batch_are_consecutive(recipe: Recipe, parts: list[int]) -> None:
    """However they are spelled, and however large they are."""
    assert answer(*recipe(parts)) is RowOrder.CONSECUTIVE


@pytest.mark.parametrize("recipe", SHARES)
@QUICK
@given(PARTS, st.data())
def test_shares_in_another_order_are_not(
    recipe: Recipe, parts: list[int], data: st.DataObject
) -> None:
    """Every row is read, but the towers' outputs come out in another order."""
    writer, inputs = recipe(parts)
    order = data.draw(st.permutations(range(len(parts))))
    assume(order != sorted(order))
    assert answer(writer, [inputs[i] for i in order]) is RowOrder.DEALT


@pytest.mark.parametrize("recipe", SHARES)
@QUICK
@given(PARTS, st.data())
def test_a_share_twice_or_missing_is_not(
    recipe: Recipe, parts: list[int], data: st.DataObject
) -> None:
    """A first share that is missing, or one that two towers read."""
    writer, inputs = recipe(parts)
    twice = data.draw(st.integers(0, len(parts) - 1))
    assert answer(writer, [*inputs[: twice + 1], *inputs[twice:]]) is RowOrder.NOT
    if len(parts) > 1:
        assert answer(recipe(parts)[0], inputs[1:]) is RowOrder.NOT


@QUICK
@given(st.integers(2, 6), st.integers(1, 5), st.integers(1, 5))
def test_bounds_that_overlap_or_leave_gaps_are_not(total: int, stop: int, start: int) -> None:
    """x[: n * a // t], x[n * b // t :]."""
    w = Functions()
    inputs = [w.rows(None, w.bound(stop, total)), w.rows(w.bound(start, total), None)]
    assume(max(start, stop) < total)
    assert answer(w, inputs) is (RowOrder.CONSECUTIVE if start == stop else RowOrder.NOT)


def _dropping(k: int) -> tuple[Writer, list[Tensor]]:
    w = Functions()
    share = w.call("compat.v1.floor_div", w.size(), y=k)
    ends = [w.call("math.multiply", i, y=share) for i in range(k + 1)]
    return w, [w.rows(a, b) for a, b in pairwise(ends)]


@pytest.mark.parametrize("k", [2, 3, 7, 11, 16])
def test_rows_that_are_left_over_may_be_dropped(k: int) -> None:
    """N // k rows for every tower; it is said that there may be more."""
    writer, inputs = _dropping(k)
    found = taken(graph_of(writer, inputs), inputs)
    assert found.rows is RowOrder.CONSECUTIVE
    assert "does not divide" in str(found.sentence)


def _halves_of_a_float() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    share = w.call("math.multiply", w.call("cast", w.size(), dtype="float32"), y=0.3)
    bound = w.call("cast", share, dtype="int32")
    return w, [w.rows(None, bound), w.rows(bound, None)]


def _sections() -> tuple[Writer, list[Tensor]]:
    w = Nodes()
    split = w.op("Split", [0, X], num_split=3)
    return w, [part(split, i) for i in range(3)]


def _reshaped_and_indexed() -> tuple[Writer, list[Tensor]]:
    w = Nodes()
    stacked = w.op("Reshape", [X, [2, -1, 6, 4]])
    return w, [
        w.op("StridedSlice", [stacked, [i], [i + 1], [1]], shrink_axis_mask=1) for i in range(2)
    ]


def _unstacked() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    stacks = w.call("unstack", w.call("reshape", X, shape=[3, -1, 6, 4]), axis=0)
    return w, [part(stacks, i) for i in range(3)]


def _partitions() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    owners = w.call(
        "compat.v1.floor_div", w.call("math.multiply", w.call("range", w.size()), y=3), y=w.size()
    )
    heaps = w.call("dynamic_partition", X, partitions=owners, num_partitions=3, name=None)
    return w, [part(heaps, i) for i in range(3)]


def _literal_bound() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    return w, [w.rows(None, 5), w.rows(5, None)]


def _all_but_the_last() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    return w, [w.rows(None, -1), w.rows(-1, None)]


def _one_tower() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    return w, [w.rows(w.bound(0, 1), w.bound(1, 1))]


@pytest.mark.parametrize(
    "make",
    [
        _halves_of_a_float,
        _sections,
        _reshaped_and_indexed,
        _unstacked,
        _partitions,
        _literal_bound,
        _all_but_the_last,
        _one_tower,
    ],
)
def test_other_ways_to_cut_are_consecutive(make: Callable[[], tuple[Writer, list[Tensor]]]) -> None:
    """Shares by fractions, sections, stacks of parts, partitions, a bound that is written down, one from the end."""
    assert answer(*make()) is RowOrder.CONSECUTIVE


def _strided() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    return w, [w.rows(0, None, 2), w.rows(1, None, 2)]


def _dealt_by_reshape() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    stacks = w.call("unstack", w.call("reshape", X, shape=[-1, 2, 6, 4]), axis=1)
    return w, [part(stacks, i) for i in range(2)]


@pytest.mark.parametrize("make", [_strided, _dealt_by_reshape])
def test_rows_dealt_out_one_by_one(make: Callable[[], tuple[Writer, list[Tensor]]]) -> None:
    """All rows, but only a merge that deals them back restores their order."""
    assert answer(*make()) is RowOrder.DEALT
    writer, inputs = make()
    check_verdict(recognise_layer_graph.recognise(graph_of(writer, inputs)), "clean")


def _channels() -> tuple[Writer, list[Tensor]]:
    w, everything = Functions(), {"start": None, "stop": None, "step": None}
    halves = ({"start": 0, "stop": 2, "step": None}, {"start": 2, "stop": 4, "step": None})
    return w, [
        w.call("__operators__.getitem", X, slice_spec=[everything, everything, half])
        for half in halves
    ]


def _channels_of_a_long_axis() -> tuple[Writer, list[Tensor]]:
    w = Functions((None, 6, 4000))
    split = w.call("split", X, num_or_size_splits=2, axis=-1)
    return w, [part(split, i) for i in range(2)]


def _rows_and_channels() -> tuple[Writer, list[Tensor]]:
    w = Nodes()
    half = w.op("Pack", [w.bound(1, 2)], axis=0, N=1)
    first = w.op("StridedSlice", [X, [0], half, [1]], begin_mask=1)
    second = w.op("StridedSlice", [X, half, [0], [1]], end_mask=1)
    cut = [[0, 0, 0], [0, 0, 3], [1, 1, 1]]
    return w, [
        w.op("StridedSlice", [one, *cut], begin_mask=7, end_mask=3) for one in (first, second)
    ]


def _by_sign() -> tuple[Writer, list[Tensor]]:
    w, everything = Functions(), {"start": None, "stop": None, "step": None}
    feature = w.call("__operators__.getitem", X, slice_spec=[everything, 0, 0])
    heap = w.call("cast", w.call("math.greater", feature, y=0), dtype="int32")
    heaps = w.call("dynamic_partition", X, partitions=heap, num_partitions=2, name=None)
    return w, [part(heaps, i) for i in range(2)]


def _scaled() -> tuple[Writer, list[Tensor]]:
    w, inputs = by_functions([1, 1])
    assert isinstance(w, Functions)
    return w, [w.call("math.truediv", one, y=255.0) for one in inputs]


def _flipped() -> tuple[Writer, list[Tensor]]:
    w, inputs = by_functions([1, 1])
    assert isinstance(w, Functions)
    return w, [w.call("reverse", one, axis=[2]) for one in inputs]


def _first_half_only() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    return w, [w.rows(None, w.bound(1, 4)), w.rows(w.bound(1, 4), w.bound(1, 2))]


@pytest.mark.parametrize(
    "make",
    [
        _channels,
        _channels_of_a_long_axis,
        _rows_and_channels,
        _by_sign,
        _scaled,
        _flipped,
        _first_half_only,
    ],
)
def test_what_is_not_the_rows_of_the_batch(make: Callable[[], tuple[Writer, list[Tensor]]]) -> None:
    """Channels, rows chosen by what is in them, rows that are changed on the way, rows that no layer reads."""
    assert answer(*make()) is RowOrder.NOT


@pytest.mark.parametrize("make", [_channels, _channels_of_a_long_axis, _by_sign, _first_half_only])
def test_no_wrapper_without_rows(make: Callable[[], tuple[Writer, list[Tensor]]]) -> None:
    """Nothing that stands between can make them rows."""
    writer, inputs = make()
    check_verdict(recognise_layer_graph.recognise(graph_of(writer, inputs)), "clean")


@pytest.mark.parametrize("make", [_rows_and_channels, _scaled, _flipped])
def test_what_every_tower_does_alike_belongs_to_it(
    make: Callable[[], tuple[Writer, list[Tensor]]],
) -> None:
    """Channels taken, numbers scaled, pictures flipped in every tower in the same way: a part of what is computed."""
    writer, inputs = make()
    found = only_wrapper(recognise_layer_graph.recognise(graph_of(writer, inputs)))
    assert found.inline is not None
    assert {at.layer for at in found.inline.calls} > {"net"}
    assert found.sources == (Ref("x", 0, 0),)


def _windows() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    return w, [w.rows(0, 5), w.rows(5, 10)]


def _custom() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    sliced = w.rows(None, w.bound(1, 2))
    return w, [sliced, w.add("Mine", {"trainable": True}, [[*X, {}]])]


def _beyond_memory() -> tuple[Writer, list[Tensor]]:
    w = Functions()
    return w, [
        w.call("compat.v1.gather", X, indices=w.call("range", 0, limit=10**12)) for _ in range(2)
    ]


def _nonsense() -> tuple[Writer, list[Tensor]]:
    w = Nodes()
    return w, [w.op("StridedSlice", [X, "a", [1], None]), w.op("Split", [X], num_split=10**18)]


@pytest.mark.parametrize("make", [_windows, _custom, _beyond_memory, _nonsense])
def test_what_cannot_be_told(make: Callable[[], tuple[Writer, list[Tensor]]]) -> None:
    """Bounds that cover batches up to a size, layers that are no operations, arguments that make no sense."""
    assert answer(*make()) is RowOrder.UNKNOWN


def test_inputs_must_be_cut_alike() -> None:
    """Towers that pair rows of one input with other rows of the other compute something else."""
    w = Functions()
    thirds = [w.rows(None, w.bound(1, 3)), w.rows(w.bound(1, 3), None)]
    halves = [w.rows(None, w.bound(1, 2)), w.rows(w.bound(1, 2), None)]
    graph = graph_of(w, thirds)
    assert taken(graph, thirds).rows is RowOrder.CONSECUTIVE
    assert taken(graph, thirds, halves).rows is RowOrder.NOT


def test_one_tower_that_is_passed_on_is_a_wrapper() -> None:
    """A loop over one device leaves one tower that is passed on."""
    w = Functions()
    model = w.model([w.rows(w.bound(0, 1), w.bound(1, 1))], CONCATENATE)
    identity = {"name": "merge", "trainable": True, "function": "identity"}
    passed_on = {"class_name": "TFOpLambda", "name": "merge", "config": identity}
    w.layers[-1] = {**passed_on, "inbound_nodes": [["net", 1, 0, {}]]}
    found = only_wrapper(recognise_layer_graph.recognise(read(model)))
    assert len(found.towers) == 1
    w.layers[-3]["inbound_nodes"] = [[*X, {"slice_spec": {"start": 1, "stop": None, "step": None}}]]
    check_verdict(recognise_layer_graph.recognise(read(model)), "clean")


def test_what_is_computed_is_evidence() -> None:
    """The report says how it is known."""
    writer, inputs = by_functions([1, 1, 1])
    found = only_wrapper(recognise_layer_graph.recognise(graph_of(writer, inputs)))
    assert found.confidence == "proven"
    assert any("all rows in order" in sentence for sentence in found.evidence)
