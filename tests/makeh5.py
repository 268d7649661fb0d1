"""Small Keras .h5 files written by hand, for tests that need nothing genuine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

Weights = Mapping[str, Sequence[tuple[str, Any]]]


def layer(
    class_name: str,
    name: str,
    inbound: list[Any] | None = None,
    **config: Any,  # noqa: ANN401 - JSON is any
) -> dict[str, Any]:
    """A layer as Keras 2 spells it."""
    nodes = [] if inbound is None else [[[*node, {}] for node in inbound]]
    return {
        "class_name": class_name,
        "name": name,
        "config": {"name": name, **config},
        "inbound_nodes": nodes,
    }


def model(name: str, layers: list[Any], inputs: list[Any], outputs: list[Any]) -> dict[str, Any]:
    """A functional model as Keras 2 spells it."""
    config = {"name": name, "layers": layers, "input_layers": inputs, "output_layers": outputs}
    return {"class_name": "Model", "config": config}


def template(name: str = "tmpl", width: int = 2) -> dict[str, Any]:
    """One Dense layer, the smallest model there is."""
    dense = layer("Dense", "d1", [["x", 0, 0]], units=width)
    return model(name, [source(), dense], [["x", 0, 0]], [["d1", 0, 0]])


def source() -> dict[str, Any]:
    """The Input."""
    return layer("InputLayer", "x", batch_input_shape=[None, 4], dtype="float32", sparse=False)


def parallel(inner: dict[str, Any], towers: int = 2, name: str = "model_1") -> dict[str, Any]:
    """Return what multi_gpu_model makes of a model with one input and one output."""
    tmpl, merge = inner["config"]["name"], inner["config"]["output_layers"][0][0]
    cuts = [
        layer("Lambda", f"lambda_{i + 1}", [["x", 0, 0]], arguments={"i": i, "parts": towers})
        for i in range(towers)
    ]
    calls = [[[f"lambda_{i + 1}", 0, 0, {}]] for i in range(towers)]
    nested = {
        "class_name": "Model",
        "name": tmpl,
        "config": inner["config"],
        "inbound_nodes": calls,
    }
    join = layer("Concatenate", merge, [[tmpl, i + 1, 0] for i in range(towers)], axis=0)
    return model(name, [source(), *cuts, nested, join], [["x", 0, 0]], [[merge, 0, 0]])


def dense(width: int = 2, seed: int = 0) -> list[tuple[str, Any]]:
    """The weights of the template's one layer."""
    values = np.random.default_rng(seed)
    return [
        ("d1/kernel:0", values.normal(size=(4, width)).astype("f4")),
        ("d1/bias:0", np.ones(width, "f4")),
    ]


def write(path: Path, architecture: Any, weights: Weights, **attributes: Any) -> Path:  # noqa: ANN401
    """A full save; with architecture None, weights only."""
    with h5py.File(path, "w", libver="earliest") as file:
        root = file
        if architecture is not None:
            file.attrs["keras_version"] = b"2.2.4"
            file.attrs["backend"] = b"tensorflow"
            text = architecture if isinstance(architecture, str) else json.dumps(architecture)
            file.attrs["model_config"] = text.encode()
            root = file.create_group("model_weights")
        root.attrs["layer_names"] = np.array([n.encode() for n in weights])
        root.attrs["backend"] = b"tensorflow"
        root.attrs["keras_version"] = b"2.2.4"
        for name, tensors in weights.items():
            group = root.create_group(name)
            group.attrs["weight_names"] = (
                np.array([n.encode() for n, _ in tensors]) if tensors else np.empty(0)
            )
            for tensor, value in tensors:
                group[tensor] = value
        for name, value in attributes.items():
            file.attrs[name] = value
    return path


def parallel_file(path: Path, towers: int = 2, width: int = 2) -> Path:
    """A parallel model of the smallest template."""
    names: dict[str, list[tuple[str, Any]]] = {"x": []}
    names |= {f"lambda_{i + 1}": [] for i in range(towers)}
    return write(
        path, parallel(template(width=width), towers), {**names, "tmpl": dense(width), "d1": []}
    )


def clean_file(path: Path, width: int = 2) -> Path:
    """The smallest template itself."""
    return write(path, template(width=width), {"x": [], "d1": dense(width)})
