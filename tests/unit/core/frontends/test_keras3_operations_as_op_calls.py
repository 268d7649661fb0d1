"""Operations of Keras 3 as calls."""

from __future__ import annotations

from unnest.core.frontends.keras3_operations_as_op_calls import keras3_call, plain_argument
from unnest.core.model import Json
from unnest.core.ops.call import OpCall


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
