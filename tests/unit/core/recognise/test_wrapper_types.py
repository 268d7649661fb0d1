"""What a wrapper's parts become without it, and the lines of evidence."""

from __future__ import annotations

import pytest

from tests.judged import only_wrapper
from tests.unit.core.build import functional, source
from tests.unit.core.recognise.near import OUTER
from tests.unit.core.rewrite.wrapping import MERGE, TOWERS, split
from unnest.core.architecture import read
from unnest.core.architecture.graph import CallId, Ref
from unnest.core.model import NearMiss
from unnest.core.recognise import wrappers
from unnest.core.recognise.wrapper_types import LayerWrapper, Merge, NotAWrapper, cut_by, joins, listed, or_why_not


def test_what_the_first_tower_reads_and_gives() -> None:
    """Around a model: its first call's tensors, whatever the order of the layers."""
    graph = read(functional(source(), split("s", "x"), TOWERS, MERGE, **OUTER))
    found = only_wrapper(wrappers.recognise(graph))
    assert found.cut(graph) == {Ref("s", 0, 0): Ref("x", 0, 0)}
    assert found.ends == {Ref("m", 0, 0): Ref("t", 0, 0)}
    assert found.first == frozenset({CallId("t", 0)})


def test_a_judgement_is_a_wrapper_or_the_reason() -> None:
    graph = read(functional(source(), split("s", "x"), TOWERS, MERGE, **OUTER))

    def none() -> LayerWrapper:
        raise NotAWrapper("two towers read the same tensor")

    assert or_why_not("m", none) == NearMiss("m", "two towers read the same tensor")
    found = only_wrapper(wrappers.recognise(graph))
    assert or_why_not("m", lambda: found) is found


def test_lines_of_evidence_name_the_first_four() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([*"abcde"]) == "a, b, c, d, ..."
    one_layer = [CallId("s", 0)] * 3
    assert cut_by(Ref("x", 0, 0), one_layer) == "every tower reads a slice of x, cut by s"
    many = [CallId(name, 0) for name in "abcde"]
    assert cut_by(Ref("x", 0, 0), many) == "every tower reads a slice of x, cut by a, b, c, d, ..."


@pytest.mark.parametrize(("told", "axis"), [(True, " on the batch axis"), (None, ""), (False, "")])
def test_a_join_that_does_not_say_its_axis(told: bool | None, axis: str) -> None:
    graph = read(functional(source(), split("s", "x"), TOWERS, MERGE, **OUTER))
    merge = Merge(0, (CallId("m", 0),), told)
    assert joins(graph, merge) == f"m (Concatenate) joins output 0 of every tower in order{axis}"
