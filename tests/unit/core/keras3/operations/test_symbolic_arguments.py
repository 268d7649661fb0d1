"""Shapes, sizes and dtypes, handed from one operation to the next."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.convert_stored_model import convert
from unnest.core.model import JsonObject, Stored


def in_a_row(*operations: tuple[str, str, list[Any]], output: str) -> JsonObject:
    """A model of an input `x` of 6 steps of 4 numbers, and of operations by name, function and call."""
    x = {
        "batch_input_shape": [None, 6, 4],
        "dtype": "float32",
        "sparse": False,
        "ragged": False,
        "name": "x",
    }
    layers: list[Any] = [
        {"class_name": "InputLayer", "name": "x", "config": x, "inbound_nodes": []}
    ]
    for name, function, called in operations:
        config = {"name": name, "trainable": True, "dtype": "float32", "function": function}
        kind = "SlicingOpLambda" if function.endswith("getitem") else "TFOpLambda"
        layers.append({"class_name": kind, "name": name, "config": config, "inbound_nodes": called})
    model: dict[str, Any] = {
        "name": "m", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [[output, 0, 0]],
    }  # fmt: skip
    return {"class_name": "Functional", "config": model}


SHAPE = ("s", "compat.v1.shape", [["x", 0, 0, {"name": None, "out_type": "int32"}]])
ROWS = ("n", "__operators__.getitem", [["s", 0, 0, {"slice_spec": [0]}]])
LAST = ("d", "__operators__.getitem", [["s", 0, 0, {"slice_spec": [-1]}]])


@pytest.mark.parametrize(
    ("operations", "output", "made"),
    [
        ([SHAPE, ROWS, ("r", "reshape", [["x", 0, 0, {"shape": [["n", 0, 0], 24]}]])], "r",
         [("Reshape", {"newshape": [-1, 24]}, [])]),
        ([SHAPE, ROWS, ("r", "reshape", [["x", 0, 0, {"shape": [["n", 0, 0], -1]}]])], "r",
         [("Reshape", {"newshape": [-1, 24]}, [])]),
        ([SHAPE, ROWS, LAST, ("h", "math.exp", [["x", 0, 0, {}]]),
          ("r", "reshape", [["h", 0, 0, {"shape": [["n", 0, 0], -1, ["d", 0, 0]]}]])], "r",
         [("Exp", {}, []), ("Reshape", {"newshape": [-1, 6, 4]}, [])]),
        ([SHAPE, LAST, ("c", "cast", [["d", 0, 0, {"dtype": "float32"}]]), ("q", "math.sqrt", [["c", 0, 0, {}]]),
          ("t", "math.truediv", [["x", 0, 0, {"y": ["q", 0, 0], "name": None}]])], "t", [("Divide", {}, [2.0])]),
        ([SHAPE, LAST, ("k", "compat.v1.floor_div", [["d", 0, 0, {"y": 2, "name": None}]]),
          ("r", "reshape", [["x", 0, 0, {"shape": [-1, 12, ["k", 0, 0]]}]])], "r",
         [("Reshape", {"newshape": [-1, 12, 2]}, [])]),
        ([SHAPE, LAST, ("k", "math.multiply", [["_CONSTANT_VALUE", -1, 2, {"y": ["d", 0, 0], "name": None}]]),
          ("r", "reshape", [["x", 0, 0, {"shape": [-1, ["k", 0, 0]]}]])], "r",
         [("Reshape", {"newshape": [-1, 8]}, [])]),
    ],
    ids=["rows", "rows-and-rest", "of-the-same-rows", "root-of-a-size", "half-of-a-size", "product"],
)  # fmt: skip
def test_sizes_from_layer_to_layer(
    operations: list[Any], output: str, made: list[tuple[str, dict[str, Any], list[Any]]]
) -> None:
    """A shape, its parts, and what is computed of them are known, and need no layer."""
    architecture = in_a_row(*operations, output=output)
    done = convert(
        Stored(
            "architecture", architecture=architecture, keras_version="2.7.0", backend="tensorflow"
        )
    )
    assert done.model is not None, done.refusal
    assert done.model.architecture is not None
    config: Any = done.model.architecture["config"]
    written = [
        (
            entry["class_name"],
            {key: value for key, value in entry["config"].items() if key != "name"},
            [arg for arg in entry["inbound_nodes"][0]["args"] if isinstance(arg, float)],
        )
        for entry in config["layers"][1:]
    ]
    assert written == made


@pytest.mark.parametrize(
    ("operations", "output", "why"),
    [
        ([SHAPE], "s", "where a layer needs a tensor"),
        ([SHAPE, ROWS], "n", "where a layer needs a tensor"),
        ([SHAPE, LAST], "d", "where a layer needs a tensor"),
        ([SHAPE, ROWS, ("h", "reshape", [["x", 0, 0, {"shape": [-1, 4]}]]),
          ("r", "reshape", [["h", 0, 0, {"shape": [["n", 0, 0], -1]}]])], "r", "several unknown sizes"),
        ([("g", "meshgrid", [["x", 0, 0, {}]])], "g", "stored its first vector alone"),
    ],
    ids=["shape", "rows", "number", "other-rows", "mesh"],
)  # fmt: skip
def test_sizes_that_a_tensor_is_needed_of(operations: list[Any], output: str, why: str) -> None:
    """An output, or what other rows than its own are counted by."""
    architecture = in_a_row(*operations, output=output)
    done = convert(
        Stored(
            "architecture", architecture=architecture, keras_version="2.7.0", backend="tensorflow"
        )
    )
    assert done.refusal is not None
    assert why in done.refusal.message


@pytest.mark.parametrize(("cast", "why"), [("int32", "a reduction of int32"), ("float32", None)])
def test_integers_of_a_layer_before(cast: str, why: str | None) -> None:
    """TensorFlow's mean of integers is an integer, Keras 3's is not: the dtype is handed from layer to layer."""

    def operation(name: str, function: str, node: list[Any]) -> dict[str, Any]:
        config = {"name": name, "trainable": True, "dtype": "float32", "function": function}
        return {"class_name": "TFOpLambda", "name": name, "config": config, "inbound_nodes": [node]}

    x = {
        "batch_input_shape": [None, 4],
        "dtype": "float32",
        "sparse": False,
        "ragged": False,
        "name": "x",
    }
    layers = [
        {"class_name": "InputLayer", "name": "x", "config": x, "inbound_nodes": []},
        operation("c", "cast", ["x", 0, 0, {"dtype": cast}]),
        operation("r", "math.reduce_mean", ["c", 0, 0, {"axis": 1}]),
    ]
    model: dict[str, Any] = {
        "name": "m",
        "layers": layers,
        "input_layers": [["x", 0, 0]],
        "output_layers": [["r", 0, 0]],
    }
    architecture: JsonObject = {"class_name": "Functional", "config": model}
    done = convert(
        Stored(
            "architecture", architecture=architecture, keras_version="2.7.0", backend="tensorflow"
        )
    )
    assert (None if done.refusal is None else done.refusal.message.rpartition(": ")[2]) == why


STEPS = ("d", "__operators__.getitem", [["s", 0, 0, {"slice_spec": [1]}]])


def made(*operations: tuple[str, str, list[Any]], output: str) -> list[str]:
    """Return the classes of the layers that a model becomes."""
    architecture = in_a_row(*operations, output=output)
    done = convert(
        Stored(
            "architecture", architecture=architecture, keras_version="2.7.0", backend="tensorflow"
        )
    )
    assert done.model is not None, done.refusal
    assert done.model.architecture is not None
    config: Any = done.model.architecture["config"]
    return [entry["class_name"] for entry in config["layers"]]


def test_numbers_of_positions_are_a_tensor() -> None:
    """Zero, made of the input, and the numbers: whole, as those of TensorFlow."""
    positions = ("p", "range", [["d", 0, 0, {}]])
    more = ("m", "math.add", [["p", 0, 0, {"y": 1, "name": None}]])
    classes = made(SHAPE, STEPS, positions, more, output="m")
    assert classes == [
        *("InputLayer", "GetItem", "ZerosLike", "Sum", "Sum", "Cast", "Add", "Add"),
    ]


HALF = ("k", "compat.v1.floor_div", [["n", 0, 0, {"y": 2, "name": None}]])
CAST = ("c", "cast", [["k", 0, 0, {"dtype": "float32"}]])
COUNTED = ("InputLayer", "GetItem", "ZerosLike", "Sum", "Cast", "Add", "Sum", "FloorDivide")


@pytest.mark.parametrize(("more", "output", "classes"), [([], "k", []), ([CAST], "c", ["Cast"])])
def test_a_number_of_rows_is_counted(more: list[Any], output: str, classes: list[str]) -> None:
    """A size that was calculated is counted where it is read, by the tensor whose size it was."""
    assert made(SHAPE, ROWS, HALF, *more, output=output) == [*COUNTED, *classes]


def test_a_constant_for_each_row_reads_the_input() -> None:
    token = ["_CONSTANT_VALUE", -1, [[[0.5, 1.5, 2.5, 3.5]]], {"multiples": [["n", 0, 0], 1, 1]}]
    assert made(SHAPE, ROWS, ("t", "tile", [token]), output="t") == [
        *("InputLayer", "GetItem", "ZerosLike", "Sum", "Reshape", "Add"),
    ]
