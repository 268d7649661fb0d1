"""Classes that no rule knows."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.layers.making import KERAS_2, one, refuses, weights
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.layers.custom_layers import is_custom_class
from unnest.core.keras3.layers.dispatch import convert_layer
from unnest.core.layers.catalog import layer_record
from unnest.core.model import JsonObject


def test_custom_function_layer_stays_as_it_is() -> None:
    """But for the shape in its model's input layer."""
    context = Context(release=KERAS_2)
    entry: JsonObject = {
        "class_name": "package>Attend",
        "config": {"name": "l", "p": 0.5, "batch_input_shape": [None, 4]},
    }
    layer = one(convert_layer(entry, "l", weights((4, 3)), context))
    assert (layer.class_name, layer.registered_name, layer.module) == (
        "Attend",
        "package>Attend",
        None,
    )
    assert layer.config == {"name": "l", "p": 0.5}
    assert [w.ref for w in layer.weights] == ["/w0"]
    assert context.notes.custom == {"Attend": "layer 'l'"}


def test_initializers_that_a_custom_class_hands_on() -> None:
    """Keras's own are without the dtype that TensorFlow 1 stored with them; a custom one, and other arguments, stay."""
    ones: JsonObject = {"class_name": "Ones", "config": {"dtype": "float32"}}
    own: JsonObject = {"class_name": "MyOnes", "config": {"dtype": "float32"}}
    config: JsonObject = {"name": "l", "a_initializer": ones, "b_initializer": own, "start": ones}
    entry: JsonObject = {"class_name": "Mine", "config": config}
    layer = one(convert_layer(entry, "l", (), Context(release=KERAS_2)))
    assert layer.config == {**config, "a_initializer": {"class_name": "Ones", "config": {}}}


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


CONV: JsonObject = {
    "filters": 2, "kernel_size": [3, 3], "kernel_initializer": None, "bias_initializer": None,
    "kernel_constraint": None, "bias_constraint": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "shapes", "codes"),
    [
        (CONV, ((3, 3, 1, 2), (2,), (1, 2)), ["weights-of-subclass"]),
        (CONV, ((3, 3, 1, 2), (2,)), []),  # all that Keras 3 loads
        (CONV, ((5, 5, 1, 2), (2,), (1, 2)), []),  # no kernel of such a convolution
        (
            {"filters": 2, "kernel_size": [3, 3]},
            ((3, 3, 1, 2), (2,), (1, 2)),
            [],
        ),  # a layer of its own
    ],
)
def test_weights_that_a_subclass_adds(
    config: JsonObject, shapes: tuple[tuple[int, ...], ...], codes: list[str]
) -> None:
    context = Context(release=KERAS_2)
    entry: JsonObject = {"class_name": "Normed", "config": {"name": "l", **config}}
    one(convert_layer(entry, "l", weights(*shapes), context))
    assert [finding.code for finding in context.notes.findings] == codes
