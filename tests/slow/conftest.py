"""Not part of the default run: `pytest -m slow tests/slow`; see docs/development.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.slow.verdicts import TABLE, table


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """True unless the slow suite was asked for, by its marker."""
    del collection_path
    return None if "slow" in (config.getoption("-m") or "") else True


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """The table, and every case that could not be verified, with its reason."""
    runs = config.stash.get(TABLE, [])
    if runs:
        terminalreporter.section("what was loaded, and what it predicts")
        terminalreporter.write_line(table(runs))
