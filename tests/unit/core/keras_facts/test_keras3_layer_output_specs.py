"""Shapes, dtypes and filled-in arguments, against what Keras 3.15 said of the same layers.

`keras3_shapes.json` was recorded from it by scripts/record-shapes.py.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from unnest.core.architecture import is_model
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.keras_facts.keras3_layer_output_specs import CallResult, Spec
from unnest.core.layers.catalog import layer_record

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "keras3_shapes.json").read_text("utf8")
)

SAID = [row for row in ROWS if not row["masked"]]
MASKED = [row for row in ROWS if row["masked"]]


def spec(stored: list[Any]) -> Spec:
    """A recorded tensor."""
    shape, dtype = stored
    return Spec(tuple(shape), dtype)


def label(row: dict[str, Any]) -> str:
    """Return a recorded row's name for the test."""
    return f"{row['entry']['config']['name']}-{row['given'][1]}"


def may_be_unknown(row: dict[str, Any]) -> bool:
    """Integers where Keras fills arguments in, and layers that do not store their policy."""
    record = layer_record(row["entry"]["class_name"])
    filled = record.training_argument or record.mask_argument or is_model(row["entry"])
    return (filled and row["given"][1] == "int32") or keras3_layer_output_specs.hides_policy(
        row["entry"]
    )


@pytest.mark.parametrize("row", SAID, ids=label)
def test_a_call_is_what_keras_recorded(row: dict[str, Any]) -> None:
    """Arguments, shape and dtype are those of the recorded call, or unknown for a reason."""
    told = keras3_layer_output_specs.call_on(row["entry"], spec(row["given"]))
    if told is None:
        assert may_be_unknown(row)
    elif not (
        keras3_layer_output_specs.hides_policy(row["entry"]) and row["output"][1] == "float16"
    ):
        assert told == CallResult(row["kwargs"], spec(row["output"]))


@pytest.mark.parametrize("row", MASKED, ids=label)
def test_what_makes_a_mask_is_unknown(row: dict[str, Any]) -> None:
    """Masks become operations and arguments of their own."""
    assert keras3_layer_output_specs.call_on(row["entry"], spec(row["given"])) is None


DENSE: dict[str, Any] = {
    "class_name": "Dense",
    "config": {"name": "d", "dtype": "float32", "units": 3},
}
IMAGES = Spec((None, 8, 8, 4), "float32")
ROW = Spec((None, 4), "float32")


def test_a_shape_that_the_file_contradicts_is_unknown() -> None:
    """The shape a layer was built for is a second witness."""
    assert (
        keras3_layer_output_specs.call_on(
            {**DENSE, "build_config": {"input_shape": [None, 4]}}, ROW
        )
        is not None
    )
    assert (
        keras3_layer_output_specs.call_on(
            {**DENSE, "build_config": {"input_shape": [None, 5]}}, ROW
        )
        is None
    )


@pytest.mark.parametrize(
    "entry",
    [
        {"class_name": "Lambda", "config": {"name": "l", "dtype": "float32"}},
        {"class_name": "Mine", "config": {"name": "m", "dtype": "float32"}},
        {**DENSE, "module": "my.layers"},
        {**DENSE, "config": {"name": "d", "dtype": None, "units": 3}},
        {
            **DENSE,
            "config": {
                "name": "d",
                "dtype": {"class_name": "QuantizedDTypePolicy", "config": {"name": "int8"}},
            },
        },
        {**DENSE, "config": {"name": "d", "dtype": "float32", "units": "3"}},
        {**DENSE, "config": []},
        {
            "class_name": "LSTM",
            "config": {"name": "r", "dtype": "float32", "units": 3, "return_state": True},
        },
        {
            "class_name": "Conv2D",
            "config": {"name": "c", "dtype": "float32", "filters": 2, "kernel_size": [3, 3]},
        },
        {"class_name": "Permute", "config": {"name": "p", "dtype": "float32", "dims": [9]}},
        {
            "class_name": "Reshape",
            "config": {"name": "p", "dtype": "float32", "target_shape": [0, -1]},
        },
    ],
)
@pytest.mark.parametrize("given", [ROW, IMAGES])
def test_what_is_not_known_for_certain_is_none(entry: dict[str, Any], given: Spec) -> None:
    """Other code, other policies, damaged configs."""
    assert keras3_layer_output_specs.call_on(entry, given) is None


def test_windows_that_do_not_fit_are_unknown() -> None:
    """No such layer can have been called."""
    pool: dict[str, Any] = {
        "dtype": "float32",
        "pool_size": [9, 9],
        "strides": [1, 1],
        "padding": "valid",
    }
    assert (
        keras3_layer_output_specs.call_on({"class_name": "MaxPooling2D", "config": pool}, IMAGES)
        is None
    )


def input_layer(shape: list[int | None], **more: Any) -> dict[str, Any]:
    """An input layer's entry."""
    return {
        "class_name": "InputLayer",
        "config": {"name": "in", "batch_shape": shape, "dtype": "float32", **more},
    }


def test_a_nested_sequential_goes_through_its_layers() -> None:
    """On the shape that it was built for, and no other."""
    config: dict[str, Any] = {
        "name": "s",
        "dtype": "float32",
        "layers": [input_layer([None, 4]), DENSE],
    }
    told = keras3_layer_output_specs.call_on({"class_name": "Sequential", "config": config}, ROW)
    assert told == CallResult({"mask": None}, Spec((None, 3), "float32"))
    assert (
        keras3_layer_output_specs.call_on(
            {"class_name": "Sequential", "config": config}, Spec((None, 5), "float32")
        )
        is None
    )
    half = keras3_layer_output_specs.call_on(
        {"class_name": "Sequential", "config": config}, Spec((None, 4), "float16")
    )
    assert half == CallResult({}, Spec((None, 3), "float32"))


def test_a_nested_functional_model_tells_by_its_last_call() -> None:
    """One output, from one call."""
    tensor = {"shape": [None, 4], "dtype": "float32", "keras_history": ["in", 0, 0]}
    call = {
        "args": [{"class_name": keras3_layer_output_specs.TENSOR, "config": tensor}],
        "kwargs": {},
    }
    config: dict[str, Any] = {
        "name": "f",
        "layers": [input_layer([None, 4]), {**DENSE, "inbound_nodes": [call]}],
        "input_layers": ["in", 0, 0],
        "output_layers": [["d", 0, 0]],
    }
    told = keras3_layer_output_specs.call_on({"class_name": "Functional", "config": config}, ROW)
    assert told == CallResult({"mask": None}, Spec((None, 3), "float32"))
    twice = {**config, "output_layers": [["d", 0, 0], ["d", 0, 0]]}
    assert (
        keras3_layer_output_specs.call_on({"class_name": "Functional", "config": twice}, ROW)
        is None
    )


def test_input_layers() -> None:
    """Dense ones only."""
    assert keras3_layer_output_specs.input_spec(input_layer([None, 4])) == ROW
    assert keras3_layer_output_specs.input_spec(input_layer([None, 4], sparse=True)) is None
    assert keras3_layer_output_specs.input_spec(DENSE) is None


def test_a_cast_is_one_of_floats() -> None:
    """Integers are handed on as they are."""
    mixed: dict[str, Any] = {
        "class_name": "Dense",
        "config": {"name": "d", "dtype": "mixed_float16", "units": 3},
    }
    assert keras3_layer_output_specs.casts_input(mixed, ROW)
    assert not keras3_layer_output_specs.casts_input(mixed, Spec((None, 4), "int32"))
    assert not keras3_layer_output_specs.casts_input(DENSE, ROW)
