"""Wrappers found among operations, described by the graph's layers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, nested, source
from tests.unit.core.rewrite.wrapping import MERGE, TOWERS, concatenate, split
from tests.unit.core.wrappers.near import OUTER, reasons
from unnest.core.architecture import read
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.wrapper_from_towers import (
    join_evidence,
    slice_evidence,
    wrapper_of,
)
from unnest.core.wrappers.layer_graph.wrapper_records import LayerWrapper, Merge
from unnest.core.wrappers.search.operation_slice_towers import find_towers

WEIGHTS: dict[str, Any] = {"kernel_initializer": {"class_name": "Zeros", "config": {}}}


def found(*layers: dict[str, Any]) -> LayerWrapper:
    """The one wrapper of a graph."""
    graph = read(functional(*layers, **OUTER))
    (computed,), _ = find_towers(LayerTensors(graph))
    return wrapper_of(graph, computed)


def test_calls_of_one_model() -> None:
    wrapper = found(source(), split("s", "x"), TOWERS, MERGE)
    assert (wrapper.template, wrapper.inline) == ("t", None)
    assert [(merge.layer, merge.output, merge.on_batch_axis) for merge in wrapper.merges] == [
        ("m", 0, True)
    ]
    assert wrapper.evidence[0] == "2 calls of the one model t"


def test_what_only_hands_an_output_on_is_part_of_the_merge() -> None:
    linear = [layer(f"a{i}", [("t", i + 1, 0)], activation="linear") for i in range(2)]
    for each in linear:
        each["class_name"] = "Activation"
    wrapper = found(
        source(), split("s", "x"), TOWERS, *linear, concatenate("m", ("a0", 0, 0), ("a1", 0, 0))
    )
    assert wrapper.template == "t"
    assert [at.layer for at in wrapper.merges[0].calls] == ["m", "a0", "a1"]


def test_the_graphs_own_layers() -> None:
    """A tower of several layers ends in its last one, and is taken for the others."""
    shared = {**layer("d", **WEIGHTS), "class_name": "Dense"}
    shared["config"] |= {"units": 3, "use_bias": False}
    shared["inbound_nodes"] = [[["s", 0, 0, {}]], [["s", 0, 1, {}]]]
    wrapper = found(source(), split("s", "x"), shared, concatenate("m", ("d", 0, 0), ("d", 1, 0)))
    assert wrapper.template == "d"
    assert wrapper.first == frozenset({CallId("d", 0)})
    assert wrapper.ends == {Ref("m", 0, 0): Ref("d", 0, 0)}
    assert wrapper.evidence[0] == "2 towers of the same layers: d"


@pytest.mark.parametrize("width", [2, 7])
def test_rows_of_another_shape_than_the_template_takes(width: int) -> None:
    wide = functional(
        source("tx", (None, width)),
        layer("td", ["tx"]),
        inputs=[("tx", 0, 0)],
        outputs=[("td", 0, 0)],
        name="t",
    )
    towers = nested(wide, [("s", 0, 0)], [("s", 0, 1)])
    assert reasons(source(), split("s", "x"), towers, MERGE) == {
        "m": "t takes rows of another shape than those of x"
    }


def test_towers_without_weights_are_none() -> None:
    """Statistics over parts of a batch are a purpose, and so is what has nothing to learn."""
    soft = {**layer("a", activation="softmax"), "class_name": "Activation"}
    soft["inbound_nodes"] = [[["s", 0, 0, {}]], [["s", 0, 1, {}]]]
    assert reasons(source(), split("s", "x"), soft, concatenate("m", ("a", 0, 0), ("a", 1, 0))) == {
        "m": "the towers that end in a hold no weights, except those of normalizations"
    }


def test_lines_of_evidence_name_the_first_four() -> None:
    one_layer = [CallId("s", 0)] * 3
    assert slice_evidence(Ref("x", 0, 0), one_layer) == "every tower reads a slice of x, cut by s"
    many = [CallId(name, 0) for name in "abcde"]
    assert (
        slice_evidence(Ref("x", 0, 0), many)
        == "every tower reads a slice of x, cut by a, b, c, d, ..."
    )


@pytest.mark.parametrize(("told", "axis"), [(True, " on the batch axis"), (None, ""), (False, "")])
def test_a_join_that_does_not_say_its_axis(told: bool | None, axis: str) -> None:
    graph = read(functional(source(), split("s", "x"), TOWERS, MERGE, **OUTER))
    merge = Merge(0, (CallId("m", 0),), told)
    assert (
        join_evidence(graph, merge)
        == f"m (Concatenate) joins output 0 of every tower in order{axis}"
    )
