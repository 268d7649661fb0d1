"""Operands of a join walked back in step: where they part, and why they are not one computation."""

from __future__ import annotations

import pytest

from tests.unit.core.wrappers.inline import Tensor, Writer, X
from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.search.match_towers import Copies, Unlike, expand_join, walk_back

A, B, C, D, PAIR, ALL = (Ref(name, 0, 0) for name in ("a", "b", "c", "d", "pair", "all"))


@pytest.mark.parametrize(
    ("reads", "depth", "operands", "calls"),
    [
        ([A, B], 9, [A, B], []),
        ([PAIR, C], 0, [PAIR, C], []),
        ([PAIR, C], 1, [A, B, C], [PAIR]),
        ([ALL, D], 1, [PAIR, C, D], [ALL]),
        ([ALL, D], 9, [A, B, C, D], [ALL, PAIR]),
        ([ALL, PAIR], 9, [A, B, C, A], [ALL, PAIR]),
        ([ALL, PAIR], 1, [PAIR, C, A, B], [ALL, PAIR]),
    ],
)
def test_joins_of_joins(
    reads: list[Ref], depth: float, operands: list[Ref], calls: list[Ref]
) -> None:
    """Nested joins to a depth; one that is read again stands for its first operand, which then is there twice."""
    parts = {PAIR: (A, B), ALL: (PAIR, C)}
    expanded = expand_join(reads, lambda ref: parts.get(ref, ()), depth)
    assert expanded == (operands, [ref.call for ref in calls])


def test_pairs_of_pairs_stay_few() -> None:
    """A join of the join before with itself, 200 times, is no matter of 2 ** 200 operands."""
    joins = [Ref(f"join_{n}", 0, 0) for n in range(200)]
    parts = dict(zip(joins, [(A, A), *((each, each) for each in joins)], strict=False))
    assert len(expand_join([joins[-1]], lambda ref: parts.get(ref, ()))[0]) == 201


def _walked(writer: Writer, *operands: Tensor) -> Copies:
    """The towers, which part wherever the outputs of one split are read."""

    def source(column: Column) -> Ref | None:
        return Ref("x", 0, 0) if {ref.layer for ref in column} == {"op_1"} else None

    return walk_back(
        LayerTensors(writer.graph(*operands)), tuple(Ref(*each) for each in operands), source
    )


def test_one_layer_called_on_every_part() -> None:
    """The entries, and every tower's own calls."""
    writer = Writer()
    copies = _walked(writer, *writer.dense(*writer.dense(*writer.split()), name="next"))
    assert copies.cut_points == {(Ref("op_1", 0, 0), Ref("op_1", 0, 1)): Ref("x", 0, 0)}
    assert copies.calls == [{CallId("dense", rank), CallId("next", rank)} for rank in (0, 1)]


def test_layers_of_their_own() -> None:
    """Two layers with weights are two computations, however alike."""
    writer = Writer()
    first, second = writer.split()
    with pytest.raises(Unlike, match=r"^dense and dense_1 are different layers$") as unlike:
        _walked(writer, *writer.dense(first), *writer.dense(second, name="dense_1"))
    assert unlike.value.after == 0


def test_operations_of_their_own() -> None:
    """Equal operations are one computation, different ones are not."""
    writer = Writer()
    parts = writer.dense(*writer.split())
    _walked(writer, *(writer.call("nn.relu", part, name=None) for part in parts))
    with pytest.raises(Unlike, match=r"are different computations$"):
        _walked(
            writer,
            writer.call("nn.relu", parts[0], name=None),
            writer.call("nn.tanh", parts[1], name=None),
        )
    with pytest.raises(Unlike, match=r"differ in their arguments$"):
        _walked(
            writer,
            *(writer.call("nn.leaky_relu", part, alpha=0.1 * n) for n, part in enumerate(parts)),
        )


def test_normalization_keeps_weights_that_no_config_speaks_of() -> None:
    """So two of them may differ."""
    writer = Writer()
    parts = [
        writer.layer("Normalization", f"n_{i}", {"axis": -1}, [p])[0]
        for i, p in enumerate(writer.split())
    ]
    with pytest.raises(Unlike, match=r"^n_0 and n_1 are different layers$"):
        _walked(writer, *writer.dense(*parts))


def test_keras_1_speaks_of_no_weights_where_it_has_some() -> None:
    """Its BatchNormalization has a mode and two regularizers."""
    config = {
        "mode": 0,
        "axis": -1,
        "gamma_regularizer": None,
        "beta_regularizer": None,
        "momentum": 0.99,
    }
    writer = Writer()
    parts = [
        writer.layer("BatchNormalization", f"n_{i}", config, [p])[0]
        for i, p in enumerate(writer.split())
    ]
    with pytest.raises(Unlike, match=r"^n_0 and n_1 are different layers$"):
        _walked(writer, *writer.dense(*parts))


def test_what_all_towers_read_whole() -> None:
    """Rows, or their number, that every tower reads are not cut."""
    writer = Writer()
    halves, size = writer.split(), writer.size()
    parts = [
        writer.call("math.multiply", part, y=size, name=None) for part in writer.dense(*halves)
    ]
    with pytest.raises(Unlike, match=r"^every tower reads the whole of x$"):
        _walked(writer, *parts)


def test_what_all_towers_may_read_whole() -> None:
    """A support set, where the caller says so; and a tower alone shares nothing."""
    writer = Writer()
    parts = [
        writer.call("math.multiply", part, y=X, name=None) for part in writer.dense(*writer.split())
    ]
    tensors = LayerTensors(writer.graph(*parts))

    def source(column: Column) -> Ref | None:
        return Ref(*X) if {ref.layer for ref in column} <= {"op_1", "x"} else None

    both = tuple(Ref(*part) for part in parts)
    with pytest.raises(Unlike, match=r"^every tower reads the whole of x$"):
        walk_back(tensors, both, source)
    assert walk_back(tensors, both, source, may_share=True).shared == {Ref(*X)}
    alone = walk_back(tensors, both[:1], source)
    assert {*alone.cut_points} == {(Ref("op_1", 0, 0),), (Ref(*X),)}
    assert alone.shared == set()


def test_towers_that_read_different_tensors() -> None:
    """Siamese twins."""
    writer = Writer()
    other = {
        "class_name": "InputLayer",
        "name": "y",
        "config": {"name": "y", "batch_input_shape": [None, 4]},
    }
    writer.layers.append({**other, "inbound_nodes": []})
    with pytest.raises(Unlike, match=r"^the towers read different tensors: x, y$") as unlike:
        _walked(writer, *writer.dense(["x", 0, 0], ["y", 0, 0]))
    assert unlike.value.after == 1


def test_one_call_in_two_towers() -> None:
    """A tower that crosses over."""
    writer = Writer()
    parts = writer.dense(*writer.split())
    crossed = [writer.layer("Add", f"sum_{i}", {}, [[parts[i], parts[0]]])[0] for i in (0, 1)]
    with pytest.raises(Unlike):
        _walked(writer, *crossed)
