"""Too little memory, at any allocation or with any limit: what is left is old or new, and one line says why."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.test_faults import SCENARIOS, Bench, Scenario, place

__all__ = ["place"]

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs fork, and limits of memory"),
    # Threads that NumPy's libraries keep are idle when we fork.
    pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning"),
]

#: Runs for each scenario that is slow.
MANY = 250
#: Where the sample fails: at this allocation (there are some 50,000, the first before any module of ours is loaded), or
#: with so many bytes of room (they need 3 MB).
SAMPLE = [
    ("allocation", 25),
    ("allocation", 150),
    ("allocation", 220),
    ("allocation", 5_000),
    ("allocation", 20_000),
    ("room", 500_000),
]
#: So many allocations that fail one after another are noticed by any run.
NOTICED = 300


def allocations(bench: Bench) -> int:
    """About how many there are in a run."""
    low, high = 1000, 1 << 22
    while high - low > low // 20:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_over(bench, middle) else (middle, high)
    return low


def _is_over(bench: Bench, point: int) -> bool:
    from tests.faults.disk import child
    from tests.faults.memory import Allocation

    fault = Allocation(point, NOTICED)
    return child(bench.scenario.args.split(), bench.fresh(), fault, plain=bench.scenario.plain) == 0


def room(bench: Bench) -> int:
    """About how many bytes of address space a run needs."""
    from tests.faults.disk import child
    from tests.faults.memory import Room

    low, high = 0, 1 << 30
    while high - low > 1 << 17:
        middle = (low + high) // 2
        code = child(
            bench.scenario.args.split(), bench.fresh(), Room(middle), plain=bench.scenario.plain
        )
        low, high = (low, middle) if code == 0 else (middle, high)
    return high


def ended(bench: Bench, kind: str, point: int) -> str:
    """How a run with a fault at a place ended; `Bench.lacking` asserts what must hold of it."""
    from tests.faults import memory

    fault = memory.Allocation(point) if kind == "allocation" else memory.Room(point)
    return bench.lacking(fault, f"{kind} {point}")


def _skip_without(kind: str) -> None:
    from tests.faults.memory import testcapi

    if kind == "allocation" and testcapi() is None:
        pytest.skip("this Python cannot fail an allocation")


@pytest.mark.parametrize(
    "scenario", [s for s in SCENARIOS if s.name == "in-place"], ids=lambda s: s.name
)
def test_a_sample(scenario: Scenario, place: Path) -> None:
    """Some of each kind."""
    bench = Bench(scenario, place)
    _skip_without("allocation")
    assert "told" in [ended(bench, kind, point) for kind, point in SAMPLE]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["allocation", "room"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_many(scenario: Scenario, kind: str, place: Path) -> None:
    """Many of each kind; most of them say that it was the memory."""
    _skip_without(kind)
    bench = Bench(scenario, place)
    most = allocations(bench) if kind == "allocation" else room(bench)
    ends = Counter(ended(bench, kind, 1 + (2 * k + 1) * most // (2 * MANY)) for k in range(MANY))
    assert ends["told"] > MANY // 2, ends
