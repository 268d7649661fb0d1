"""From measured times to shares of a batch: the arithmetic of `balance`, without a clock and without TensorFlow.

A device's curve is its measured points (rows, seconds for one step with that many rows), ascending in rows. Between
and beyond them it is taken for straight, which is what a fixed cost a step plus a cost a row gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

Measurement = tuple[float, float]
"""(rows, seconds for a step with that many rows)."""

HALVINGS = 60
"""Steps of bisection: as fine as a float."""

REFINEMENTS = 6
"""How often the split is moved at most."""

TOGETHER = 0.01
"""Towers that end within this part of the slowest one's time end together."""

LAST = 3
"""Number of last trials from which the towers' speeds are computed."""

EQUAL = 0.02
"""A split whose gain over equal shares is less than this is not worth its numbers."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One split of a batch, measured with all towers at work.

    `rows[i]` and `tower_seconds[i]` are tower i's; `seconds` is the median of the whole step, `low` and `high` its
    quartiles. `gain` is by what part it was faster than equal shares, measured in the same rounds: the lower
    quartile over the rounds, so that noise alone seldom makes it positive. `over_single` is by what part its throughput
    was above the best single device's, the median over the rounds; None where that was not measured beside it.
    """

    rows: tuple[int, ...]
    tower_seconds: tuple[float, ...]
    seconds: float
    low: float
    high: float
    gain: float = 0.0
    over_single: float | None = None

    @property
    def samples_per_second(self) -> float:
        """Throughput of the whole batch at the median."""
        return sum(self.rows) / self.seconds

    @property
    def apart(self) -> float:
        """Idle part of the slowest tower's time in the fastest tower, 0 to 1; 0 means that they finish together."""
        return 1 - min(self.tower_seconds) / max(self.tower_seconds)


def seconds_at(curve: Sequence[Measurement], rows: float) -> float:
    """The time of a step with `rows` rows on a device with this curve (at least one point)."""
    if len(curve) == 1:
        return curve[0][1] * rows / curve[0][0]
    after = next((i for i, (at, _) in enumerate(curve) if at >= rows), len(curve) - 1)
    (r0, t0), (r1, t1) = curve[max(after - 1, 0)], curve[max(after, 1)]
    return t0 + (t1 - t0) * (rows - r0) / (r1 - r0)


def first_shares(
    curves: Sequence[Sequence[Measurement]], batch: int, most: Sequence[float] | None = None
) -> tuple[float, ...]:
    """Return how many of `batch` rows each device takes for all to finish at once, were they alone.

    `most[i]`: the rows that device i holds; None: all of them. If the devices together hold fewer than `batch`, each
    takes more than it holds, in proportion.

    Raises:
        ValueError: a curve has no point.

    """
    if any(not curve for curve in curves):
        raise ValueError("a device without a single measured size has no share")
    limits = most or [float(batch)] * len(curves)
    low, high = 0.0, max(seconds_at(curve, batch) for curve in curves)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if (
            sum(_rows_in(curve, middle, limit) for curve, limit in zip(curves, limits, strict=True))
            < batch
        ):
            low = middle
        else:
            high = middle
    rows = [_rows_in(curve, high, limit) for curve, limit in zip(curves, limits, strict=True)]
    return tuple(batch * r / sum(rows) for r in rows)


def _rows_in(curve: Sequence[Measurement], seconds: float, most: float) -> float:
    """Return how many rows a device computes in a time: the inverse of `seconds_at`, at most `most`."""
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if seconds_at(curve, middle) < seconds:
            low = middle
        else:
            high = middle
    return high


def refine(
    first: tuple[int, ...], batch: int, measure: Callable[[tuple[int, ...]], Trial | None]
) -> Iterator[Trial]:
    """Trials of a split that moves from `first` until all towers end together: LAST to REFINEMENTS of them.

    `measure(rows)` tries one; None is for one that cannot be run, which ends the search.
    """
    trials: list[Trial] = []
    rows = first
    while len(trials) < REFINEMENTS:
        trial = measure(rows)
        if trial is None:
            return
        yield trial
        trials.append(trial)
        if len(trials) >= LAST and trial.apart <= TOGETHER:
            return
        rows = whole_rows(next_shares(trials[-LAST:]), batch)


def next_shares(trials: Sequence[Trial]) -> tuple[float, ...]:
    """Shares at the speeds that the towers showed at work together: rows per second, each tower's mean."""
    by_tower = zip(
        *([r / t for r, t in zip(x.rows, x.tower_seconds, strict=True)] for x in trials),
        strict=True,
    )
    speeds = [sum(tower) / len(trials) for tower in by_tower]
    return tuple(sum(trials[-1].rows) * speed / sum(speeds) for speed in speeds)


def settled(trials: Sequence[Trial]) -> tuple[int, ...] | None:
    """Return the split that the trials lead to, in rows, at the mean speeds of the last LAST; None for equal shares.

    Unequal shares are proposed only if a trial was faster than equal ones, and the difference can be measured.
    """
    if not any(trial.gain > EQUAL for trial in trials):
        return None
    rows = whole_rows(next_shares(trials[-LAST:]), sum(trials[-1].rows))
    return rows if sum(rows) / len(rows) / min(rows) - 1 > EQUAL else None


def whole_rows(shares: Sequence[float], batch: int) -> tuple[int, ...]:
    """Shares as whole rows, at least one each, that sum to `batch` (at least one row a device)."""
    rows = [max(1, int(share)) for share in shares]
    by_remainder = sorted(range(len(rows)), key=lambda i: rows[i] - shares[i])
    for i in range(batch - sum(rows)):
        rows[by_remainder[i % len(rows)]] += 1
    while sum(rows) > batch:
        rows[rows.index(max(rows))] -= 1
    return tuple(rows)


def presentable(rows: Sequence[int], tolerance: float = 0.005) -> tuple[int, ...]:
    """The smallest whole numbers in the proportion of `rows`, each share within `tolerance` of its exact one."""
    total = sum(rows)
    for scale in range(len(rows), total + 1):
        parts = [max(1, round(r * scale / total)) for r in rows]
        if all(
            abs(Fraction(p, sum(parts)) * total - r) <= tolerance * r
            for p, r in zip(parts, rows, strict=True)
        ):
            return tuple(p // gcd(*parts) for p in parts)
    return tuple(r // gcd(*rows) for r in rows)
