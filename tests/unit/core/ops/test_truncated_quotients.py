"""Quotients towards zero, of whole numbers and of fractions."""

from __future__ import annotations

import numpy as np

from unnest.core.ops.truncated_quotients import truncated_quotient, whole_quotient


def test_quotients_are_rounded_towards_zero() -> None:
    assert truncated_quotient(np.array([7, -7]), np.array(2)).tolist() == [3, -3]
    assert truncated_quotient(np.array([7.0, -7.0]), np.array(2.0)).tolist() == [3.5, -3.5]
    assert whole_quotient(np.array([7.0, -7.0]), np.array(2.0)).tolist() == [3.0, -3.0]
