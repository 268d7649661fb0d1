"""Variables are read by their place; modules are those that code may import."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.byte_code.test_machine import (
    CODE,
    CONST,
    DEREF,
    IMPORT,
    RETURN,
    run,
)
from unnest.core.model import Unknown


def test_what_is_captured_is_read_by_its_place() -> None:
    made = replace(CODE, free=("a", "b"), slots=("a", "b"))
    assert run(DEREF, 1, RETURN, 0, free=(1, 5), made=made) == 5
    with pytest.raises(Unknown, match=r"^`b`, whose value is not stored$"):
        run(DEREF, 1, RETURN, 0, free=(1,), made=made)


def test_imports_of_known_packages() -> None:
    made = replace(CODE, names=("tensorflow", "keras.backend", "os"), constants=(0, None))
    assert run(CONST, 0, CONST, 1, IMPORT, 0, RETURN, 0, made=made) == "tf"
    assert run(CONST, 0, CONST, 1, IMPORT, 1, RETURN, 0, made=made) == "K"
    with pytest.raises(Unknown, match="an import"):
        run(CONST, 0, CONST, 1, IMPORT, 2, RETURN, 0, made=made)
