"""The distribution of a weight's values, small enough for a page."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

#: Equal parts of the range from the least value to the greatest.
BINS = 24


class Histogram(NamedTuple):
    """`counts` of the finite values of a tensor in BINS equal parts from `low` to `high`; `others` are NaN or infinite.

    Of a tensor with one value throughout, all are in the first part.
    """

    low: float
    high: float
    mean: float
    std: float
    counts: tuple[int, ...]
    others: int


def histogram(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Histogram | None:
    """Return the distribution of numbers; None where there is no finite one, or the range exceeds float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = values.astype(np.float64, copy=False).reshape(-1)
        finite = numbers[np.isfinite(numbers)]
        if not finite.size:
            return None
        low, high = float(finite.min()), float(finite.max())
        mean, std = float(finite.mean()), float(finite.std())
    if not np.isfinite([high - low, mean, std]).all():
        return None
    counts = [int(finite.size)] + [0] * (BINS - 1)
    if high > low:
        with suppress(ValueError):  # a range that float64 cannot divide
            counts = [int(n) for n in np.histogram(finite, BINS, (low, high))[0]]
    return Histogram(low, high, mean, std, tuple(counts), int(numbers.size - finite.size))
