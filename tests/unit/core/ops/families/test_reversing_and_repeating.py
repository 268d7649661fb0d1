"""Operations that hand on numbers in another order, or several times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.unit.core.ops.families.test_reshaping import SOURCE, X, done
from unnest.core.model import Unknown
from unnest.core.ops.apply_op_call_to_arrays import apply
from unnest.core.ops.call import OpCall
from unnest.core.ops.element_dtype_and_checks import TooLarge


@pytest.mark.parametrize(
    ("name", "args"),
    [("tile", [X, [10**6, 1]]), ("broadcastto", [X, [10**6, 10**3]]), ("repeat", [X, 10**6, 0])],
)
def test_what_no_memory_holds_is_not_repeated(name: str, args: Sequence[Any]) -> None:
    with pytest.raises(Unknown):
        done(name, *args)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("reshape", [[-1]]),
        ("flatten", []),
        ("batchflatten", []),
        ("roll", [1, 0]),
        ("booleanmask", [[True, False]]),
        ("dynamicpartition", [[0, 1], 2]),
        ("takealongaxis", [[[0], [0]], 1]),
        ("zeroslike", []),
    ],
)
def test_a_view_that_no_memory_holds_is_not_copied(name: str, args: list[Any]) -> None:
    """A view stands for more numbers than it keeps: `x[:, ::-1]` of it is one, too."""
    large = np.broadcast_to(SOURCE[:1, :1], (2, 10**9))
    with pytest.raises(TooLarge):
        apply(OpCall(name, [X, *args], {}), lambda _: large)
    assert apply(OpCall("reverse", [X, [1]], {}), lambda _: large)[0].shape == large.shape
