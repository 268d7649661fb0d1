"""What is marked slow here runs where it is asked for: `pytest -m slow tests/faults`."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip them elsewhere."""
    if "slow" not in (config.getoption("-m") or ""):
        for item in items:
            if "faults" in item.path.parts and item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow; asked for with -m slow"))
