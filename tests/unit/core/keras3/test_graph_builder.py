"""A graph under construction: how calls are numbered, named and stored, and what of them a model holds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core import build
from tests.unit.core.build import layer, sequential
from unnest.core.architecture import read
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.graph_builder import Builder, dtype_of, keras_3_names
from unnest.core.keras3.layer_replacements import GraphTensor, LayerArguments, LayerCall, NewLayer
from unnest.core.keras3_op_calls import UNKNOWN_DTYPE, Input, OpNode, Part
from unnest.core.keras_facts.shape_inference import Spec
from unnest.core.model import JsonObject, Tensor

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
    split, same = (OpNode(NUMPY, "Split", {"axis": 1}, (x,)) for _ in range(2))  # type: ignore[arg-type]  # placed trees
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
    inner = OpNode(NUMPY, "ExpandDims", {"axis": 1}, (x,))  # type: ignore[arg-type]  # placed trees are operands
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


def test_a_model_holds_what_its_outputs_need() -> None:
    """In Keras's order, with each weight under its layer's name, and no layer that leads nowhere."""
    builder, x = started(None, 4)
    first = builder.place(LayerCall(DENSE, (x,)), "d")
    builder.place(LayerCall(DENSE.renamed("unused"), (x,)), "unused")
    last = builder.place(OpNode(NUMPY, "Tanh", {}, (first,)), "t")  # type: ignore[arg-type]  # placed trees are operands
    assert isinstance(last, GraphTensor)
    model = builder.model("m", [x], [last], {"trainable": True})
    config: Any = model.config
    assert [layer["name"] for layer in config["layers"]] == ["x", "d", "t_tanh"]
    assert [len(layer["inbound_nodes"]) for layer in config["layers"]] == [0, 1, 1]
    assert (config["name"], config["trainable"]) == ("m", True)
    assert (config["input_layers"], config["output_layers"]) == (["x", 0, 0], ["t_tanh", 0, 0])
    assert [(w.owner, w.ref) for w in model.weights] == [(("d",), "/d/k")]
    assert (model.class_name, model.module) == ("Functional", "keras.src.models.functional")


def test_a_call_that_no_output_needs_is_left_out() -> None:
    """Keras finds no layer for what such a call reads; the calls behind it, and what reads them, move up."""
    builder, x = started(None, 4)
    reads_unused = builder.place(OpNode(NUMPY, "Tanh", {}, (x,)), "unused")  # type: ignore[arg-type]  # as above
    shared = [builder.place(LayerCall(DENSE, (operand,)), "d") for operand in (x, reads_unused, x)]
    last = builder.place(OpNode(NUMPY, "Add", {}, (shared[0], shared[2])), "sum")  # type: ignore[arg-type]  # as above
    assert isinstance(last, GraphTensor)
    assert isinstance(shared[2], GraphTensor)
    config: Any = builder.model("m", [x], [last, shared[2]], {}).config
    assert [layer["name"] for layer in config["layers"]] == ["x", "d", "sum_add"]
    assert (
        config["layers"][1]["inbound_nodes"] == [{"args": [tensor("x", None, 4)], "kwargs": {}}] * 2
    )
    read = [
        operand["config"]["keras_history"]
        for operand in config["layers"][2]["inbound_nodes"][0]["args"]
    ]
    assert read == [["d", 0, 0], ["d", 1, 0]]
    assert config["output_layers"] == [["sum_add", 0, 0], ["d", 1, 0]]


@pytest.mark.parametrize(("kind", "rank"), [("Functional", 1), ("Sequential", 0)])
def test_the_calls_of_a_functional_model_are_counted_from_one(kind: str, rank: int) -> None:
    """Among the outputs alone: the node that reads the call counts from 0. Two outputs are a list of ends."""
    builder, x = started(None, 4)
    held = NewLayer(
        "held", kind, {"name": "held", "layers": []}, (Tensor("k", (4, 3), "<f4", "/k", ("d",)),)
    )
    inner = builder.place(LayerCall(held, (x,)), "held")
    behind = builder.place(LayerCall(DENSE, (inner,)), "d")
    assert isinstance(inner, GraphTensor)
    assert isinstance(behind, GraphTensor)
    assert builder.entries["d"].nodes == [{"args": [tensor("held")], "kwargs": {}}]
    model = builder.model("m", [x], [inner, behind], {})
    assert model.config["output_layers"] == [["held", rank, 0], ["d", 0, 0]]
    assert [w.owner for w in model.weights] == [("held", "d"), ("d",)]


INTS = Spec((None, 4), "int32")


@pytest.mark.parametrize(
    ("entry", "spec", "given", "dtype"),
    [
        ({"module": NUMPY, "class_name": "Cast", "config": {"dtype": "int32"}}, None, ["float32"], "int32"),
        ({"module": NUMPY, "class_name": "Less", "config": {}}, None, ["float32"], "bool"),
        ({"module": NUMPY, "class_name": "Argmax", "config": {"axis": 1}}, None, ["float32"], "int32"),
        ({"module": NUMPY, "class_name": "Where", "config": {}}, None, ["bool", "float32", "float32"], "float32"),
        # A layer of Keras has that name, too, and gives floats.
        ({"module": NUMPY, "class_name": "Concatenate", "config": {}}, Spec((None, 8), "float32"), ["int32"], "int32"),
        ({"module": "keras.layers", "class_name": "Dense", "config": {}}, None, ["float32"], "float32"),
        ({"module": "keras.layers", "class_name": "Reshape", "config": {}}, None, ["int32"], "int32"),
        ({"module": "keras.layers", "class_name": "Reshape", "config": {}}, INTS, ["int32"], "int32"),
        ({"module": "keras.layers", "class_name": "Lambda", "config": {}}, None, ["float32"], UNKNOWN_DTYPE),
        ({"module": None, "class_name": "Mine", "config": {}}, None, ["float32"], UNKNOWN_DTYPE),
    ],
)  # fmt: skip
def test_the_dtype_of_what_is_given(
    entry: JsonObject, spec: Spec | None, given: list[str], dtype: str
) -> None:
    assert dtype_of(entry, spec, given) == dtype


def test_a_dtype_is_known_where_a_shape_is_not() -> None:
    """Of an operation behind an operation, each told by the graph alone."""
    builder, x = started(None, 4)
    whole = builder.place(OpNode("keras.src.ops.core", "Cast", {"dtype": "int32"}, (x,)), "c", "c")  # type: ignore[arg-type]
    found = builder.place(OpNode(NUMPY, "Trace", {}, (whole,)), "f", "f")  # type: ignore[arg-type]
    assert isinstance(found, GraphTensor)
    assert builder.specs[found] is None
    assert LayerArguments((found,), {}, builder.specs, builder.dtypes).dtype(found) == "int32"


def test_a_shape_is_known_behind_operations() -> None:
    """And behind a Reshape that states all of it, whatever was before."""
    builder, x = started(None, 4)
    turned = builder.place(OpNode(NUMPY, "Sum", {"axis": 1, "keepdims": True}, (x,)), "s", "s")  # type: ignore[arg-type]
    found = builder.place(OpNode(NUMPY, "Trace", {}, (turned,)), "t", "t")  # type: ignore[arg-type]
    config: JsonObject = {"name": "r", "target_shape": [2, 3], "dtype": "float32"}
    shaped = builder.place(LayerCall(NewLayer("r", "Reshape", config), (found,)), "r")
    assert isinstance(turned, GraphTensor)
    assert isinstance(shaped, GraphTensor)
    assert builder.specs[turned] == Spec((None, 1), "float32")
    assert builder.specs[shaped] == Spec((None, 2, 3), "float32")


@pytest.mark.parametrize(
    ("found", "masks", "today", "renamed"),
    [
        (["dense", "concat"], False, ["dense", "concat"], []),
        (["tower/dense"], False, ["tower_dense"], ["tower/dense"]),
        (["tower/dense", "tower_dense"], False, ["tower_dense_1", "tower_dense"], ["tower/dense"]),
        (["a/b/c", "a/b_c"], False, ["a_b_c", "a_b_c_1"], ["a/b/c", "a/b_c"]),
        (
            ["any", "where_1", "wherever"],
            True,
            ["any_layer", "where_1_layer", "wherever"],
            ["any", "where_1"],
        ),
        (["any", "where_1"], False, ["any", "where_1"], []),
        (["where/1"], True, ["where_1_1"], ["where/1"]),
        (["where/1"], False, ["where_1"], ["where/1"]),
        (["where/1", "where_1"], True, ["where_1_1", "where_1_layer"], ["where/1", "where_1"]),
    ],
)
def test_names_of_today(
    found: list[str], masks: bool, today: list[str], renamed: list[str]
) -> None:
    """Without slashes; those of the operations that compute masks only where there are masks."""
    context = Context(masks=masks)
    graph = read(sequential(*(layer(name, **build.DENSE) for name in found)))
    assert keras_3_names(graph.layers, context) == dict(zip(found, today, strict=True))
    assert [n for c in context.conversions() for n in c.layers] == renamed


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
