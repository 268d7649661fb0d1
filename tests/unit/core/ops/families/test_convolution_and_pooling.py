"""Operations on each row by itself."""

from __future__ import annotations

import pytest

from unnest.core.ops.call import OpCall
from unnest.core.ops.operation_kinds import ROW_BY_ROW, Kind
from unnest.core.ops.registry import kind_of


@pytest.mark.parametrize(("name", "kind"), [("conv2d", Kind.WINDOW), ("biasadd", Kind.ROWWISE)])
def test_rows_stay_apart(name: str, kind: Kind) -> None:
    assert kind_of(OpCall(name, (), {})) is kind
    assert kind in ROW_BY_ROW
