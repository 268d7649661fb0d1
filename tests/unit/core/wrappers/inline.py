"""Models whose towers are layers called anew, written as tf.keras 2.4 to 2.15 store operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph

Tensor: TypeAlias = "list[Any]"
Entry: TypeAlias = "dict[str, Any]"

X: Tensor = ["x", 0, 0]
UNITS = 3


class Writer:
    """Layers of one model in the order of their making; `x` is its input, rows of four numbers."""

    def __init__(self, rows: int | None = None) -> None:
        config = {"name": "x", "batch_input_shape": [rows, 4], "dtype": "float32"}
        self.layers: list[Entry] = [
            {"class_name": "InputLayer", "name": "x", "config": config, "inbound_nodes": []}
        ]

    def call(self, function: str, first: Any, **others: Any) -> Tensor:
        """A function called on a tensor, a constant or a list of tensors; its first output."""
        name = f"op_{len(self.layers)}"
        entry: Entry = {"class_name": "TFOpLambda", "name": name}
        entry["config"] = {
            "name": name,
            "trainable": True,
            "dtype": "float32",
            "function": function,
        }
        if isinstance(first, list) and isinstance(first[0], list):
            node: Any = [[*one, others] for one in first]
        else:
            node = [*(first if isinstance(first, list) else ["_CONSTANT_VALUE", -1, first]), others]
        self.layers.append({**entry, "inbound_nodes": [node]})
        return [name, 0, 0]

    def layer(
        self, class_name: str, name: str, config: Mapping[str, Any], nodes: Sequence[Any]
    ) -> list[Tensor]:
        """One of Keras's layers, called so many times; the output of every call."""
        own = {"name": name, "trainable": True, "dtype": "float32", **config}
        stored = [
            [[*part, {}] for part in (node if isinstance(node[0], list) else [node])]
            for node in nodes
        ]
        self.layers.append(
            {"class_name": class_name, "name": name, "config": own, "inbound_nodes": stored}
        )
        return [[name, rank, 0] for rank in range(len(nodes))]

    def dense(self, *parts: Tensor, name: str = "dense", units: int = UNITS) -> list[Tensor]:
        """One layer with weights, called on every part."""
        config = {
            "units": units,
            "use_bias": True,
            "kernel_initializer": "zeros",
            "bias_initializer": "zeros",
        }
        return self.layer("Dense", name, config, parts)

    def join(self, parts: Sequence[Tensor], axis: int = 0) -> Tensor:
        """Keras's own concatenation."""
        return self.layer("Concatenate", "joined", {"axis": axis}, [list(parts)])[0]

    def size(self, tensor: Tensor = X) -> Tensor:
        """The number of rows."""
        shape = self.call("compat.v1.shape", tensor, name=None, out_type="int32")
        return self.call("__operators__.getitem", shape, slice_spec=0)

    def rows(self, start: Any = None, stop: Any = None, step: Any = None, of: Tensor = X) -> Tensor:
        """of[start:stop:step]."""
        return self.call(
            "__operators__.getitem", of, slice_spec={"start": start, "stop": stop, "step": step}
        )

    def split(self, parts: int = 2, of: Tensor = X) -> list[Tensor]:
        """Equal parts, one after the other."""
        name, rank, _ = self.call("split", of, num_or_size_splits=parts, axis=0)
        return [[name, rank, part] for part in range(parts)]

    def bound(self, part: int, total: int) -> Tensor:
        """Return the row at which so many shares of the batch end."""
        product = self.call("math.multiply", self.size(), y=part, name=None)
        return self.call("compat.v1.floor_div", product, y=total, name=None)

    def model(self, *outputs: Tensor) -> Entry:
        """The model that gives these."""
        ends = {"input_layers": [X], "output_layers": [*outputs]}
        return {
            "class_name": "Functional",
            "config": {"name": "model", "layers": self.layers, **ends},
        }

    def graph(self, *outputs: Tensor) -> Graph:
        """Its graph."""
        return read(self.model(*outputs))
