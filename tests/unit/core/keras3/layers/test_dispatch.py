"""The rule for each class, and the weights that it is given."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import DENSE, made, one, refuses


@pytest.mark.parametrize(
    ("kind", "config", "new_kind", "new"),
    [
        ("Dense", {"units": 3, "activation": "relu"}, "Dense", {"units": 3, "activation": "relu", "dtype": "float32"}),
        ("AvgPool2D", {"pool_size": [2, 2], "strides": [2, 2], "padding": "valid", "data_format": "channels_last"},
         "AveragePooling2D", {"pool_size": [2, 2], "padding": "valid"}),
        ("BatchNormalizationV1", {"axis": [3], "momentum": 0.9}, "BatchNormalization", {"axis": 3, "momentum": 0.9}),
        ("ThresholdedReLU", {"theta": 0.5}, "ReLU", {"threshold": 0.5, "max_value": None, "negative_slope": 0.0}),
        ("LeakyReLU", {"alpha": 0.25}, "LeakyReLU", {"negative_slope": 0.25}),
        ("Merge", {"mode": "concat", "concat_axis": 1}, "Concatenate", {"axis": 1}),
        ("InputLayer", {"batch_input_shape": [None, 4], "dtype": None}, "InputLayer",
         {"batch_shape": [None, 4], "dtype": "float32"}),
        ("Softmax", {"axis": -1}, "Softmax", {"axis": -1}),
    ],
    ids=["same", "alias", "version", "threshold", "argument", "merge", "input", "softmax"],
)  # fmt: skip
def test_class_and_config(
    kind: str, config: dict[str, Any], new_kind: str, new: dict[str, Any]
) -> None:
    layer = one(made(kind, config))
    assert (layer.name, layer.class_name) == ("l", new_kind)
    assert {key: layer.config[key] for key in ("name", *new)} == {"name": "l", **new}
    assert not {"theta", "alpha", "mode", "concat_axis", "batch_input_shape"} & set(layer.config)


@pytest.mark.parametrize(
    ("kind", "config", "shapes", "trained"),
    [
        ("Dense", DENSE, ((4, 3), (3,)), [True, True]),
        ("Dense", {**DENSE, "trainable": False}, ((4, 3), (3,)), [False, False]),
        ("BatchNormalization", {"axis": 1}, ((3,),) * 4, [True, True, False, False]),
        ("BatchNormalization", {"axis": 1, "scale": False, "gamma_initializer": "ones"}, ((3,),) * 3,
         [True, False, False]),
    ],
    ids=["trained", "frozen", "statistics", "without-scale"],
)  # fmt: skip
def test_weights_are_told_whether_they_are_trained(
    kind: str, config: dict[str, Any], shapes: tuple[tuple[int, ...], ...], trained: list[bool]
) -> None:
    assert [w.trained for w in one(made(kind, config, *shapes)).weights] == trained


@pytest.mark.parametrize(
    ("kind", "config", "shapes"),
    [
        ("Highway", {"activation": "tanh"}, ((), (), (), ())),
        ("CuDNNLSTM", {"units": 2}, ((), (), ())),
        ("SeparableConv1D", {"padding": "causal", "kernel_size": []}, ()),
        ("Bidirectional", {"layer": 3}, ()),
    ],
)
def test_a_layer_that_no_keras_wrote(
    kind: str, config: dict[str, Any], shapes: tuple[tuple[int, ...], ...]
) -> None:
    """Weights without axes, arguments of another kind: refused like whatever else is not known."""
    refuses(kind, config, "", *shapes)


@pytest.mark.parametrize("kind", ["Lambda", "TFOpLambda", "TensorFlowOpLayer"])
def test_what_has_weights_is_more_than_its_code(kind: str) -> None:
    """A variable that a function makes is a weight from TensorFlow 1.14 on, and the code shows its first value."""
    refuses(kind, {"function": "multiply"}, r"its code made weights \(1\)", (3, 1))
