"""A red unit test names the module that is wrong: every module of the core has one of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest

CORE = Path(unnest.__file__).parent / "core"
MODULES = sorted(
    path.relative_to(CORE) for path in CORE.rglob("*.py") if path.name != "__init__.py"
)


def unit_tests(module: Path) -> list[Path]:
    """The test files of a module of the core: one of its name, or those in a folder of its name."""
    room = Path(__file__).parent / "core" / module.parent
    files = [*room.glob(f"test_{module.name}"), *room.glob(f"{module.stem}/test_*.py")]
    return [path for path in files if "def test_" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("module", MODULES, ids=Path.as_posix)
def test_a_module_of_the_core_has_a_unit_test(module: Path) -> None:
    assert unit_tests(module)


def test_a_module_without_one_would_be_told() -> None:
    """And that the core is looked through at all."""
    assert Path("keras3/convert_model_graph.py") in MODULES
    assert unit_tests(Path("keras3/nothing.py")) == []
    assert unit_tests(Path("models.py")) == []
