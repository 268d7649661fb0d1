"""Towers of the model's own layers, behind slices whose arguments name their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.judged import only_wrapper
from tests.unit.core.wrappers.inline import Writer
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.layer_graph import recognise_layer_graph


def _shared_layers(told: Sequence[Mapping[str, int]], *, learns: bool = True) -> Writer:
    """A model whose towers are one layer of its own, each behind a Lambda with its part as argument."""
    writer = Writer()
    settings = {"function": ["not code", None, None]}
    parts = [
        writer.layer("Lambda", f"part_{n}", {**settings, "arguments": dict(each)}, [["x", 0, 0]])[0]
        for n, each in enumerate(told)
    ]
    writer.join(
        writer.dense(*parts) if learns else writer.layer("Dropout", "drop", {"rate": 0.5}, parts)
    )
    return writer


def test_towers_of_the_models_own_layers_behind_told_slices() -> None:
    """The first tower's calls, what they read in place of the slice, what stands for the merged tensor."""
    graph = _shared_layers([{"i": 0, "parts": 2}, {"i": 1, "parts": 2}]).graph(["joined", 0, 0])
    found = only_wrapper(recognise_layer_graph.recognise(graph))
    assert found.inline is not None
    assert (found.template, found.sources, found.confidence) == (
        "dense",
        (Ref("x", 0, 0),),
        "likely",
    )
    assert found.first == {CallId("dense", 0)}
    assert found.sources_by_slice(graph) == {Ref("part_0", 0, 0): Ref("x", 0, 0)}
    assert found.ends == {Ref("joined", 0, 0): Ref("dense", 0, 0)}


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (
            [{"i": 1, "parts": 2}, {"i": 0, "parts": 2}],
            "i is 1, 0 in the slices, which does not number parts in order",
        ),
        ([{"i": 0}, {"i": 1}], "the file does not show that part_0 and similar layers cut x"),
        (
            [{"i": 0, "parts": 2, "axis": 1}, {"i": 1, "parts": 2, "axis": 1}],
            "part_0 cuts axis 1, which is not the batch",
        ),
    ],
)
def test_own_layers_behind_slices_that_are_told_otherwise(
    told: list[dict[str, int]], reason: str
) -> None:
    """Towers of the model's own layers need slices that show all rows in order."""
    seen = recognise_layer_graph.recognise(_shared_layers(told).graph(["joined", 0, 0]))
    assert (seen.wrappers, [miss.reason for miss in seen.near_misses]) == ((), [reason])


def test_own_layers_that_learn_nothing_behind_told_slices() -> None:
    """Towers without weights are not worth a wrapper, and may be parts on purpose."""
    writer = _shared_layers([{"i": 0, "parts": 2}, {"i": 1, "parts": 2}], learns=False)
    seen = recognise_layer_graph.recognise(writer.graph(["joined", 0, 0]))
    assert seen.wrappers == ()
    assert [miss.reason for miss in seen.near_misses] == [
        "the towers that end in drop hold no weights, except those of normalizations"
    ]


def test_towers_that_are_built_for_their_number_of_rows_take_no_other() -> None:
    """As behind slices that are operations: with the whole batch such a tower would not run."""
    writer = Writer(rows=8)
    told = [
        {"function": ["not code", None, None], "arguments": {"i": i, "parts": 2}} for i in (0, 1)
    ]
    parts = [
        writer.layer("Lambda", f"part_{i}", each, [["x", 0, 0]])[0] for i, each in enumerate(told)
    ]
    joined = writer.join(
        writer.dense(*(writer.call("reshape", part, shape=[4, 4]) for part in parts))
    )
    seen = recognise_layer_graph.recognise(writer.graph(joined))
    assert seen.wrappers == ()
    assert [miss.reason for miss in seen.near_misses] == [
        "op_3 is built for the number of rows of one tower, and takes no other"
    ]


def test_rows_of_another_shape_behind_told_slices() -> None:
    """A model that takes narrower rows than those that are sliced reads channels, whatever stands behind it."""
    inner = [
        {
            "class_name": "InputLayer",
            "name": "in",
            "config": {"name": "in", "batch_input_shape": [None, 2]},
        },
        {
            "class_name": "Dense",
            "name": "d",
            "config": {"name": "d", "units": 3, "kernel_initializer": "zeros"},
        },
    ]
    ends = {"input_layers": [["in", 0, 0]], "output_layers": [["d", 0, 0]]}
    layers = [
        {**inner[0], "inbound_nodes": []},
        {**inner[1], "inbound_nodes": [[["in", 0, 0, {}]]]},
    ]
    writer = Writer()
    told = [
        {"function": ["not code", None, None], "arguments": {"i": i, "parts": 2}} for i in (0, 1)
    ]
    parts = [
        writer.layer("Lambda", f"part_{i}", each, [["x", 0, 0]])[0] for i, each in enumerate(told)
    ]
    calls = [[[*part, {}]] for part in parts]
    config = {"name": "net", "layers": layers, **ends}
    writer.layers.append(
        {"class_name": "Functional", "name": "net", "config": config, "inbound_nodes": calls}
    )
    joined = writer.join(writer.dense(["net", 1, 0], ["net", 2, 0]))
    seen = recognise_layer_graph.recognise(writer.graph(joined))
    reason = "net takes rows of another shape than those of x"
    assert (seen.wrappers, [miss.reason for miss in seen.near_misses]) == ((), [reason])
