"""Layers that hold a layer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import DENSE, RNN, links, made, one
from unnest.core.keras3.conversion_context import CannotConvert


@pytest.mark.parametrize(
    ("backward", "layers"),
    [(None, {"forward": False}), ("own", {"forward": False, "backward": True})],
    ids=["one", "two"],
)
def test_both_directions_have_half_of_the_weights(
    backward: str | None, layers: dict[str, bool]
) -> None:
    inner = {"class_name": "LSTM", "config": {"name": "forward", **RNN, "go_backwards": False}}
    other = {"class_name": "LSTM", "config": {"name": "backward", **RNN, "go_backwards": True}}
    config = {
        "layer": inner,
        "merge_mode": "concat",
        **({} if backward is None else {"backward_layer": other}),
    }
    layer = one(made("Bidirectional", config, *(((4, 8), (2, 8), (8,)) * 2)))
    held: list[Any] = [
        layer.config[key] for key in ("layer", "backward_layer") if key in layer.config
    ]
    assert {e["config"]["name"]: e["config"]["go_backwards"] for e in held} == layers
    assert [w.ref for w in layer.weights] == [f"/w{k}" for k in range(6)]


def test_what_a_wrapper_holds_may_be_a_chain_over_steps_alone() -> None:
    """Each link is called step by step; in a Bidirectional there is no place for one."""
    inner = {"class_name": "Dense", "config": {"name": "d", **DENSE, "activation": {
        "class_name": "LeakyReLU", "config": {"name": "r", "alpha": 0.5},
    }}}  # fmt: skip
    first, last = links(made("TimeDistributed", {"layer": inner}, (4, 3), (3,)))
    held: list[Any] = [first.config["layer"], last.config["layer"]]
    assert [(e["class_name"], e["config"]["name"]) for e in held] == [
        ("Dense", "d_linear"),
        ("LeakyReLU", "d"),
    ]
    assert (first.name, last.name) == ("l_d_linear", "l")
    assert ([w.ref for w in first.weights], last.weights) == (["/w0", "/w1"], ())
    with pytest.raises(
        CannotConvert, match=r"'l' \(Bidirectional\): the Dense in it is several layers"
    ):
        made("Bidirectional", {"layer": inner}, *(((4, 3), (3,)) * 2))


def test_a_wrapper_that_would_call_its_layer_without_an_argument_is_refused() -> None:
    config = {"name": "a", "use_scale": False, "dropout": 0.0}
    inner = {"class_name": "Attention", "config": {**config, "causal": False}}
    assert one(made("TimeDistributed", {"layer": inner})).class_name == "TimeDistributed"
    inner = {"class_name": "Attention", "config": {**config, "causal": True}}
    with pytest.raises(CannotConvert, match=r"calls the layer in it without use_causal_mask"):
        made("TimeDistributed", {"layer": inner})


@pytest.mark.parametrize(
    ("sequences", "masks", "half_pixels", "is_same"),
    [
        (True, True, False, True),
        (False, False, False, True),
        (False, True, True, True),
        (False, True, False, False),
    ],
)
def test_zeros_at_masked_steps(
    sequences: bool, masks: bool, half_pixels: bool, is_same: bool
) -> None:
    """Bidirectional gives them where sequences come out, whatever the layer in it says; from TensorFlow 1.15 on."""
    inner = {"class_name": "LSTM", "config": {
        "name": "forward", **RNN, "return_sequences": sequences, "zero_output_for_mask": True,
    }}  # fmt: skip
    config = {"layer": inner, "merge_mode": "concat"}
    if is_same:
        held: Any = one(made("Bidirectional", config, masks=masks, half_pixels=half_pixels)).config[
            "layer"
        ]
        assert "zero_output_for_mask" not in held["config"]
    else:
        with pytest.raises(
            CannotConvert, match=r"'l' \(Bidirectional\): gives zeros where its last step is masked"
        ):
            made("Bidirectional", config, masks=masks, half_pixels=half_pixels)


def test_the_layer_of_a_spectral_normalization_is_converted_too() -> None:
    """Its vector comes last, and is not trained."""
    inner: dict[str, Any] = {"class_name": "Conv2DTranspose", "config": {
        **DENSE, "name": "c", "filters": 3, "kernel_size": [2, 2], "strides": [1, 1], "padding": "valid", "groups": 1,
    }}  # fmt: skip
    del inner["config"]["units"]

    def normalized() -> Any:
        config = {"layer": inner, "power_iterations": 1}
        return made("SpectralNormalization", config, (2, 2, 3, 2), (3,), (1, 2), release=(2, 15, 0))

    layer = one(normalized())
    held: Any = layer.config["layer"]
    assert (held["class_name"], "groups" in held["config"]) == ("Conv2DTranspose", False)
    assert [(w.ref, w.trained) for w in layer.weights] == [
        ("/w0", True),
        ("/w1", True),
        ("/w2", False),
    ]
    inner["config"]["activation"] = "hard_sigmoid"
    with pytest.raises(
        CannotConvert, match=r"'l' \(SpectralNormalization\): its layer ends in hard_sigmoid"
    ):
        normalized()
    embedding = {
        "class_name": "Embedding",
        "config": {"name": "e", "input_dim": 7, "output_dim": 3},
    }
    with pytest.raises(
        CannotConvert, match=r"'l' \(SpectralNormalization\): Keras 3 casts what comes out"
    ):
        made(
            "SpectralNormalization",
            {"layer": embedding, "power_iterations": 1},
            (7, 3),
            (1, 3),
            release=(2, 15, 0),
        )
