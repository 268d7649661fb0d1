"""Layers that join towers, and for each rule the nearest graph in which it does not hold, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.judged import check_verdict, only_wrapper
from tests.unit.core.build import functional, nested, source
from tests.unit.core.rewrite.wrapping import MERGE, TEMPLATE, TOWERS, concatenate, split
from tests.unit.core.wrappers.near import OUTER, Entry, reasons
from tests.unit.core.wrappers.one_layer import function
from tests.unit.core.wrappers.towers import arguments, model
from unnest.core.architecture import read
from unnest.core.model import CallId
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.layer_joins import joins_of_models
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors


@pytest.mark.parametrize(
    ("merge", "reason"),
    [
        ({**MERGE, "config": {**MERGE["config"], "axis": 1}},
         "m (Concatenate) does not concatenate the outputs of t along the batch"),
        ({**MERGE, "class_name": "Average", "config": {"name": "m"}},
         "m adds, averages or stacks the outputs of t instead of concatenating them"),
        (concatenate("m", ("t", 1, 0), ("t", 1, 0)), "m joins one call of t more than once"),
    ],
    ids=["another axis", "an average", "one tower twice"],
)  # fmt: skip
def test_a_merge_lines_all_towers_up_along_the_batch(merge: Entry, reason: str) -> None:
    assert reasons(source(), split("s", "x"), TOWERS, merge) == {"m": reason}


@pytest.mark.parametrize(("axis", "is_batch"), [(-2, True), (-1, False), (-3, False)])
@pytest.mark.parametrize("kind", ["Concatenate", "Merge"])
def test_a_negative_axis_is_the_batch_where_the_number_of_axes_says_so(
    kind: str, axis: int, *, is_batch: bool
) -> None:
    """The template's output is a matrix: its axis -2 is the batch. Keras 1 joins by its Merge."""
    axes: Entry = (
        {"axis": axis} if kind == "Concatenate" else {"mode": "concat", "concat_axis": axis}
    )
    merge = {**MERGE, "class_name": kind, "config": {"name": "m", **axes}}
    layers = [source(), split("s", "x"), TOWERS, merge]
    if is_batch:
        graph = read(functional(*layers, **OUTER))
        assert len(only_wrapper(recognise_layer_graph.recognise(graph)).towers) == 2
    else:
        reason = f"m ({kind}) does not concatenate the outputs of t along the batch"
        assert reasons(*layers) == {"m": reason}


def test_a_merge_that_is_joined_twice_joins_its_towers_twice() -> None:
    """However long the row of such merges is."""
    merges, before = [concatenate("m0", ("t", 1, 0), ("t", 2, 0))], "m0"
    for k in range(1, 60):
        merges.append(
            concatenate(name := f"m{k}" if k < 59 else "m", (before, 0, 0), (before, 0, 0))
        )
        before = name
    graph = read(functional(source(), split("s", "x"), TOWERS, *merges, **OUTER))
    (join,) = joins_of_models(LayerTensors(graph))
    assert join.objection == "m joins one call of t more than once"


def test_towers_are_calls_of_one_model() -> None:
    other = {**TEMPLATE, "config": {**TEMPLATE["config"], "name": "u"}}
    layers = [
        source(),
        split("s", "x"),
        nested(TEMPLATE, [("s", 0, 0)]),
        nested(other, [("s", 0, 1)]),
    ]
    assert reasons(*layers, concatenate("m", ("t", 1, 0), ("u", 1, 0))) == {
        "m": "m joins the outputs of different models: t, u"
    }


def test_merges_in_pairs_are_one() -> None:
    fourth = {
        **split("s", "x"),
        "inbound_nodes": [["x", 0, 0, {"num_or_size_splits": 4, "axis": 0}]],
    }
    towers = nested(TEMPLATE, *([("s", 0, i)] for i in range(4)))
    pairs = [concatenate("a", ("t", 1, 0), ("t", 2, 0)), concatenate("b", ("t", 3, 0), ("t", 4, 0))]
    layers = [source(), fourth, towers, *pairs]
    whole = functional(*layers, concatenate("m", ("a", 0, 0), ("b", 0, 0)), **OUTER)
    found = only_wrapper(recognise_layer_graph.recognise(read(whole)))
    assert [merge.calls for merge in found.merges] == [
        (CallId("m", 0), CallId("a", 0), CallId("b", 0))
    ]
    crossed = functional(*layers, concatenate("m", ("b", 0, 0), ("a", 0, 0)), **OUTER)
    check_verdict(recognise_layer_graph.recognise(read(crossed)), "clean")


tf: Any = None  # what the code names; it is read, not called


@pytest.mark.parametrize("code", [lambda x: tf.concat([x, -x], 0), lambda x: tf.concat([x, x], 0)])
def test_what_joins_a_tensor_with_itself_is_no_part_of_the_merge(
    code: Callable[[Any], Any],
) -> None:
    after: Entry = {
        "class_name": "Lambda",
        "name": "after",
        "config": {"name": "after", "function": function(code)},
    }
    whole = model([[arguments(f"s{k}", {"i": k, "parts": 2}) for k in range(2)]])
    whole["config"]["layers"].append({**after, "inbound_nodes": [[["merge", 0, 0, {}]]]})
    whole["config"]["output_layers"] = [["after", 0, 0]]
    found = only_wrapper(recognise_layer_graph.recognise(read(whole)))
    assert [merge.calls for merge in found.merges] == [(CallId("merge", 0),)]
