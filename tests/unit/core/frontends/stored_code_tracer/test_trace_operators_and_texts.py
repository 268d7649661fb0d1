"""Operators on plain values give what Python gives."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.frontends.code_of import result


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["return 7 // 2 * 2 - -1"], 7),
        (["return 'a' == 'a' and None != 'b'"], True),
        (["return [0] * tf.shape(x)[1]"], [0] * 4),
        (["return f'{1 + 1:02d}'"], "02"),
    ],
)
def test_of_plain_values(lines: list[str], value: Any) -> None:
    assert result(*lines) == value
