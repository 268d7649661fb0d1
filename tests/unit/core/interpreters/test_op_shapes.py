"""The shape that an operation gives, and where it does not follow."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.frontends.operation_layers_as_op_calls import keras3_call, plain_argument
from unnest.core.interpreters.op_shapes import result_shape
from unnest.core.model import Shape
from unnest.core.ops.call import OpCall
from unnest.core.ops.shape_arithmetic import Sized

X, Y, ROW = Sized((None, 3, 4)), Sized((None, 4, 5)), Sized((None, 4))
IMAGE, LAST = Sized((None, None, 8, 4)), "channels_last"
ALL = {"class_name": "__slice__", "config": {"start": None, "stop": None, "step": None}}
REST = {"class_name": "__ellipsis__", "config": {}}


def part(start: int | None, stop: int | None, step: int | None = None) -> dict[str, Any]:
    return {"class_name": "__slice__", "config": {"start": start, "stop": stop, "step": step}}


def of_class(kind: str, config: dict[str, Any], args: list[Any]) -> OpCall:
    """The call of an operation of Keras 3, as its JSON has it."""
    plain = [
        arg if isinstance(arg, Sized) or _has_tensors(arg) else plain_argument(arg) for arg in args
    ]
    return keras3_call(kind, plain, config)


def _has_tensors(arg: Any) -> bool:
    return isinstance(arg, list) and any(isinstance(each, Sized) for each in arg)


@pytest.mark.parametrize(
    ("kind", "config", "args", "shape"),
    [
        ("Exp", {}, [X], (None, 3, 4)),
        ("Add", {}, [X, 1.0], (None, 3, 4)),
        ("Multiply", {}, [X, Sized((None, 1, 4))], (None, 3, 4)),
        ("Maximum", {}, [Sized((None, None, 1)), X], (None, 3, 4)),
        ("Subtract", {}, [X, {"class_name": "__numpy__", "config": {"value": [[1.0], [2.0], [3.0]]}}], (None, 3, 4)),
        ("Where", {}, [X, X, 0.0], (None, 3, 4)),
        ("Sum", {"axis": 1, "keepdims": False}, [X], (None, 4)),
        ("Mean", {"axis": [1, -1], "keepdims": True}, [X], (None, 1, 1)),
        ("Max", {"axis": None, "keepdims": False}, [X], ()),
        ("Argmax", {"axis": -1}, [X], (None, 3)),
        ("Average", {"axis": 1}, [X], (None, 4)),
        ("Transpose", {"axes": [0, 2, 1]}, [X], (None, 4, 3)),
        ("Swapaxes", {"axis1": -1, "axis2": -2}, [X], (None, 4, 3)),
        ("ExpandDims", {"axis": -1}, [X], (None, 3, 4, 1)),
        ("Squeeze", {"axis": [1]}, [Sized((None, 1, 4))], (None, 4)),
        ("Concatenate", {"axis": -1}, [[X, Sized((None, None, 2))]], (None, 3, 6)),
        ("Stack", {"axis": 1}, [[ROW, ROW]], (None, 2, 4)),
        ("Matmul", {}, [X, Y], (None, 3, 5)),
        ("Matmul", {}, [X, Sized((4, 2))], (None, 3, 2)),
        ("Reshape", {"newshape": [-1, 12]}, [Sized(None)], (None, 12)),
        ("Tile", {"repeats": [1, 2, 1]}, [X], (None, 6, 4)),
        ("Repeat", {"repeats": 2, "axis": 1}, [X], (None, 6, 4)),
        ("Pad", {"pad_width": [[0, 0], [1, 2], [0, 0]]}, [X], (None, 6, 4)),
        ("Take", {"axis": 1}, [X, {"class_name": "__numpy__", "config": {"value": [0, 2, 2, 1]}}], (None, 4, 4)),
        ("Take", {"axis": -1}, [X, 0], (None, 3)),
        ("Take", {"axis": 1}, [X, Sized((None, 5))], (None, None, 5, 4)),
        ("Resize", {"size": [5, 6], "interpolation": "nearest", "antialias": False, "data_format": LAST,
                    "crop_to_aspect_ratio": False, "fill_mode": "constant", "fill_value": 0.0},
         [IMAGE], (None, 5, 6, 4)),
        ("RGBToGrayscale", {"data_format": LAST}, [IMAGE], (None, None, 8, 1)),
        ("DepthToSpace", {"block_size": 2, "data_format": LAST}, [IMAGE], (None, None, 16, 1)),
        ("SpaceToDepth", {"block_size": 2, "data_format": LAST}, [IMAGE], (None, None, 4, 16)),
        ("OneHot", {"num_classes": 7, "axis": -1, "dtype": "float32"}, [ROW], (None, 4, 7)),
        ("BroadcastTo", {"shape": [2, 3, 4]}, [Sized((2, 1, 4))], (2, 3, 4)),
        ("GetItem", {}, [X, [ALL, 0]], (None, 4)),
        ("GetItem", {}, [X, [ALL, part(1, None), part(None, None, -2)]], (None, 2, 2)),
        ("GetItem", {}, [X, [REST, None, part(0, 9)]], (None, 3, 1, 4)),
    ],
)  # fmt: skip
def test_what_follows(kind: str, config: dict[str, Any], args: list[Any], shape: Shape) -> None:
    assert result_shape(of_class(kind, config, args)) == shape


@pytest.mark.parametrize(
    ("kind", "config", "args"),
    [
        ("TopK", {"k": 1}, [X]),
        ("Argmax", {"axis": None}, [X]),
        ("Where", {}, [X]),
        ("Exp", {}, [Sized(None)]),
        ("Add", {}, [X, Sized((None, 2, 4))]),
        ("Sum", {"axis": 3}, [X]),
        ("Transpose", {"axes": [0, 1]}, [X]),
        ("Squeeze", {"axis": None}, [X]),
        ("Squeeze", {"axis": 1}, [X]),
        ("Concatenate", {"axis": 1}, [[X, ROW]]),
        ("Concatenate", {"axis": 1}, [[X, Sized((None, 3, 5))]]),
        ("Stack", {"axis": 0}, [[X, ROW]]),
        ("Matmul", {}, [X, Sized((4,))]),
        ("Tile", {"repeats": [2]}, [X]),
        ("Pad", {"pad_width": [[0, 0]]}, [X]),
        ("Take", {"axis": None}, [X, 0]),
        ("Take", {"axis": 3}, [X, 0]),
        ("Resize", {"size": [5, 6], "data_format": "channels_first"}, [IMAGE]),
        ("Resize", {"size": [5, 6], "data_format": None}, [IMAGE]),
        ("Resize", {"size": [5, 6], "data_format": LAST, "crop_to_aspect_ratio": True}, [IMAGE]),
        ("Resize", {"size": [5, 6], "data_format": LAST}, [X]),
        ("DepthToSpace", {"block_size": 3, "data_format": LAST}, [IMAGE]),
        ("SpaceToDepth", {"block_size": 3, "data_format": LAST}, [IMAGE]),
        ("BroadcastTo", {"shape": [2, 3, 4]}, [Sized((2, 2, 4))]),
        ("GetItem", {}, [X, [0, 0, 0, 0]]),
        ("GetItem", {}, [X, [X]]),
    ],
)
def test_what_does_not_follow(kind: str, config: dict[str, Any], args: list[Any]) -> None:
    assert result_shape(of_class(kind, config, args)) is None


STEPS, UNIT, UNKNOWN = Sized((None, 5, 3)), Sized((None, 1, 1)), Sized(None)


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (OpCall("relu", [STEPS], {}), (None, 5, 3)),
        (OpCall("subtract", [STEPS], {"y": 0.5, "name": None}), (None, 5, 3)),
        (OpCall("truediv", [STEPS, [0.2, 0.3, 0.4]], {}), (None, 5, 3)),
        (OpCall("multiply", [UNIT], {"y": STEPS}), (None, 5, 3)),
        (OpCall("where", [UNIT], {"x": STEPS, "y": 0.0}), (None, 5, 3)),
        (OpCall("subtract", [STEPS, UNKNOWN], {}), None),
        (OpCall("truediv", [STEPS, [0.2, 0.3]], {}), None),
        (OpCall("reducemean", [STEPS], {"axis": [0]}), (5, 3)),
        (OpCall("reducemean", [STEPS], {"axis": -1, "keepdims": True}), (None, 5, 1)),
        (OpCall("reducemean", [STEPS], {}), ()),
        (OpCall("reducemean", [STEPS], {"axis": UNIT}), None),
        (OpCall("reducemean", [UNKNOWN], {"axis": 0}), None),
        (OpCall("concat", [[STEPS, STEPS]], {"axis": -1}), (None, 5, 6)),
        (OpCall("concat", [[STEPS, UNKNOWN]], {"axis": -1}), None),
        (OpCall("concat", [[STEPS, STEPS]], {"axis": 0}), (None, 5, 3)),
        (OpCall("resizebilinear", [IMAGE, [5, 6]], {"align_corners": True}), (None, 5, 6, 4)),
        (OpCall("resize", [IMAGE, [5, 6], "bilinear", True], {}), None),
        (OpCall("resizeimages", [IMAGE, 2, 3, "channels_last"], {}), None),
        (OpCall("gather", [STEPS, [0, 1]], {"axis": None}), (2, 5, 3)),
        (OpCall("gather", [STEPS, [0, 1]], {"batch_dims": 1}), None),
        (OpCall("somebodysown", [STEPS], {}), None),
    ],
)
def test_calls_of_tensorflow(call: OpCall, shape: Shape | None) -> None:
    assert result_shape(call) == shape
