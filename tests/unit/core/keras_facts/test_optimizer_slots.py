"""The order of slots that are stored by name."""

from __future__ import annotations

import pytest

from unnest.core.keras_facts.optimizer_slots import slot_order


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
        ({"m", "u"}, None),  # an optimizer that nobody knows
    ],
)
def test_slot_order(kinds: set[str], order: tuple[str, ...] | None) -> None:
    assert slot_order(kinds) == order
