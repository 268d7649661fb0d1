"""Which optimizers and schedules are Keras's own."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras_facts.optimizer_classes import custom_optimizers


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
        ({"class_name": "SGD", "config": {"learning_rate": {"class_name": "CosineDecay", "config": {}}}}, []),
        ({"class_name": "SGD", "config": {"learning_rate": {"class_name": "WarmUp", "config": {}}}}, ["WarmUp"]),
        ({"class_name": "LossScaleOptimizer", "config": {"inner_optimizer": {"class_name": "Mine"}}}, ["Mine"]),
        (None, []),
    ],
)
def test_optimizers_that_a_loader_is_to_be_given(optimizer: Any, names: list[str]) -> None:
    assert custom_optimizers({"optimizer": optimizer}) == custom_optimizers({"optimizer_config": optimizer}) == names
    assert custom_optimizers(None) == []
