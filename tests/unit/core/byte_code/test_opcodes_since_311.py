"""The numbers since 3.11, and the empty words behind each, are those of each Python."""

from __future__ import annotations

import pytest

from tests.unit.core.byte_code.test_opcode_tables import BY_VERSION, differences, official
from tests.unit.core.keras3.lambdas.compiled import PYTHONS


@pytest.mark.parametrize("version", [v for v in PYTHONS if BY_VERSION[v].release >= (3, 11)])
def test_numbers_names_and_caches(version: str) -> None:
    assert differences(BY_VERSION[version], *official()[version]) == []
