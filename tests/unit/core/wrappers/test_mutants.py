"""One stored number of one slice is another: row arithmetic says whether the towers still give the batch back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import isclose
from typing import Any, TypeAlias

import pytest

from tests.judged import check_verdict
from tests.unit.core.wrappers.towers import STORED, Entry, model
from unnest.budget import memoizing
from unnest.core.architecture import read
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.wrapper_records import Recognised

Told: TypeAlias = "dict[str, Any]"
Rows: TypeAlias = Callable[[Told, int], Sequence[int]]


def by_index(told: Told, n: int) -> Sequence[int]:
    """x[i * n // parts : (i + 1) * n // parts]."""
    return range(n)[told["i"] * n // told["parts"] : (told["i"] + 1) * n // told["parts"]]


def by_index_from_one(told: Told, n: int) -> Sequence[int]:
    """The same, counted from 1."""
    return by_index({"i": told["i"] - 1, "parts": told["parts"]}, n)


def by_share(told: Told, n: int) -> Sequence[int]:
    """x[start * n // total : (start + share) * n // total]."""
    start, share, total = told["start"], told["share"], told["total"]
    return range(n)[int(start * n // total) : int((start + share) * n // total)]


def by_fraction(told: Told, n: int) -> Sequence[int]:
    """x[int(lo * n) : int(hi * n)]; a bound beyond the batch is a mistake, though slicing would not say so."""
    if told["hi"] > 1 and not isclose(told["hi"], 1):
        return ()
    return range(n)[int(told["lo"] * n) : int(told["hi"] * n)]


def by_percent(told: Told, n: int) -> Sequence[int]:
    """The same in hundredths."""
    return by_fraction({key: value / 100 for key, value in told.items()}, n)


def halves(k: int) -> Iterator[tuple[str, Rows, list[Told]]]:
    """The forms of the arguments of k slices."""
    yield "index", by_index, [{"i": i, "parts": k} for i in range(k)]
    yield "index from 1", by_index_from_one, [{"i": i + 1, "parts": k} for i in range(k)]
    shares = [3, 2, 3, 4][:k]
    starts = [sum(shares[:i]) for i in range(k)]
    yield (
        "shares",
        by_share,
        [
            {"share": s, "total": sum(shares), "start": a}
            for s, a in zip(shares, starts, strict=True)
        ],
    )
    even = [{"share": 1, "total": k, "start": i} for i in range(k)]
    yield "even shares", by_share, even
    ends = [i / k for i in range(k + 1)]
    yield "fractions", by_fraction, [{"lo": a, "hi": b} for a, b in pairwise(ends)]
    edges = [*[0, 40, 60, 75][:k], 100]
    yield "percent", by_percent, [{"lo": a, "hi": b} for a, b in pairwise(edges)]


BATCHES = (60, 120, 1200)
FORMS = [pytest.param(k, *form, id=f"{form[0]} of {k}") for k in (2, 3, 4) for form in halves(k)]


def gives_back(rows: Rows, told: Sequence[Told]) -> bool:
    """Return True if the slices, one after the other, are all rows in order."""
    try:
        return all([r for one in told for r in rows(one, n)] == [*range(n)] for n in BATCHES)
    except (ZeroDivisionError, TypeError):
        return False


def mutants(told: Sequence[Told]) -> Iterator[list[Told]]:
    """Every number in turn, and, where the form has no number to spare, every one in all slices at once, as another."""
    for key, value in ((key, value) for one in told for key, value in one.items()):
        for other in {value + 1, value - 1, 2 * value, 0, 1, 2, 101, -1, 0.5} - {value}:
            for at in range(len(told)):
                yield [{**one, key: other} if i == at else one for i, one in enumerate(told)]
            if len(told[0]) == 2:
                yield [{**one, key: other} for one in told]


def seen(store: Callable[[str, Mapping[str, Any]], Entry], *told: Sequence[Told]) -> Recognised:
    """Return what is recognised around these slices, a lane for each input."""
    lanes = [[store(f"s{j}_{i}", one) for i, one in enumerate(lane)] for j, lane in enumerate(told)]
    with memoizing():
        return recognise_layer_graph.recognise(read(model(lanes)))


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize(("k", "form", "rows", "told"), FORMS)
def test_what_does_not_give_the_batch_back_is_no_wrapper(
    stored: str, k: int, form: str, rows: Rows, told: list[Told]
) -> None:
    """The slices as they are make one; no mutant does that computes something else."""
    store = STORED[stored]
    assert gives_back(rows, told), (k, form)
    check_verdict(seen(store, told), "parallel")
    late = "cells" in stored  # equal cells may have been bound late
    wrong = [
        m
        for m in mutants(told)
        if not gives_back(rows, m) and not (late and all(one == m[0] for one in m))
    ]
    assert wrong
    assert [m for m in wrong if seen(store, m).wrappers] == []


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize(("k", "form", "rows", "told"), FORMS)
def test_one_input_of_two_is_enough(
    stored: str, k: int, form: str, rows: Rows, told: list[Told]
) -> None:
    """Towers that pair the rows of one input with others of the second: cross-wired, or cut in other places."""
    store = STORED[stored]
    check_verdict(seen(store, told, told), "parallel")
    crossed = [*told[1:], told[0]]
    assert not gives_back(rows, crossed), (k, form)
    check_verdict(seen(store, told, crossed), "clean")
    check_verdict(seen(store, crossed, told), "clean")


def test_inputs_cut_in_different_places() -> None:
    """Each of them gives its own batch back; the pairs are wrong."""
    one = [{"share": 3, "total": 5, "start": 0}, {"share": 2, "total": 5, "start": 3}]
    other = [{"share": 2, "total": 5, "start": 0}, {"share": 3, "total": 5, "start": 2}]
    check_verdict(seen(STORED["config"], other, other), "parallel")
    check_verdict(seen(STORED["config"], one, other), "clean")
