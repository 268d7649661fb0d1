"""The rows of a batch for each tower: pure arithmetic, on numbers and on tensors alike.

Tower i takes the rows from `n * (r_0 + .. + r_(i-1)) // total` up to `n * (r_0 + .. + r_i) // total`: every row goes to
exactly one tower, and no tower is a whole row off its exact share. The last tower has a row as long as there is one at
all (its lower bound is below n).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from math import gcd, lcm
from typing import Any

LIMIT = 2**31
"""Bounds are computed in int64: totals below this times any batch below 2**32 cannot overflow."""


def whole_ratios(ratios: Iterable[float], towers: int) -> tuple[int, ...]:
    """Return the ratios as the smallest whole numbers in the same proportion.

    Raises ValueError unless there is one positive, finite number per tower. Where floats need
    more digits than LIMIT holds they are rounded, never to zero.
    """
    try:
        ratios = list(ratios)
    except TypeError:
        raise ValueError(
            f"ratios={ratios!r}: give one number for each of {towers} devices; cpu_merge and cpu_relocation go by name"
        ) from None
    if len(ratios) != towers:
        raise ValueError(
            f"ratios={ratios} holds {len(ratios)} numbers, one for each of {towers} devices is needed"
        )
    try:
        fractions = [Fraction(str(r)) for r in ratios]
    except ValueError:
        raise ValueError(f"ratios={ratios}: every ratio must be a finite number") from None
    if min(fractions) <= 0:
        raise ValueError(f"ratios={ratios}: every ratio must be greater than zero")
    scale = lcm(*(r.denominator for r in fractions))
    parts = [int(r * scale) for r in fractions]
    parts = [p // gcd(*parts) for p in parts]
    if sum(parts) >= LIMIT:
        total = sum(fractions)
        parts = [max(1, round(r / total * (LIMIT // 2))) for r in fractions]
    return tuple(parts)


def bounds(n: Any, ratios: Sequence[int]) -> list[Any]:
    """Return the towers' len(ratios) + 1 bounds of `n` rows, `n` an int or an int64 scalar tensor."""
    total = sum(ratios)
    return [n * part // total for part in accumulate(ratios, initial=0)]
