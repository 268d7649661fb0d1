"""A parallel model of two towers, as its parts are named in these tests."""

from __future__ import annotations

from typing import Any

from tests.judged import only_wrapper
from tests.unit.core.build import functional, layer, nested, source
from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.wrapper_records import LayerWrapper

OPS: dict[str, Any] = {"trainable": True, "dtype": "float32"}


def split(name: str, before: str) -> dict[str, Any]:
    """tf.split of a batch in two, as tf.keras 2.4 on stores the call: output i is part i."""
    entry = layer(name, kind="TFOpLambda", function="split", **OPS)
    return {**entry, "inbound_nodes": [[before, 0, 0, {"num_or_size_splits": 2, "axis": 0}]]}


def concatenate(name: str, *refs: tuple[str, int, int]) -> dict[str, Any]:
    return layer(name, list(refs), kind="Concatenate", axis=0, **OPS)


TEMPLATE = functional(
    source("tx"),
    layer("td", ["tx"], units=3),
    inputs=[("tx", 0, 0)],
    outputs=[("td", 0, 0)],
    name="t",
)

HEEDFUL = functional(
    source("tx"), layer("tl", ["tx"], kind="LSTM", units=3),
    inputs=[("tx", 0, 0)], outputs=[("tl", 0, 0)], name="t",
)  # fmt: skip
"""A template that computes otherwise with a mask."""

TOWERS = nested(TEMPLATE, [("s", 0, 0)], [("s", 0, 1)])
MERGE = concatenate("m", ("t", 1, 0), ("t", 2, 0))

WHOLE = functional(source(), split("s", "x"), TOWERS, MERGE, outputs=[("m", 0, 0)], name="outer")
HEAD = functional(
    source(),
    split("s", "x"),
    TOWERS,
    MERGE,
    layer("h", ["m"], units=2),
    outputs=[("h", 0, 0)],
    name="outer",
)
EMBEDDED = functional(
    source(), layer("before", ["x"]), split("s", "before"), TOWERS, MERGE, layer("h", ["m"]),
    outputs=[("h", 0, 0)], name="outer",
)  # fmt: skip


def found(model: dict[str, Any]) -> tuple[Graph, LayerWrapper]:
    """The graph and the one wrapper in it."""
    graph = read(model)
    wrapper = only_wrapper(recognise_layer_graph.recognise(graph))
    return graph, wrapper
