"""What can be reached in a graph of anything."""

from __future__ import annotations

import pytest

from unnest.core.reach import reached

EDGES: dict[str, list[str]] = {
    name: list(to) for name, to in {"a": "bc", "b": "d", "c": "d", "d": "", "e": "a"}.items()
} | {"loop": ["loop"]}


@pytest.mark.parametrize(
    ("starts", "expected"),
    [("a", "abcd"), ("d", "d"), ("bc", "bcd"), ("e", "abcde"), ("", ""), (["loop"], ["loop"])],
)
def test_all_that_edges_lead_to(starts: list[str], expected: list[str]) -> None:
    assert reached(starts, lambda name: EDGES[name]) == set(expected)


def test_each_is_asked_once() -> None:
    asked: list[str] = []

    def leads_to(name: str) -> list[str]:
        asked.append(name)
        return EDGES[name]

    reached("aa", leads_to)
    assert sorted(asked) == ["a", "b", "c", "d"]


def test_a_chain_of_any_length() -> None:
    assert len(reached([0], lambda n: [n + 1] if n < 100_000 else [])) == 100_001
