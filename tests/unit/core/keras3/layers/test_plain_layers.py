"""A layer that Keras 3 has too."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.layers.making import DENSE, KERAS_2, made, one, refuses, weights
from unnest.core.keras3.context import CannotConvert, Context
from unnest.core.keras3.layers.dispatch import converted_layer
from unnest.core.model import JsonObject


@pytest.mark.parametrize(("shapes", "use_bias"), [(((4, 3),), True), (((4, 3), (3,)), False)])
def test_other_weights_than_promised_are_refused(shapes: tuple[tuple[int, ...], ...], use_bias: bool) -> None:
    config = {**DENSE, "use_bias": use_bias}
    with pytest.raises(CannotConvert, match=rf"has {len(shapes)} weights, and its config promises {1 + use_bias}"):
        made("Dense", config, *shapes)
    right = ((4, 3), (3,))[: 1 + use_bias]
    assert [w.ref for w in one(made("Dense", config, *right)).weights] == ["/w0", "/w1"][: 1 + use_bias]


def test_a_layer_of_double_numbers_computes_in_them() -> None:
    """Where its config does not say in what."""
    for config, dtype in (({}, "float64"), ({"dtype": "float32"}, "float32")):
        entry: JsonObject = {"class_name": "Dense", "config": {"name": "l", **DENSE, **config}}
        layer = one(converted_layer(entry, "l", weights((4, 3), (3,), dtype="<f8"), Context(release=KERAS_2)))
        assert layer.config["dtype"] == dtype


def test_an_argument_that_nobody_knows_is_refused() -> None:
    refuses("Dense", {"units": 3, "surprise": 1}, "'surprise' = 1 is not known")
