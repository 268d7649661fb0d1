"""From measured times to shares of a batch: devices whose truth is a formula are found out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnest.keras.balance_search import (
    Trial,
    first_shares,
    next_shares,
    presentable,
    seconds_at,
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
    assert next_shares(trial) == pytest.approx((1024 * 2 / 3, 1024 / 3))
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
        ((820, 568), (10, 7)),
        ((825, 550), (3, 2)),
        ((1, 1023), (1, 1013)),
        ((400, 300, 200), (4, 3, 2)),
    ],
)
def test_ratios_are_as_small_as_one_percent_allows(rows: tuple[int, ...], ratios: tuple[int, ...]) -> None:
    assert presentable(rows) == ratios


def test_a_device_that_measured_nothing_has_no_share() -> None:
    with pytest.raises(ValueError, match="without a single measured size"):
        first_shares([[(64, 1.0)], []], 128)
