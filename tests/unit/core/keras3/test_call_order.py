"""The order of a graph's calls."""

from __future__ import annotations

from tests.unit.core.build import DENSE, functional, layer, source
from unnest.core.architecture import read
from unnest.core.keras3.call_order import in_order


def test_calls_come_after_what_they_read() -> None:
    """Stored the other way round; among calls that are ready, in stored order."""
    graph = read(functional(
        layer("y", ["b", "a"], kind="Add"), layer("b", ["a"], **DENSE), layer("a", ["x"], **DENSE), source(),
    ))  # fmt: skip
    assert [at.layer for at, _ in in_order(graph)] == ["x", "a", "b", "y"]
