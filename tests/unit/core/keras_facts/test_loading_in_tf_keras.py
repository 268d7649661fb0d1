"""Models of Keras 2 that tf_keras does not load: small configs; tests/slow compares with what really loads."""

from __future__ import annotations

import pytest

from tests.corpus.unpacked import FIXTURES
from tests.unit.core.keras_facts.test_custom_objects_needed_to_load import CODE, layer, model
from unnest.core.keras_facts.loading_in_keras_3 import why_not_keras_3
from unnest.core.keras_facts.loading_in_tf_keras import lambda_pythons, why_not_tf_keras
from unnest.core.model import Group, Stored, Tensor
from unnest.formats.open_container import open_for_inspection


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


@pytest.mark.parametrize(
    ("name", "version", "pythons", "is_loaded"),
    [
        ("tf27-ctc", "2.13.1", "3.8 or 3.9", True),
        ("tf27-ctc", "2.14.0", "3.9", True),
        ("tf27-ctc", "2.16.0", "3.9", True),
        ("k224-ctc", "2.11.0", "3.7", False),
        ("k224-ctc", "2.4.0", "3.6 or 3.7", False),
        ("tf27-ctc", "2.3.0-tf", "3.8", False),
        ("tf27-ctc", "2.3.1", "3.8 or 3.9", False),  # of its own, on any TensorFlow
        ("k224-ctc", "2.15.0", "3.6 or 3.7", False),  # no wheel: whatever it was, it ran
        ("tf215-ctc", "2.15.0", "3.11", True),
        ("tf215-ctc", "2.16.0", "3.11 or 3.12", True),
    ],
)
def test_pythons_of_the_writer(name: str, version: str, pythons: str, is_loaded: bool) -> None:
    """Stored code that two Pythons may have compiled is of the one that the writer's TensorFlow had."""
    stored = open_for_inspection(str(FIXTURES / "keras3_checks" / f"{name}.h5")).stored
    stored = stored._replace(keras_version=version)
    assert lambda_pythons(stored) == pythons
    why = why_not_tf_keras(stored, "h5")
    assert (why is None) is is_loaded
    if not is_loaded:
        assert why == f"its Lambda code was compiled by another Python, {pythons}"


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
