"""A graph under construction: how calls are numbered, named and stored, and what of them a model holds."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.graph.graph_builder import Builder
from unnest.core.keras3.layer_replacements import LayerCall, NewLayer
from unnest.core.keras3_op_node import GraphTensor, Input, OpNode, Part
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import Tensor

NUMPY = "keras.src.ops.numpy"
KERNEL = Tensor("k", (4, 3), "<f4", "/d/k")
DENSE = NewLayer("d", "Dense", {"name": "d", "units": 3, "dtype": "float32"}, (KERNEL,))


def started(*shape: int | None) -> tuple[Builder, GraphTensor]:
    """A builder with one input `x` of that shape."""
    builder = Builder()
    config = {"name": "x", "batch_shape": list(shape), "dtype": "float32"}
    return builder, builder.input(NewLayer("x", "InputLayer", config))


def tensor(name: str, *shape: int | None, rank: int = 0, index: int = 0) -> dict[str, Any]:
    """An argument as Keras 3 stores it."""
    noted = {"shape": list(shape), "dtype": "float32", "keras_history": [name, rank, index]}
    return {"class_name": "__keras_tensor__", "config": noted}


def test_a_call_notes_what_it_reads() -> None:
    builder, x = started(None, 4)
    made = builder.place(
        LayerCall(DENSE, ([x, 2.5], None), {"training": False, "states": {"h": x}}), "d"
    )
    assert made == GraphTensor("d", 0, 0)
    assert builder.specs[made] is None, "what a Dense makes of two tensors is not known"
    assert builder.entries["d"].reads == [(x,)], "once, in how many places it may stand"
    assert builder.entries["d"].nodes == [{
        "args": [[tensor("x", None, 4), 2.5], None],
        "kwargs": {"training": False, "states": {"h": tensor("x", None, 4)}},
    }]  # fmt: skip


def test_the_shape_of_a_result_is_noted_where_it_is_known() -> None:
    builder, x = started(None, 4)
    known = builder.place(LayerCall(DENSE, (x,)), "d")
    own = NewLayer(
        "own", "Mine", {"name": "own", "dtype": "float32"}, module=None, registered_name="Mine"
    )
    unknown = builder.place(LayerCall(own, (known,)), "own")
    last = builder.place(LayerCall(DENSE.renamed("e"), (unknown,)), "e")
    assert [builder.specs[t] for t in (known, unknown, last) if isinstance(t, GraphTensor)] == [
        Spec((None, 3), "float32"), None, None,
    ]  # fmt: skip
    assert builder.entries["own"].nodes == [{"args": [tensor("d", None, 3)], "kwargs": {}}]
    assert builder.entries["e"].nodes == [{"args": [tensor("own")], "kwargs": {}}]


@pytest.mark.parametrize(("axis", "shape"), [(-1, (None, 5, 8)), (1, (None, 10, 4))])
def test_a_tensor_that_is_joined_to_itself_counts_twice(
    axis: int, shape: tuple[int | None, ...]
) -> None:
    builder, x = started(None, 5, 4)
    both = NewLayer("c", "Concatenate", {"name": "c", "axis": axis, "dtype": "float32"})
    joined = builder.place(LayerCall(both, ([x, x],)), "c")
    assert isinstance(joined, GraphTensor)
    assert builder.specs[joined] == Spec(shape, "float32")


def test_two_calls_of_a_layer_share_its_entry() -> None:
    builder, x = started(None, 4)
    made = [builder.place(LayerCall(DENSE, (x,)), "d") for _ in range(2)]
    assert made == [GraphTensor("d", 0, 0), GraphTensor("d", 1, 0)]
    assert list(builder.entries) == ["x", "d"]
    assert builder.entries["d"].reads == [(x,), (x,)]


def test_one_operation_is_called_once_and_an_equal_one_again() -> None:
    builder, x = started(None, 4)
    split, same = (OpNode(NUMPY, "Split", {"axis": 1}, (x,)) for _ in range(2))
    made = builder.place([Part(split, 0), Part(split, 1), Part(same, 0)], "l")
    assert made == [
        GraphTensor("l_split", 0, 0),
        GraphTensor("l_split", 0, 1),
        GraphTensor("l_split_1", 0, 0),
    ]
    assert len(builder.entries["l_split"].nodes) == 1


@pytest.mark.parametrize(
    ("reserved", "last", "names"),
    [
        ((), None, ["l_expand_dims", "l_add"]),
        ((), "l", ["l_expand_dims", "l"]),
        ((), "x", ["l_expand_dims", "l_add"]),
        (("l_add", "l_add_1"), None, ["l_expand_dims", "l_add_2"]),
        (("l_expand_dims",), "l", ["l_expand_dims_1", "l"]),
    ],
    ids=["class", "last", "taken", "reserved", "inner-reserved"],
)
def test_names(reserved: tuple[str, ...], last: str | None, names: list[str]) -> None:
    """The outermost operation alone has the name that is asked for, where nothing else has it."""
    builder, x = started(None, 4)
    builder.reserved |= set(reserved)
    inner = OpNode(NUMPY, "ExpandDims", {"axis": 1}, (x,))
    assert builder.place(OpNode(NUMPY, "Add", {}, (inner, 1.0)), "l", last) == GraphTensor(
        names[-1], 0, 0
    )
    assert list(builder.entries)[1:] == names
    assert builder.entries[names[0]].entry == {
        "module": NUMPY, "class_name": "ExpandDims", "config": {"axis": 1, "name": names[0]}, "registered_name": None,
    }  # fmt: skip


def test_constants_and_tensors_stay() -> None:
    builder, x = started(None, 4)
    assert builder.place({"a": [x, "text", None, 3]}, "l") == {"a": [x, "text", None, 3]}
    assert list(builder.entries) == ["x"]
    with pytest.raises(AssertionError, match="filled in before"):
        builder.place(OpNode(NUMPY, "Add", {}, (Input(0), 1.0)), "l")


@pytest.mark.parametrize("is_misplaced_first", [True, False])
def test_a_merge_that_is_called_both_ways_is_two_layers(is_misplaced_first: bool) -> None:
    """One call adds, the other subtracts the negative: neither may get the other's class."""
    builder, x = started(None, 5, 1)
    row = {"name": "y", "batch_shape": [None, 1, 5], "dtype": "float32"}
    y = builder.input(NewLayer("y", "InputLayer", row))
    pairs = [[x, y], [x, x]] if is_misplaced_first else [[x, x], [x, y]]
    add = NewLayer("a", "Add", {"name": "a"})
    made = [builder.place(LayerCall(add, (pair,)), "a") for pair in pairs]
    kinds = [
        builder.entries[t.layer].entry["class_name"] for t in made if isinstance(t, GraphTensor)
    ]
    assert kinds == (["Subtract", "Add"] if is_misplaced_first else ["Add", "Subtract"])
    assert [t.layer for t in made if isinstance(t, GraphTensor)] == ["a", "a_1"]
