"""GaussianNoise."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.layers.making import links, made, one


@pytest.mark.parametrize(("deviation", "scales"), [(0.5, None), (1.0, None), (3.0, [0.25, 4.0]), (4, [0.25, 4.0])])
def test_noise_of_more_than_one(deviation: float, scales: list[float] | None) -> None:
    """As the noise of a smaller tensor, by a power of two."""
    noise = made("GaussianNoise", {"stddev": deviation})
    if scales is None:
        assert one(noise).config["stddev"] == deviation
    else:
        smaller, inner, larger = links(noise)
        assert [smaller.config["scale"], larger.config["scale"]] == scales
        assert (inner.config["stddev"], larger.name) == (deviation / 4, "l")
