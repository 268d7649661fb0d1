"""Places of a flat list's weights in a path-keyed file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.core import build
from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.errors import Refused
from unnest.formats.keras3.weights_to_paths import lay_out

CELL: dict[str, Any] = {
    "units": 1,
    **{f"{part}_initializer": None for part in ("kernel", "recurrent", "bias")},
}


def laid_out(layer: dict[str, Any], count: int, version: str = "3.15.1") -> dict[str, str]:
    """Path below the layer's own -> the name of the weight that is there, for a layer with so many weights."""
    tensors = build.tensors(*(f"w{k}" for k in range(count)))
    stored = Stored(
        "model",
        build.sequential(layer),
        groups=(Group(layer["name"], tensors),),
        keras_version=version,
    )
    return {path.split("/", 2)[2]: tensor.name for path, tensor in lay_out(stored).tensors.items()}


def test_a_layer_s_own() -> None:
    assert laid_out(build.layer("d", **build.DENSE), 2) == {"vars/0": "w0", "vars/1": "w1"}


def test_cells() -> None:
    """A recurrent layer's weights are its cell's; each way of a Bidirectional has half of them."""
    lstm = {"class_name": "LSTM", "config": {"name": "lstm", **CELL}}
    assert laid_out(build.layer("l", kind="LSTM", **CELL), 3) == {
        f"cell/vars/{k}": f"w{k}" for k in range(3)
    }
    both = laid_out(build.layer("b", kind="Bidirectional", layer=lstm), 6)
    ways = [f"{way}_layer/cell/vars/{k}" for way in ("forward", "backward") for k in range(3)]
    assert both == {path: f"w{k}" for k, path in enumerate(ways)}


@pytest.mark.parametrize(("version", "prefix"), [("3.15.1", ""), ("2.15.0", "_")])
def test_the_layers_of_an_attention(version: str, prefix: str) -> None:
    """Keras 2 has them under attributes of its own."""
    placed = laid_out(build.layer("a", kind="MultiHeadAttention"), 8, version)
    assert [*placed] == [
        f"{prefix}{part}/vars/{k}"
        for part in ("query_dense", "key_dense", "value_dense", "output_dense")
        for k in (0, 1)
    ]


def test_weights_of_no_layer() -> None:
    stored = Stored("model", build.sequential(build.layer("d", **build.DENSE)), groups=(
        Group("other", build.tensors("w")),), keras_version="3.15.1")  # fmt: skip
    with pytest.raises(Refused, match="'w' is of no layer"):
        lay_out(stored)


def check_custom(
    layer: dict[str, Any], names: Sequence[str], place: str, *, is_placed: bool
) -> None:
    """Check that a custom layer's weights are its own `vars` at that place, or refused."""
    tensors = tuple(Tensor(name, (3,), "<f4", name) for name in names)
    model: JsonObject = {"class_name": "Sequential", "config": {"name": "m", "layers": [layer]}}
    stored = Stored(
        "model", model, groups=(Group(layer["config"]["name"], tensors),), keras_version="3.15.1"
    )
    if is_placed:
        assert lay_out(stored).tensors == {
            f"layers/{place}/vars/{k}": t for k, t in enumerate(tensors)
        }
        return
    with pytest.raises(Refused, match=f"only the code of {layer['class_name']} knows both"):
        lay_out(stored)


@pytest.mark.parametrize(
    ("names", "is_placed"),
    [
        (("scale_1/gamma:0", "scale_1/beta:0"), True),
        (("scale_1_gamma:0", "scale_1_beta:0"), True),  # Keras 1, and code written for it
        (("scale_1_gamma", "scale_1_beta"), True),  # the same on Theano
        (("dense_1_W:0", "dense_1_b:0"), False),  # of a layer that it holds
        (("scale_1_gamma:0", "dense_1_b:0"), False),
        (("scale_10_gamma:0", "scale_10_beta:0"), False),
        (
            ("scale_1/dense/kernel:0", "scale_1/dense/bias:0"),
            False,
        ),  # of the first layer of its class
    ],
)
def test_weights_that_a_custom_layer_holds_itself(
    names: tuple[str, str], *, is_placed: bool
) -> None:
    """Their names say so; a layer that is held has a name of its own."""
    layer = {"class_name": "Scale", "config": {"name": "scale_1"}}
    check_custom(layer, names, "scale", is_placed=is_placed)


@pytest.mark.parametrize(
    ("held", "is_placed"),
    [
        ({"class_name": "Dense", "config": {"name": "dense_1", **build.DENSE}}, False),
        (
            {
                "class_name": "Dense",
                "config": {"name": "dense_1", **build.DENSE, "trainable": False},
            },
            False,
        ),
        (
            {"class_name": "Activation", "config": {"name": "activation_1", "activation": "relu"}},
            True,
        ),
        ({"class_name": "Zeros", "config": {}}, True),
    ],
)
def test_weights_that_bear_the_name_of_who_holds_their_layer(
    held: JsonObject, *, is_placed: bool
) -> None:
    """A custom wrapper that makes a Dense's weights in its own scope, as they did for Keras 2."""
    layer = {"class_name": "WeightNorm", "config": {"name": "norm_1", "layer": held}}
    check_custom(layer, ("norm_1/kernel:0", "norm_1/bias:0"), "weight_norm", is_placed=is_placed)
