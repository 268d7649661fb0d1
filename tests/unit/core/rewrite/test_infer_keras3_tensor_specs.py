"""Tensor specs of Keras 3 if a Sequential's layers become the model's own, and when they are not known."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.architecture import read, tensor_refs
from unnest.core.architecture.graph import Graph
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import CallId, Ref
from unnest.core.rewrite import infer_keras3_tensor_specs
from unnest.core.rewrite.infer_keras3_tensor_specs import (
    chain_output_spec,
    why_not_noted,
    with_output_noted,
)
from unnest.core.wrappers.layer_graph.wrapper_records import LayerWrapper, Merge

Entry = dict[str, Any]


def dense(name: str, dtype: str = "float32", kind: str = "Dense", **config: Any) -> Entry:
    settings = {
        "name": name,
        "units": 3,
        "trainable": True,
        "dtype": dtype,
        "activation": "linear",
        **config,
    }
    return {"class_name": kind, "name": name, "config": settings, "module": "keras.layers"}


def reading(entry: Entry, *tensors: tuple[Ref, list[Any], str]) -> Entry:
    """The entry, called on these."""
    nodes: list[Any] = [
        tensor_refs.keras_3([*ref], shape, dtype, {}) for ref, shape, dtype in tensors
    ]
    args = [node["args"][0] for node in nodes]
    return {**entry, "inbound_nodes": [{"args": args if len(args) == 1 else [args], "kwargs": {}}]}


def source(name: str, dtype: str = "float32") -> Entry:
    config = {"name": name, "batch_shape": [None, 4], "dtype": dtype}
    return {
        "class_name": "InputLayer",
        "name": name,
        "config": config,
        "inbound_nodes": [],
        "module": "keras.layers",
    }


def model(*layers: Entry) -> Graph:
    ends = {
        "input_layers": [[layers[0]["name"], 0, 0]],
        "output_layers": [[layers[-1]["name"], 0, 0]],
    }
    return read(
        {"class_name": "Functional", "config": {"name": "net", "layers": list(layers), **ends}}
    )


def inner(dtype: str = "float32", kind: str = "Dense") -> Graph:
    """A chain of one layer."""
    return model(
        source("x"), reading(dense("d", dtype, kind), (Ref("x", 0, 0), [None, 4], "float32"))
    )


def outer(
    noted: list[Any], dtype: str = "float32", head: str = "Dense", read_as: str = "float32"
) -> Graph:
    """A merge that reads what is noted so, and a head that reads the merge."""
    merge = reading(dense("m", kind="Concatenate", axis=0), (Ref("x", 0, 0), noted, dtype))
    return model(
        source("x"), merge, reading(dense("h", kind=head), (Ref("m", 0, 0), [None, 3], read_as))
    )


FOUND = LayerWrapper(
    "t", (), (), frozenset(), (Merge(0, (CallId("m", 0),), on_batch_axis=True),), "proven", ()
)


def test_what_a_chain_makes_follows_from_its_last_layer() -> None:
    assert chain_output_spec(inner()) == Spec((None, 3), "float32")
    assert chain_output_spec(inner("float16")) == Spec((None, 3), "float16")
    assert chain_output_spec(inner(kind="Mine")) is None


def test_what_the_towers_made_is_what_the_layers_promise() -> None:
    assert why_not_noted(outer([None, 3]), FOUND, inner()) is None
    assert why_not_noted(outer([5, 3]), FOUND, inner()) is None  # a tower's share of a fixed batch
    # The head casts it back.
    assert why_not_noted(outer([None, 3], read_as="float16"), FOUND, inner()) is None


@pytest.mark.parametrize(
    ("graph", "chain", "reason"),
    [
        (outer([None, 4]), inner(), "the file notes another output than its layers promise"),
        (
            outer([None, 3], "float16"),
            inner(),
            "the file notes another output than its layers promise",
        ),
        (
            outer([None, 3]),
            inner(kind="Mine"),
            "the file notes another output than its layers promise",
        ),
        (
            outer([None, 3]),
            inner("float16"),
            "how this version of Keras notes a cast is not in the file",
        ),
        (
            outer([None, 3], head="Mine", read_as="float16"),
            inner(),
            "h notes another tensor than the template makes",
        ),
    ],
    ids=["a shape", "a dtype", "a class that is not known", "a cast", "the head's"],
)
def test_what_cannot_be_noted_says_why(graph: Graph, chain: Graph, reason: str) -> None:
    assert why_not_noted(graph, FOUND, chain) == reason


def test_the_head_reads_what_the_template_makes() -> None:
    """If a merge cast it, the head's call notes the template's dtype instead."""
    graph = outer([None, 3], read_as="float16")
    stored = graph.layers["h"].calls[0].stored
    changed = with_output_noted(graph, FOUND, Spec((None, 3), "float32"), stored)
    assert changed == outer([None, 3]).layers["h"].calls[0].stored
    assert with_output_noted(graph, FOUND, None, stored) == stored
    assert (
        infer_keras3_tensor_specs.with_output_noted(
            graph, FOUND, Spec((None, 3), "float16"), stored
        )
        == stored
    )
