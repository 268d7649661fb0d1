"""Models of Keras 2 that tf_keras does not load: small configs; tests/slow compares with what really loads."""

from __future__ import annotations

import pytest

from tests.unit.core.keras_facts.test_custom_objects_needed_to_load import CODE, layer, model
from unnest.core.keras_facts.loading_in_keras_3 import why_not_keras_3
from unnest.core.keras_facts.loading_in_tf_keras import why_not_tf_keras
from unnest.core.model import Group, Stored, Tensor


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (model(layer("DepthwiseConv2D", groups=1)), None),
        (model(layer("CuDNNLSTM"), version="2.2.4"), None),
        (model(layer("Dense"), version="1.2.2"), "the arguments of Keras 1.2.2"),
        (model(layer("Dense"), version="3.3.0"), "it is of Keras 3"),
        (
            model(layer("Lambda", function=CODE), version="2.3.1"),
            "its Lambda code was compiled by another Python",
        ),
        (model(layer("Lambda", function=CODE), version="2.15.0"), None),
        (
            model(layer("GRU", units=2), version="2.0.9"),
            "a GRU without `reset_after`, as Keras wrote before 2.1.5",
        ),
        (model(layer("GRU", units=2, reset_after=False), version="2.1.5"), None),
        (
            model(layer("Embedding", dtype="int32"), version="2.0.4"),
            "an Embedding with the dtype int32, that of its ids",
        ),
        (model(layer("Embedding", dtype="float32"), version="2.0.5"), None),
        (
            model(layer("LeakyReLU", alpha={"type": "ndarray", "value": 0.5}), version="2.2.4"),
            "LeakyReLU with `alpha` as an array",
        ),
        (model(layer("LeakyReLU", alpha=0.5), version="2.2.4"), None),
        (model(layer("Highway"), version="2.2.4"), "a Highway layer"),
        (model(layer("CategoryCrossing"), version="2.4.0"), "a CategoryCrossing layer"),
        (model(layer("SpectralNormalization", layer={}, power_iterations=1)), None),
    ],
)
def test_why_not_tf_keras(stored: Stored, reason: str | None) -> None:
    """Everything of Keras 2 but what another Python compiled."""
    assert why_not_tf_keras(stored, "h5") == reason


def test_weights_by_the_paths_of_one_release() -> None:
    """No other Keras looks there; written to .h5 the same tensors are where all look."""
    tensor = Tensor("0", (1,), "<f4", "_layer_checkpoint_dependencies/dense/vars/0")
    base = model(layer("Dense"), version="2.13.1")
    stored = Stored(
        "model", base.architecture, groups=(Group("dense", (tensor,)),), keras_version="2.13.1"
    )
    for why in (why_not_tf_keras, why_not_keras_3):
        assert why(stored, "keras") == "weights where only Keras 2.13.1 looks for them"
    assert why_not_tf_keras(stored, "h5") is None
    assert why_not_keras_3(stored, "h5") == "a Sequential without an input layer"
