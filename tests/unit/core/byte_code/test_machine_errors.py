"""Entries that a function does not have."""

from __future__ import annotations

import pytest

from unnest.core.byte_code.machine_errors import Impossible, entry


def test_an_entry_that_is_not_there_is_written_by_no_compiler() -> None:
    assert entry("ab", 1) == "b"
    with pytest.raises(Impossible):
        entry("ab", 2)
