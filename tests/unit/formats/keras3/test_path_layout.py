"""The order of a path-keyed file's weights in a flat list."""

from __future__ import annotations

import pytest

from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.errors import Refused
from unnest.formats.keras3.path_layout import in_order

CELL: JsonObject = {"units": 1, **{f"{part}_initializer": None for part in ("kernel", "recurrent", "bias")}}
INNER: JsonObject = {
    "class_name": "Sequential",
    "config": {
        "name": "inner",
        "layers": [
            {
                "class_name": "Bidirectional",
                "config": {"name": "both", "layer": {"class_name": "LSTM", "config": {"name": "lstm", **CELL}}},
            }
        ],
    },
}
MODEL: JsonObject = {"module": "keras", "class_name": "Sequential", "config": {"name": "outer", "layers": [INNER]}}


def test_layer_that_holds_layers_within_a_model() -> None:
    """Paths sort backward before forward, Keras lists forward first: in a nested model, too."""
    path = "layers/sequential/layers/bidirectional"
    backward, forward = ([f"{path}/{part}_layer/cell/vars/{k}" for k in range(3)] for part in ("backward", "forward"))
    tensors = tuple(Tensor(ref, (4,), "<f4", ref, ("both",)) for ref in (*backward, *forward))
    model = Stored("model", MODEL, groups=(Group("inner", tensors),), keras_version="3.15.1")
    assert [t.ref for t in in_order(model).groups[0].tensors] == [*forward, *backward]


@pytest.mark.parametrize(
    "config",
    [
        {"dtype": {"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8", "source_name": "float32"}}},
        {"dtype": "float8_from_float32"},
        {"quantization_config": {"class_name": "Int8QuantizationConfig", "config": {}}},
        {"lora_rank": 2, "lora_alpha": 2},
        {"layer": {"class_name": "Dense", "config": {"lora_rank": 2}}},
    ],
)
def test_quantized_layers_stay_in_their_container(config: JsonObject) -> None:
    """`.h5` has a kernel's scale behind the bias, and LoRA's own weights; `.keras` has neither."""
    layer = {"class_name": "Dense", "config": {"name": "d", **config}}
    model = {"module": "keras", "class_name": "Sequential", "config": {"name": "outer", "layers": [layer]}}
    tensors = tuple(Tensor(f"layers/dense/vars/{k}", (3,), "<f4", f"layers/dense/vars/{k}") for k in range(3))
    with pytest.raises(Refused, match="'d': is quantized or has LoRA weights"):
        in_order(Stored("model", model, groups=(Group("d", tensors),), keras_version="3.15.1"))


def test_layers_that_could_be_quantized_and_are_not() -> None:
    """As Keras 3 writes those."""
    layer = {"class_name": "Dense", "config": {"name": "d", "quantization_config": None, "dtype": "float32"}}
    model = {"module": "keras", "class_name": "Sequential", "config": {"name": "outer", "layers": [layer]}}
    tensors = tuple(Tensor(f"layers/dense/vars/{k}", (3,), "<f4", f"layers/dense/vars/{k}") for k in range(2))
    stored = Stored("model", model, groups=(Group("d", tensors),), keras_version="3.15.1")
    assert in_order(stored) == stored
