"""Calls of what may be a builtin, and of what nothing explains."""

from __future__ import annotations

import pytest

from tests.unit.core.frontends.code_of import result
from unnest.core.frontends.python_values import UNKNOWN


@pytest.mark.parametrize(
    "line",
    [
        "return helper(x)",
        "return helper.part(x)[0] + 1",
        "return -helper",
        "return '%d' % 3",
        "return tf.fancy(x)",
        "return tf.concat([helper(x)], 0)",
        "return helper(x) * helper(x)",
        "return sum([helper])",
    ],
)
def test_what_nothing_explains(line: str) -> None:
    assert result(line) is UNKNOWN


def test_a_name_that_may_mean_a_builtin() -> None:
    """Of `any` itself the code of 3.14 sees whether it is Python's; of what else it may be nothing is known."""
    assert result("return tuple(k for k in range(3))") == (0, 1, 2)
    assert result("return any(k for k in range(3))") is True
    assert result("any = helper", "return any(k for k in range(3))") in ("nothing", UNKNOWN)
