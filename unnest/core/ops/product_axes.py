"""Axes of the tensors of a product, and the sums over them, in letters: a matrix product is `ik`, `kj` to `ij`.

A small letter is an axis of one tensor, or one that is summed over where both tensors have it; a capital is an axis
along which several products stand side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from unnest.core.model import Unknown

MATRIX = 2
"""The axes of a matrix."""

Ranks: TypeAlias = "Sequence[int | None]"
"""The numbers of axes of a product's tensors, None for one that is not known."""

AXES, STACK = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def as_matrices(ranks: Ranks) -> tuple[int, int]:
    """Return the numbers of axes of two tensors; unknown ones count as matrices."""
    first, second = (MATRIX if rank is None else rank for rank in ranks)
    return first, second


def of_matrices(ranks: tuple[int, int], are_turned: tuple[bool, bool]) -> tuple[list[str], str]:
    """Axis letters of a product of two stacks of matrices, each transposed or not. Raises Unknown for vectors."""
    if min(ranks) < MATRIX:
        raise Unknown("a matrix product of vectors")
    stack = STACK[: max(ranks) - MATRIX]
    stacks = [stack[len(stack) + MATRIX - rank :] for rank in ranks]
    matrices = ["ki" if are_turned[0] else "ik", "jk" if are_turned[1] else "kj"]
    return [before + matrix for before, matrix in zip(stacks, matrices, strict=True)], f"{stack}ij"


def of_tensordot(
    ranks: tuple[int, int], summed: tuple[Sequence[int], Sequence[int]]
) -> tuple[list[str], str]:
    """Axis letters of a tensordot: axes `summed[0]` of the first tensor are summed with `summed[1]` of the second."""
    first, second = AXES[: ranks[0]], AXES[ranks[0] : sum(ranks)]
    for one, other in zip(*summed, strict=True):
        second = second.replace(second[other], first[one])
    return [first, second], "".join(
        letter for letter in first + second if (first + second).count(letter) == 1
    )


def operands_of(equation: str) -> list[str]:
    """Return the letters that an equation has for each of its tensors."""
    return equation.replace(" ", "").partition("->")[0].split(",")


def of_einsum(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Axis letters of an einsum, `...` spelled out; without `->` the output has each letter that occurs once."""
    _, arrow, output = equation.replace(" ", "").partition("->")
    operands = operands_of(equation)
    hidden = [rank - len(each) + len(REST) for each, rank in zip(operands, ranks, strict=True)]
    inner = "".join(letter for letter in STACK if letter not in equation)[
        : _longest(operands, hidden)
    ]
    spelled = [
        each.replace(REST, inner[len(inner) - number :])
        for each, number in zip(operands, hidden, strict=True)
    ]
    letters = "".join(spelled)
    implied = inner + "".join(
        sorted(x for x in {*letters} if letters.count(x) == 1 and x not in inner)
    )
    return spelled, output.replace(REST, inner) if arrow else implied


REST = "..."
"""The axes that an equation does not name."""


def _longest(operands: Sequence[str], hidden: Sequence[int]) -> int:
    return max(
        (number for each, number in zip(operands, hidden, strict=True) if REST in each), default=0
    )
