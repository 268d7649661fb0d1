"""Owners out of names alone: scopes that all share, and Keras 1's spelling."""

from __future__ import annotations

import pytest

from tests.unit.core.build import tensors
from unnest.core.assign.owners_by_name import owners


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a/kernel:0", "a/bias:0", "b/kernel:0"], {"a": 2, "b": 1}),
        (["scope/a/kernel:0", "scope/b/kernel:0"], {"a": 1, "b": 1}),  # a scope that all share
        (["dense_1_W", "dense_1_b", "dense_2_W"], {"dense_1": 2, "dense_2": 1}),  # Keras 1
        (["bn_1_gamma", "bn_1_running_mean"], {"bn_1": 2}),
        (["lstm_1_W_i:0", "lstm_1_b_o:0", "lstm_2_U_f:0"], {"lstm_1": 2, "lstm_2": 1}),  # a weight a gate
        (
            ["highway_1_W_carry:0", "highway_1_W:0", "srelu_1_t_left:0", "sep_pointwise_kernel:0"],
            {"highway_1": 2, "srelu_1": 1, "sep": 1},
        ),
        (["my_W_x:0", "b_c/kernel:0"], {"my_W": 1, "b_c": 1}),  # none of Keras's own names; a scope
    ],
)
def test_owners_by_name(names: list[str], expected: dict[str, int]) -> None:
    assert {owner: len(own) for owner, own in owners(tensors(*names)).items()} == expected
