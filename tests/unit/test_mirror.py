"""A red unit test names the module that is wrong: every module of the core has one of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest

CORE = Path(unnest.__file__).parent / "core"
MODULES = sorted(path.relative_to(CORE) for path in CORE.rglob("*.py") if path.name != "__init__.py")


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_of_the_core_has_a_unit_test(module: Path) -> None:
    own = Path(__file__).parent / "core" / module.parent
    assert (own / f"test_{module.name}").exists() or list(own.glob(f"{module.stem}/test_*.py"))
