"""The quick part of the tests and the rest: nothing is in neither, and every package is in the quick one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import parts

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[1]
CONFTEST = """
import pytest
from tests import parts
parts.ONE_IN = {"test_many.py": 3, "test_many.py::test_dear": 0}
parts.ONE_IN_MOST = {"test_many.py::test_cheap": 3}
from tests.conftest import pytest_addoption, pytest_collection_modifyitems, pytest_configure
"""
TESTS = """
import pytest
@pytest.mark.parametrize("n", range(30))
def test_cheap(n): pass
def test_dear(): pass
"""


def passed(pytester: pytest.Pytester, *arguments: str) -> int:
    """Return how many tests a run of pytest passes."""
    return (
        pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)
        .parseoutcomes()
        .get("passed", 0)
    )


def test_what_runs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parts together are all, and a file that is named is run whole."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_many=TESTS)
    quick, rest, every = (passed(pytester, "--part", part) for part in ("quick", "rest", "all"))
    assert (quick + rest, every) == (31, 31)
    assert 3 <= quick <= 20
    assert passed(pytester) == quick
    assert 3 <= passed(pytester, "--part", "most") <= 20
    assert passed(pytester, "test_many.py") == passed(pytester, "-k", "test") == 31


def test_every_line_names_tests() -> None:
    """No line outlives what it names."""
    names = {*parts.ONE_IN, *parts.ONE_IN_MOST}
    files = {name: ROOT / name.partition("::")[0] for name in names}
    assert [name for name, path in files.items() if not path.exists()] == []
    tests = {name: name.rpartition("::")[2] for name in names if "::" in name}
    assert [
        name for name, test in tests.items() if f"def {test}" not in files[name].read_text("utf8")
    ] == []
