"""Optimizers and schedules of Keras's own."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras_facts.optimizer_classes import custom_optimizers, optimizer_class, slot_order
from unnest.core.model import JsonObject


@pytest.mark.parametrize(
    ("optimizer", "names"),
    [
        ("adam", []),
        ({"class_name": "Adam", "config": {}}, []),
        ({"class_name": "adam", "config": {}}, []),
        ({"class_name": "Custom>Adafactor", "config": {}}, []),
        ({"class_name": "Custom>Mine", "config": {}}, ["Custom>Mine"]),
        ({"module": "keras.optimizers.legacy", "class_name": "SGD", "registered_name": None}, []),
        ({"module": None, "class_name": "Lamb", "registered_name": "Mine>Lamb"}, ["Mine>Lamb"]),
        ({"module": "__main__", "class_name": "Adam", "registered_name": "Adam"}, ["Adam"]),
        (
            {
                "class_name": "SGD",
                "config": {"learning_rate": {"class_name": "CosineDecay", "config": {}}},
            },
            [],
        ),
        (
            {
                "class_name": "SGD",
                "config": {"learning_rate": {"class_name": "WarmUp", "config": {}}},
            },
            ["WarmUp"],
        ),
        (
            {
                "class_name": "LossScaleOptimizer",
                "config": {"inner_optimizer": {"class_name": "Mine"}},
            },
            ["Mine"],
        ),
        (None, []),
    ],
)
def test_optimizers_that_a_loader_is_to_be_given(optimizer: Any, names: list[str]) -> None:
    assert (
        custom_optimizers({"optimizer": optimizer})
        == custom_optimizers({"optimizer_config": optimizer})
        == names
    )
    assert custom_optimizers(None) == []


@pytest.mark.parametrize(
    ("kinds", "order"),
    [
        ({"v", "m"}, ("m", "v")),
        ({"vhat", "v", "m"}, ("m", "v", "vhat")),
        ({"momentum", "rms"}, ("rms", "momentum")),
        ({"mg", "rms", "momentum"}, ("rms", "momentum", "mg")),
        ({"linear", "accumulator"}, ("accumulator", "linear")),
        (["momentum"], ("momentum",)),
        ([], ()),
        ({"m", "u"}, None),  # an unknown optimizer
    ],
)
def test_slot_order(kinds: set[str], order: tuple[str, ...] | None) -> None:
    assert slot_order(kinds) == order


@pytest.mark.parametrize(
    ("training", "name"),
    [
        ({"optimizer_config": {"class_name": "Adam", "config": {}}}, "Adam"),
        ({"optimizer": {"class_name": "SGD"}}, "SGD"),
        ({"optimizer": "adam"}, "adam"),
        ({"loss": "mse"}, None),
        (None, None),
    ],
)
def test_the_optimizers_class_wherever_the_version_puts_it(
    training: JsonObject | None, name: str | None
) -> None:
    assert optimizer_class(training) == name
