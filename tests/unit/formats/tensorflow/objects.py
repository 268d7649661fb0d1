"""Object graphs, as short as they can be said."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from unnest.core.model import JsonObject
from unnest.formats.tensorflow import protobuf_messages
from unnest.formats.tensorflow.object_graph import ObjectGraph

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
SHAPES = {"mean": (3,), "variance": (3,), "count": (), "kernel": (3, 2), "bias": (2,)}


def checkpoint(objects: Mapping[str, Mapping[str, str]]) -> ObjectGraph:
    """Of objects by name, the root first, each with its attributes; an object called as a weight is that variable."""
    names = [*objects, *SHAPES]
    graph = protobuf_messages.new("ObjectGraph")
    for name in names:
        node = graph.nodes.add()
        for attribute, child in objects.get(name, {}).items():
            node.children.add(node_id=names.index(child), local_name=attribute)
        if name in SHAPES:
            node.attributes.add(name="VARIABLE_VALUE", full_name=name, checkpoint_key=name + VALUE)
    entries = {
        name + VALUE: SimpleNamespace(shape=shape, dtype="<f4") for name, shape in SHAPES.items()
    }
    bundle: Any = SimpleNamespace(
        prefix="c", entries=entries, strings=lambda _: [protobuf_messages.dump(graph)]
    )
    return ObjectGraph(bundle)


def sequential(*layers: tuple[str, Mapping[str, Any]]) -> JsonObject:
    """Of classes and configs."""
    entries: Any = [
        {"class_name": kind, "config": {"name": kind.lower(), "trainable": True, **config}}
        for kind, config in layers
    ]
    return {"class_name": "Sequential", "config": {"name": "s", "layers": entries}}


NORMALIZED = sequential(
    ("Normalization", {"axis": [-1], "batch_input_shape": [None, 3]}), ("Dense", {"units": 2})
)
ROOT = {"layer-0": "normalization", "layer-1": "dense"}
DENSE = {"kernel": "kernel", "bias": "bias"}
STATE = {"mean": "mean", "variance": "variance", "count": "count"}
