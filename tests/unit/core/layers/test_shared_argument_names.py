"""Groups of arguments: none named twice."""

from __future__ import annotations

from unnest.core.layers import shared_argument_names
from unnest.core.layers.catalog import LAYER_RECORDS


def test_no_argument_stands_twice() -> None:
    groups = {
        name: value
        for name, value in vars(shared_argument_names).items()
        if name.isupper() and isinstance(value, tuple)
    }
    assert [name for name, group in groups.items() if len({*group}) < len(group)] == []
    assert "kernel_constraint" in groups["CONV_LSTM"]


def test_names_of_today() -> None:
    groups = [
        value for name, value in vars(shared_argument_names).items() if name.startswith("KERAS_1")
    ]
    today = {argument for layer in LAYER_RECORDS.values() for argument in layer.arguments or ()}
    assert {new for group in groups for new in group.values()} <= today
    assert all("nb_filter" in group for group in groups if "subsample" in group)
