"""Arguments of an operation by any of their names; which operations join."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.core.ops.families.test_reshaping import X
from unnest.core.model import Unknown
from unnest.core.ops.call import OpCall
from unnest.core.ops.registry import OPERATIONS, argument


def test_arguments_by_any_name() -> None:
    split = OPERATIONS["split"]
    for call in (
        split.bind([X, 2, 0], {}),
        split.bind([], {"value": X, "num_or_size_splits": 2, "split_dim": 0}),
    ):
        assert call == {"x": X, "parts": 2, "axis": 0}
    assert argument(OpCall("sum", [X], {"reduction_indices": 1}), "axis") == 1
    assert argument(OpCall("sum", [X, 1], {}), "axis") == 1
    assert argument(OpCall("unheard_of", [X, 1], {}), "axis") is None


def test_an_argument_that_is_not_taken() -> None:
    with pytest.raises(Unknown):
        OPERATIONS["identity"].bind([X], {"other": 1})
    with pytest.raises(Unknown):
        OPERATIONS["identity"].bind([X, X], {})
    assert OPERATIONS["identity"].bind([X], {"name": "n", "other": None}) == {"x": X}


def test_additions_alone_join_what_stands_between_zeros() -> None:
    assert {each.name for each in OPERATIONS.values() if each.adds} == {"add", "addn"}
    assert OPERATIONS["mul"].number_function is np.multiply
