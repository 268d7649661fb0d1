"""The search for the one way to share a flat list out."""

from __future__ import annotations

import pytest

from tests.unit.core.build import DENSE, functional, layer, source, tensors
from unnest.core.architecture import read
from unnest.core.weight_assignment.flat_list import partition_search
from unnest.core.weight_assignment.flat_list.owner_candidates import OwnerCandidate, name_bearers
from unnest.core.weight_assignment.flat_list.partition_search import Rules, Search
from unnest.core.weight_assignment.layer_weights_record import Ambiguous

ENTRIES = [
    layer("a", ["x"], **DENSE),
    layer("mine", ["a"], kind="Mine"),
    layer("y", ["mine"], **DENSE),
]
LAYERS = [
    OwnerCandidate.of(each, "")
    for each in read(functional(source(), *ENTRIES, outputs=[("y", 0, 0)])).layers.values()
    if each.name != "x"
]
STRICT = Rules(kept_promises=True, spare_unknown=True)


def counts(names: list[str], rules: Rules) -> list[tuple[int, int]] | None:
    """How many trained and other weights each layer gets; None where no reading is left."""
    weights = tensors(*names)
    shares = Search(weights, LAYERS, name_bearers(weights, LAYERS), rules).only_reading()
    return None if shares is None else [(len(share.trained), len(share.rest)) for share in shares]


def test_promises_leave_one_reading() -> None:
    assert counts(["a/k", "a/b", "y/k", "y/b"], STRICT) == [(2, 0), (0, 0), (2, 0)]


def test_what_bears_the_name_of_a_layer_that_promises_nothing_is_its() -> None:
    names = ["a/k", "a/b", "mine/p", "mine/q", "y/k", "y/b"]
    assert counts(names, STRICT) == [(2, 0), (2, 0), (2, 0)]


def test_where_nothing_fits_there_is_none() -> None:
    assert counts(["a/k", "a/b", "y/k"], STRICT) is None


def test_several_are_refused() -> None:
    with pytest.raises(Ambiguous, match="more than one reading"):
        counts(["p", "q", "r", "s", "t"], Rules())


def test_a_search_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_search, "MAX_SEARCH_STEPS", 3)
    with pytest.raises(Ambiguous, match="too many readings"):
        counts(["a/k", "a/b", "y/k", "y/b"], STRICT)
