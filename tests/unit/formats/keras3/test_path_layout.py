"""The order of a path-keyed file's weights in a flat list."""

from __future__ import annotations

from unnest.core.model import Group, JsonObject, Stored, Tensor
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
