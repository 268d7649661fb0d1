"""Instructions that move values, and those that take more than there is."""

from __future__ import annotations

import pytest

from unnest.core.opcodes import Impossible
from unnest.core.value_stack import ValueStack


class Letters(ValueStack[str]):
    """`abc`, c on top; the tests see what is left."""

    def __init__(self) -> None:
        super().__init__()
        self._push("a", "b", "c")

    def after(self, move: str, *arguments: int) -> str:
        """What is left by one of the stack's moves."""
        getattr(self, f"_{move}")(*arguments)
        return "".join(self._stack)


@pytest.mark.parametrize(
    ("move", "arguments", "left"),
    [
        ("pop", (), "ab"),
        ("pop_many", (2,), "a"),
        ("pop_many", (0,), "abc"),
        ("rotate", (3,), "cab"),
        ("copy", (2,), "abcb"),
        ("swap", (3,), "cba"),
    ],
)
def test_moves(move: str, arguments: tuple[int, ...], left: str) -> None:
    assert Letters().after(move, *arguments) == left


@pytest.mark.parametrize(
    ("move", "count"), [("pop_many", 4), ("rotate", 4), ("copy", 4), ("copy", 0), ("swap", 4), ("swap", 0)]
)
def test_more_than_there_is(move: str, count: int) -> None:
    with pytest.raises(Impossible):
        Letters().after(move, count)
