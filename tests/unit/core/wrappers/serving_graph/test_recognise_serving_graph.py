"""A wrapper in a serving graph, rule by rule; graphs made at random are in tests/property/test_opgraphs.py."""

from __future__ import annotations

from typing import Any

import pytest

from tests.property.opgraphs import MEANS, Case, Writer, cut, joined, loss, plain, wrapped
from unnest.core.wrappers.search.operation_slice_towers import find_towers
from unnest.core.wrappers.serving_graph.recognise_serving_graph import find, follow
from unnest.core.wrappers.serving_graph.serving_op_graph import Broken, GraphView
from unnest.core.wrappers.serving_graph.serving_tensor_graph import ServingTensors

STEPS = (("MatMul", (0,)), ("Relu", (1,)), ("BiasAdd", (2,)))
CUTS = ("split", "splitv", "dealt", "strided", "sliced", "counted", "gathered", "alternating")


@pytest.mark.parametrize("towers", [2, 3])
@pytest.mark.parametrize("how", CUTS)
def test_towers_on_the_rows_of_one_batch_are_a_wrapper(how: str, towers: int) -> None:
    found = find([wrapped(Case(STEPS, 1, towers, how, None))], {}).wrapper
    assert found is not None
    assert (found.towers, found.sources, len(found.merges)) == (towers, ["n0:0"], 1)
    assert not found.first & found.others


NOT_ITS_ROWS = "n84 does not give back the rows of n0, each once and in order"


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        ("order", "n84 gives all rows of n0, in another order"),
        ("twice", NOT_ITS_ROWS),
        ("missing", NOT_ITS_ROWS),
        ("axis", NOT_ITS_ROWS),
        ("variables", "the towers read different tensors: n61, n79"),
        ("constant", "n64 and n74 are different computations"),
        ("inside", "n63, a part of a tower, is read by other layers too"),
        ("operation", None),  # nothing of one tower is like the others
    ],
)
def test_one_difference_is_enough(spoil: str, reason: str | None) -> None:
    """Rows in another order, one twice or missing; another variable, operation or constant; a merge of features."""
    case = Case(STEPS, 1, 3, "strided", None)
    assert find([wrapped(case)], {}).wrapper is not None
    found = find([wrapped(case, spoil)], {})
    assert found.wrapper is None
    assert [miss.reason for miss in found.near_misses] == ([] if reason is None else [reason])


def test_a_model_alone_is_none() -> None:
    assert find([plain(Case(STEPS, 1, 2, "split", None))], {}) == (None, ())


def test_all_outputs_of_the_towers_are_one_wrapper() -> None:
    both = (("MatMul", (0,)), ("MatMul", (1,)), ("AddV2", (2, 3)))
    found = find([wrapped(Case(both, 2, 2, "split", "divided"))], {}).wrapper
    assert found is not None
    assert (len(found.merges), len(found.sources)) == (2, 2)


def two_inputs(other: str, **shape: Any) -> Any:
    """Towers that add the parts of two inputs; the second is cut otherwise."""
    w = Writer()
    x, y = (w.op("Placeholder", shape=(-1, 3)) for _ in range(2))
    ends = [
        w.op("AddV2", a, b, **shape)
        for a, b in zip(cut(w, "split", x, 2), cut(w, other, y, 2), strict=True)
    ]
    return find(
        [w.graph([w.op("ConcatV2", *ends, w.op("Const", value=0), shape=(-1, 3))])], {}
    ).wrapper


def test_the_inputs_are_cut_alike() -> None:
    assert two_inputs("strided") is not None
    assert two_inputs("alternating") is None


def two_heads(other: str) -> list[int]:
    """Of each wrapper of two heads with weights of their own, the second of which is cut otherwise: its joins."""
    w = Writer()
    x = w.op("Placeholder", shape=(-1, 3))
    rets = []
    for number, how in enumerate(("split", other)):
        ends = [w.op("MatMul", part, w.variable(number)) for part in cut(w, how, x, 2)]
        rets.append(joined(w, Case(STEPS, 1, 2, how, None), ends, 0))
    found, _ = find_towers(ServingTensors(GraphView(w.graph(rets), {}), 2))
    return [len(wrapper.joins) for wrapper in found]


def test_heads_whose_parts_are_the_same_rows_are_one_wrapper() -> None:
    """A wrapper's towers have one share of the batch: heads that are cut otherwise are a wrapper of their own."""
    assert two_heads("strided") == [2]
    assert two_heads("alternating") == [1, 1]


def beside_rows(other: str) -> Any:
    """Towers that give rows of one input, and the mean of losses for which parts of another are read, cut otherwise."""
    w = Writer()
    x, y = (w.op("Placeholder", shape=(-1, 3)) for _ in range(2))
    ends = [w.op("MatMul", part, w.variable(0)) for part in cut(w, "split", x, 2)]
    losses = [
        loss(w, w.op("Sub", a, b, shape=(-1, 3)))
        for a, b in zip(ends, cut(w, other, y, 2), strict=True)
    ]
    rows = joined(w, Case(STEPS, 1, 2, "split", None), ends, 0)
    return find([w.graph([rows, MEANS["divided"](w, losses)])], {}).wrapper


def test_a_mean_beside_rows_is_of_the_same_towers() -> None:
    """Losses that hold the first half of one input against every other row of another are not those of the whole."""
    found = beside_rows("strided")
    assert found is not None
    assert len(found.merges) == 2
    assert beside_rows("alternating") is None


@pytest.mark.parametrize(("rows", "share"), [(8, 4), (-1, None)])
def test_a_fixed_batch_has_a_share(rows: int, share: int | None) -> None:
    w = Writer()
    ends = [
        w.op("MatMul", part, w.variable(0))
        for part in cut(w, "split", w.op("Placeholder", shape=(rows, 3)), 2)
    ]
    found = find([w.graph([w.op("ConcatV2", *ends, w.op("Const", value=0))])], {}).wrapper
    assert found is not None
    assert found.share == share


@pytest.mark.parametrize(("rows", "is_wrapper"), [(8, True), (12, False)])
def test_bounds_that_are_numbers_must_reach_the_end_of_a_fixed_batch(
    rows: int, is_wrapper: bool
) -> None:
    w = Writer()
    x = w.op("Placeholder", shape=(rows, 3))
    number = {n: w.op("Const", value=[n]) for n in (0, 1, 4, 8)}
    parts = [w.op("StridedSlice", x, number[a], number[b], number[1]) for a, b in ((0, 4), (4, 8))]
    ends = [w.op("MatMul", part, w.variable(0)) for part in parts]
    found = find([w.graph([w.op("ConcatV2", *ends, w.op("Const", value=0))])], {}).wrapper
    assert (found is not None) is is_wrapper


def test_places_that_are_numbers_are_those_of_an_exported_batch() -> None:
    """Keras 3 exports a model of a fixed batch as one of any: the graph does not tell how many rows there are."""
    w = Writer()
    x = w.op("Placeholder", shape=(-1, 3))
    places = (w.op("Const", value=at) for at in ([0, 1, 2], [3, 4]))
    parts = [w.op("GatherV2", x, at, w.op("Const", value=0)) for at in places]
    ends = [w.op("MatMul", part, w.variable(0)) for part in parts]
    found = find([w.graph([w.op("ConcatV2", *ends, w.op("Const", value=0))])], {}).wrapper
    assert found is not None
    assert found.reach == 5


def test_with_towers_that_others_read_there_is_a_wrapper_that_cannot_be_cut() -> None:
    graph = wrapped(Case(STEPS, 1, 2, "split", None), "inside")
    assert find([graph], {}).wrapper is None
    assert find([graph], {}, closed=False).wrapper is not None


def test_replacements_are_followed_to_their_end() -> None:
    assert follow("a", {"a": "b", "b": "c"}) == "c"
    assert follow("d", {"a": "b"}) == "d"
    with pytest.raises(Broken):
        follow("a", {"a": "b", "b": "a"})
