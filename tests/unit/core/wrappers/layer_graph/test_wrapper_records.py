"""The replacement of a wrapper's parts, near misses, and lists of names."""

from __future__ import annotations

from tests.judged import only_wrapper
from tests.unit.core.build import functional, source
from tests.unit.core.rewrite.wrapping import MERGE, TOWERS, split
from tests.unit.core.wrappers.near import OUTER
from unnest.core.architecture import read
from unnest.core.model import CallId, Ref
from unnest.core.recognition_results import MixedRows, NearMiss
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.wrapper_records import (
    MixesRows,
    NotAWrapper,
    listed,
)


def test_what_the_first_tower_reads_and_gives() -> None:
    """Around a model: its first call's tensors, whatever the order of the layers."""
    graph = read(functional(source(), split("s", "x"), TOWERS, MERGE, **OUTER))
    found = only_wrapper(recognise_layer_graph.recognise(graph))
    assert found.sources_by_slice(graph) == {Ref("s", 0, 0): Ref("x", 0, 0)}
    assert found.ends == {Ref("m", 0, 0): Ref("t", 0, 0)}
    assert found.first == frozenset({CallId("t", 0)})


def test_a_reason_names_the_layer_that_joins() -> None:
    reason = "two towers read the same tensor"
    assert NotAWrapper(reason).near_miss("m") == NearMiss("m", reason)
    assert MixesRows(reason).near_miss("m") == MixedRows("m", reason)


def test_lists_name_the_first_four() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([*"abcde"]) == "a, b, c, d, ..."
