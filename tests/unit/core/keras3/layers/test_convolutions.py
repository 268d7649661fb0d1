"""SeparableConv1D."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.layers.making import links, made, one


@pytest.mark.parametrize(("padding", "before"), [("causal", [4, 0]), ("valid", None)])
def test_a_causal_separable_convolution(padding: str, before: list[int] | None) -> None:
    config = {
        "filters": 2, "kernel_size": [3], "strides": [1], "dilation_rate": [2], "padding": padding,
        "data_format": "channels_last", "depth_multiplier": 1, "use_bias": True, "activation": "linear",
    }  # fmt: skip
    layer = made("SeparableConv1D", config)
    if before is None:
        assert one(layer).config["padding"] == padding
    else:
        zeros, inner = links(layer)
        assert (zeros.config["padding"], inner.config["padding"], inner.name) == (before, "valid", "l")
