"""Owners out of names alone: scopes that all share, and Keras 1's spelling."""

from __future__ import annotations

import pytest

from tests.unit.core.build import tensors
from unnest.core.assign.name_owners import owners


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a/kernel:0", "a/bias:0", "b/kernel:0"], {"a": 2, "b": 1}),
        (["scope/a/kernel:0", "scope/b/kernel:0"], {"a": 1, "b": 1}),  # a scope that all share
        (["dense_1_W", "dense_1_b", "dense_2_W"], {"dense_1": 2, "dense_2": 1}),  # Keras 1
        (["bn_1_gamma", "bn_1_running_mean"], {"bn_1": 2}),
    ],
)
def test_owners_by_name(names: list[str], expected: dict[str, int]) -> None:
    assert {owner: len(own) for owner, own in owners(tensors(*names)).items()} == expected
