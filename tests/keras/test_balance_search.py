"""From measured times to shares of a batch: devices whose truth is a formula are found out."""

from __future__ import annotations

import random
from statistics import median, quantiles

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unnest.keras.ratio_search import (
    EQUAL,
    LAST,
    REFINEMENTS,
    Trial,
    first_shares,
    next_shares,
    presentable,
    refine,
    seconds_at,
    settled,
    whole_rows,
)

SIZES = (64, 128, 256, 512, 1024)


def curve(cost_a_step: float, cost_a_row: float) -> list[tuple[float, float]]:
    """A device whose step costs so much at all and so much a row."""
    return [(rows, cost_a_step + cost_a_row * rows) for rows in SIZES]


@pytest.mark.parametrize("rows", [1, 64, 100, 700, 3000])
def test_a_curve_is_straight_between_and_beyond_its_points(rows: float) -> None:
    assert seconds_at(curve(0.5, 0.01), rows) == pytest.approx(0.5 + 0.01 * rows)
    assert seconds_at([(64, 2.0)], rows) == pytest.approx(2.0 * rows / 64)


@given(st.lists(st.tuples(st.floats(0, 0.2), st.floats(1e-4, 1e-2)), min_size=2, max_size=4))
def test_first_shares_end_together(costs: list[tuple[float, float]]) -> None:
    """All devices that get rows are done at one time, and those that get none would end later with one."""
    curves = [curve(*cost) for cost in costs]
    shares = first_shares(curves, 1024)
    assert sum(shares) == pytest.approx(1024)
    times = [seconds_at(c, share) for c, share in zip(curves, shares, strict=True) if share > 1]
    assert max(times) - min(times) <= 1e-3 * max(times)


def test_speeds_of_1260_and_875_a_second() -> None:
    """The page's two cards: 512 rows on the one go with 355 on the other."""
    shares = first_shares([curve(0, 1 / 1260), curve(0, 1 / 875)], 867)
    assert [round(share) for share in shares] == [512, 355]


def test_next_shares_follow_the_speeds_at_work_together() -> None:
    trial = Trial((512, 512), (0.4, 0.8), 0.8, 0.79, 0.82)
    assert next_shares([trial]) == pytest.approx((1024 * 2 / 3, 1024 / 3))
    assert trial.apart == pytest.approx(0.5)
    assert trial.samples_per_second == pytest.approx(1280)


@given(st.lists(st.floats(0.01, 500), min_size=2, max_size=5), st.integers(5, 2000))
def test_whole_rows_lose_and_invent_none(weights: list[float], batch: int) -> None:
    shares = [batch * w / sum(weights) for w in weights]
    rows = whole_rows(shares, batch)
    assert sum(rows) == batch
    assert min(rows) >= 1
    tiny = sum(share < 1 for share in shares)
    assert all(abs(r - s) <= 1 + tiny for r, s in zip(rows, shares, strict=True))


@pytest.mark.parametrize(
    ("rows", "ratios"),
    [
        ((512, 512), (1, 1)),
        ((820, 568), (13, 9)),
        ((825, 550), (3, 2)),
        ((1, 1023), (1, 1018)),
        ((400, 300, 200), (4, 3, 2)),
    ],
)
def test_ratios_are_as_small_as_half_a_percent_allows(
    rows: tuple[int, ...], ratios: tuple[int, ...]
) -> None:
    assert presentable(rows) == ratios


def test_a_device_that_measured_nothing_has_no_share() -> None:
    with pytest.raises(ValueError, match="without a single measured size"):
        first_shares([[(64, 1.0)], []], 128)


BATCH = 1024
EXTRA = 70
"""What starting a step costs, in rows: the page's card does 684 samples a second at 64 rows and 1345 at 1024."""


class Machine:
    """Devices of known speed whose every measurement is off by a random part; seven rounds a trial, as in life."""

    def __init__(self, costs: tuple[float, ...], noise: float, seed: int) -> None:
        self.costs, self.noise, self.random = costs, noise, random.Random(seed)  # noqa: S311 - noise, not secrets

    def step(self, rows: tuple[int, ...]) -> list[float]:
        """Seconds of each tower."""
        return [
            cost * (EXTRA + n) * self.random.lognormvariate(0, self.noise)
            for cost, n in zip(self.costs, rows, strict=True)
        ]

    def curves(self) -> list[list[tuple[float, float]]]:
        """The time curve of each device alone."""
        count = len(self.costs)
        measured = [[self.step((rows,) * count) for _ in range(7)] for rows in SIZES]
        return [
            [
                (float(rows), median(t[i] for t in turns))
                for rows, turns in zip(SIZES, measured, strict=True)
            ]
            for i in range(count)
        ]

    def trial(self, rows: tuple[int, ...]) -> Trial:
        """All devices at once, equal shares beside them."""
        equal = whole_rows([BATCH / len(rows)] * len(rows), BATCH)
        rounds = [(self.step(equal), self.step(rows)) for _ in range(7)]
        low, middle, high = quantiles([max(turn) for _, turn in rounds], n=4)
        gain, *_ = quantiles([max(base) / max(turn) - 1 for base, turn in rounds], n=4)
        towers = tuple(median(turn[i] for _, turn in rounds) for i in range(len(rows)))
        return Trial(rows, towers, middle, low, high, gain)

    def trials(self) -> list[Trial]:
        first = whole_rows(first_shares(self.curves(), BATCH), BATCH)
        return list(refine(first, BATCH, self.trial))

    def exact(self) -> list[float]:
        """The shares with which all towers end together."""
        end = (BATCH + EXTRA * len(self.costs)) / sum(1 / cost for cost in self.costs)
        return [end / cost - EXTRA for cost in self.costs]


@given(st.floats(1.2, 3), st.integers(0, 2**32))
@settings(max_examples=15)
def test_the_true_ratio_of_noisy_devices_is_found(slower: float, seed: int) -> None:
    """Medians of steps that scatter by 3 % lead to within 4 % up to 2:1, and to within 5 % beyond."""
    machine = Machine((1.0, slower), 0.03, seed)
    trials = machine.trials()
    assert LAST <= len(trials) <= REFINEMENTS
    split = settled(trials)
    assert split is not None
    ratios = presentable(split)
    exact = machine.exact()
    assert ratios[0] / ratios[1] == pytest.approx(
        exact[0] / exact[1], rel=0.04 if slower <= 2 else 0.05
    )


@given(st.integers(2, 4), st.floats(0, 0.04), st.integers(0, 2**32))
@settings(max_examples=15)
def test_equal_devices_need_no_ratios(count: int, noise: float, seed: int) -> None:
    machine = Machine((1.0,) * count, noise, seed)
    assert settled(machine.trials()) is None


def test_the_page_s_two_cards() -> None:
    """1260 and 875 samples a second: the split gains at least 15 % over equal shares; 22 % are possible."""
    for seed in range(8):
        machine = Machine((1.0, 1.44), 0.03, seed)
        split = settled(machine.trials())
        assert split is not None
        quiet = Machine((1.0, 1.44), 0, 0)
        assert max(quiet.step((512, 512))) / max(quiet.step(split)) >= 1.15


def test_a_split_that_cannot_be_run_ends_the_search() -> None:
    machine = Machine((1.0, 2.0), 0, 0)
    asked: list[tuple[int, ...]] = []

    def measure(rows: tuple[int, ...]) -> Trial | None:
        asked.append(rows)
        return machine.trial(rows) if len(asked) == 1 else None

    assert [trial.rows for trial in refine((700, 324), BATCH, measure)] == [(700, 324)]
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("rows", "gain", "split"),
    [
        ((683, 341), 0.3, (683, 341)),
        (
            (683, 341),
            EQUAL / 2,
            None,
        ),  # no faster than equal shares, whatever the towers' clocks say
        ((517, 507), 0.3, None),  # what so small a difference seems to gain is noise
    ],
)
def test_a_split_needs_a_gain_that_it_can_have(
    rows: tuple[int, ...], gain: float, split: tuple[int, ...] | None
) -> None:
    assert settled([Trial(rows, (1.0, 1.0), 1.0, 1.0, 1.0, gain)]) == split
