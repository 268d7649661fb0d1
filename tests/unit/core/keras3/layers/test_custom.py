"""Classes that no rule knows."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.layers.making import KERAS_2, one, refuses, weights
from unnest.core.keras3.context import Context
from unnest.core.keras3.layers.custom import is_custom_class
from unnest.core.keras3.layers.dispatch import converted_layer
from unnest.core.layers.catalog import layer_record
from unnest.core.model import JsonObject


def test_somebodys_own_layer_stays_as_it_is() -> None:
    """But for what its model's input layer tells."""
    context = Context(release=KERAS_2)
    entry: JsonObject = {
        "class_name": "package>Attend",
        "config": {"name": "l", "p": 0.5, "batch_input_shape": [None, 4]},
    }
    layer = one(converted_layer(entry, "l", weights((4, 3)), context))
    assert (layer.class_name, layer.registered_name, layer.module) == (
        "Attend",
        "package>Attend",
        None,
    )
    assert layer.config == {"name": "l", "p": 0.5}
    assert [w.ref for w in layer.weights] == ["/w0"]
    assert context.notes.custom == {"Attend": "layer 'l'"}


@pytest.mark.parametrize(
    ("kind", "why"),
    [("SReLU", "Keras 3 has no layer for it"), ("DenseFeatures", "feature columns")],
)
def test_classes_of_keras_that_are_gone(kind: str, why: str) -> None:
    refuses(kind, {}, why)


@pytest.mark.parametrize(
    ("kind", "module", "release", "is_own"),
    [
        ("LayerNormalization", None, (2, 2, 4), True),
        ("LayerNormalization", None, (2, 4, 0), False),
        ("RMSNormalization", None, (2, 13, 1), True),  # Keras 3 alone has one
        ("RMSNormalization", None, (), False),
        ("LSTMCell", None, (1, 2, 2), True),
        ("Dense", "keras.layers", (2, 13, 1), False),
        ("Dense", "my_package.layers", (2, 13, 1), True),
    ],
)
def test_a_namesake_is_somebodys(
    kind: str, module: str | None, release: tuple[int, ...], is_own: bool
) -> None:
    """A class that no release of then had, or of a module that is not Keras's."""
    config: JsonObject = {
        "name": "l",
        "units": 3,
        **dict.fromkeys(layer_record("LayerNormalization").always_stored),
    }
    entry: JsonObject = {
        "class_name": kind,
        "config": config,
        **({} if module is None else {"module": module}),
    }
    assert is_custom_class(kind, entry, config, Context(release=release)) is is_own
