"""Calls of operations in every dialect, with arguments in the order of TensorFlow's functions."""

from __future__ import annotations

import pytest

from tests.unit.core.wrappers.one_layer import (
    called,
    code_lambda,
    op_function,
    op_keras_3,
    op_node,
)
from unnest.core.architecture.graph import Call, Layer
from unnest.core.frontends.operation_layers_as_op_calls import (
    keras3_call,
    parse_op_call,
    plain_argument,
    with_refs,
)
from unnest.core.model import Json, JsonObject, Ref
from unnest.core.ops.call import OpCall

X = ["x", 0, 0]
TENSOR = {"class_name": "__keras_tensor__", "config": {"shape": [None], "keras_history": X}}


@pytest.mark.parametrize(
    ("stored", "args"),
    [
        ([*X, {"axis": 0}], [X]),
        (["_CONSTANT_VALUE", -1, 5, {"axis": 0}], [5]),
        ([[*X, {"axis": 0}], ["y", 0, 1, {"axis": 0}]], [[X, ["y", 0, 1]]]),
    ],
    ids=["a tensor", "a constant", "a list of tensors"],
)
def test_a_function_of_tensorflow(stored: Json, args: list[Json]) -> None:
    what = parse_op_call(
        *called("TFOpLambda", stored, function="compat.v1.floor_div", trainable=True)
    )
    assert what is not None
    assert (what.name, what.args, what.kwargs) == ("floordiv", args, {"axis": 0})


def int_attribute(number: int) -> Json:
    return {"i": str(number)}


@pytest.mark.parametrize(
    ("layer", "name", "args", "kwargs"),
    [
        (op_node("Split", {"0": 0}, num_split=int_attribute(2)), "split", [X, 2, 0], {}),
        (op_node("SplitV", {"1": [1, -1], "2": 0}, 3), "split", [X, [1, -1], 0], {}),
        (op_node("ConcatV2", {"1": 0}), "concat", [[X], 0], {}),
        (op_node("Concat", {"0": 1}), "concat", [[X], 1], {}),
        (op_node("Pack", {"1": 3}, axis=int_attribute(1)), "stack", [[X, 3]], {"axis": 1}),
        (op_node("Unpack", {}, 1, num=int_attribute(2)), "unstack", [X], {"num": 2}),
        (op_node("GatherV2", {"1": [0], "2": 0}, 3), "gather", [X, [0], 0], {}),
        (op_node("Cumsum", {"1": 0}, exclusive={"b": True}), "cumsum", [X, 0], {"exclusive": True}),
        (
            op_node("Squeeze", {}, 1, squeeze_dims={"list": {"i": ["1"]}}),
            "squeeze",
            [X],
            {"axis": [1]},
        ),
        (
            op_node("StridedSlice", {"1": [0], "2": [4], "3": [1]}, 4, begin_mask=int_attribute(1)),
            "stridedslice",
            [X, [0], [4], [1]],
            {"begin_mask": 1},
        ),
        (op_node("FloorDiv", {"1": 2}), "floordiv", [X, 2], {}),
    ],
)
def test_a_node_of_tensorflow(
    layer: tuple[Layer, Call], name: str, args: list[Json], kwargs: JsonObject
) -> None:
    what = parse_op_call(*layer)
    assert what is not None
    assert (what.name, what.args, what.kwargs) == (name, args, kwargs)


def test_a_control_input_is_no_argument() -> None:
    node = {"op": "Neg", "input": ["i0", "^after"], "attr": {}}
    what = parse_op_call(
        *called("TensorFlowOpLayer", node_def=node, constants=None, trainable=True)
    )
    assert what is not None
    assert what.args == [X]


@pytest.mark.parametrize(
    ("layer", "name", "args"),
    [
        (op_keras_3("Take", [0], axis=0), "take", [TENSOR, [0]]),
        (op_keras_3("Split", axis=0), "k3split", [TENSOR]),
        (op_keras_3("Slice", [0], axis=0), "k3slice", [TENSOR, [0]]),
    ],
)
def test_an_operation_of_keras_3(layer: tuple[Layer, Call], name: str, args: list[Json]) -> None:
    """Two of its classes have other arguments than TensorFlow's functions of that name."""
    what = parse_op_call(*layer)
    assert what is not None
    assert (what.name, what.args, what.kwargs) == (name, args, {"name": "l", "axis": 0})


@pytest.mark.parametrize(
    "layer",
    [
        called("Dense", units=3, trainable=True),
        code_lambda(lambda x: x[1:]),
        called("Lambda", function="mean", arguments={}),
        called("TFOpLambda", [["x"]], function="split", trainable=True),
        called("TFOpLambda", [], function="split", trainable=True),
        called("TensorFlowOpLayer", node_def="no node", constants={}, trainable=True),
        called("Take", {"args": "x", "kwargs": {}}),
    ],
    ids=[
        "a layer",
        "code",
        "a name",
        "half a reference",
        "no reference",
        "no node",
        "no arguments",
    ],
)
def test_other_forms_say_nothing(layer: tuple[Layer, Call]) -> None:
    assert parse_op_call(*layer) is None


def test_the_arguments_of_a_function_go_by_name() -> None:
    what = parse_op_call(*op_function("split", num_or_size_splits=2, axis=0))
    assert what is not None
    assert (what.args, what.kwargs) == ([[X]], {"num_or_size_splits": 2, "axis": 0})


@pytest.mark.parametrize("kind", ["__numpy__", "__tensor__"])
def test_a_constant_of_keras_3(kind: str) -> None:
    """An array, or a backend's tensor: its numbers are stored alike."""
    what = parse_op_call(
        *op_keras_3(
            "Take", {"class_name": kind, "config": {"value": [4, 5], "dtype": "int32"}}, axis=0
        )
    )
    assert what is not None
    assert with_refs(what, ["x"], lambda raw: Ref(*raw)).args[1] == [4, 5]


def test_a_call_has_the_arguments_of_the_class_too() -> None:
    assert keras3_call("Sum", [1], {"axis": 1}, {"keepdims": True}) == OpCall(
        "sum", [1], {"axis": 1, "keepdims": True}
    )
    assert keras3_call("Split", [1], {}).name == "k3split"
    assert keras3_call("ExpandDims", [1], {}).name == "expanddims"


def test_constants_are_read() -> None:
    ends: Json = {"class_name": "__slice__", "config": {"start": 1, "stop": None, "step": -1}}
    assert plain_argument([ends, {"class_name": "__ellipsis__", "config": {}}, 3]) == [
        slice(1, None, -1),
        ...,
        3,
    ]
    assert plain_argument(
        {"class_name": "__numpy__", "config": {"value": [[1.0]], "dtype": "float32"}}
    ) == [[1.0]]
    assert plain_argument({"a": 1}) == {"a": 1}
