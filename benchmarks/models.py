"""Parallel models of any size, made without Keras."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from unnest.core.model import Group, Stored, Tensor

Layer = dict[str, Any]

#: Rows and columns of one kernel of a large model, which has many, and its bytes.
SIDE = 2048
KERNEL = SIDE * SIDE * 4


def _layer(
    class_name: str,
    name: str,
    inbound: list[list[Any]] | None = None,
    **config: Any,  # noqa: ANN401 - JSON is any
) -> Layer:
    nodes = [] if inbound is None else [[[*node, {}] for node in inbound]]
    return {
        "class_name": class_name,
        "name": name,
        "config": {"name": name, **config},
        "inbound_nodes": nodes,
    }


def _model(name: str, layers: list[Layer], last: str) -> Layer:
    config = {
        "name": name,
        "layers": layers,
        "input_layers": [["x", 0, 0]],
        "output_layers": [[last, 0, 0]],
    }
    return {"class_name": "Model", "config": config}


def _input(width: int = 8) -> Layer:
    return _layer("InputLayer", "x", batch_input_shape=[None, width], dtype="float32", sparse=False)


def chain(name: str, count: int, width: int = 8) -> Layer:
    """Dense layers one after the other, without biases."""
    layers = [_input(width)]
    for i in range(count):
        before = "x" if i == 0 else f"d{i - 1}"
        layers.append(_layer("Dense", f"d{i}", [[before, 0, 0]], units=width, use_bias=False))
    return _model(name, layers, f"d{count - 1}")


def wrapped(inner: Layer, name: str, towers: int = 2, width: int = 8) -> Layer:
    """Return the model that multi_gpu_model makes of it."""
    template, merge = inner["config"]["name"], inner["config"]["output_layers"][0][0]
    cuts = [
        _layer("Lambda", f"l{i}", [["x", 0, 0]], arguments={"i": i, "parts": towers})
        for i in range(towers)
    ]
    nested = {
        **inner,
        "name": template,
        "inbound_nodes": [[[f"l{i}", 0, 0, {}]] for i in range(towers)],
    }
    join = _layer("Concatenate", merge, [[template, i + 1, 0] for i in range(towers)], axis=0)
    return _model(name, [_input(width), *cuts, nested, join], merge)


def _stored(model: Layer, tensors: tuple[Tensor, ...], holder: str) -> Stored:
    names = [layer["name"] for layer in model["config"]["layers"]]
    return Stored(
        "model", model, groups=tuple(Group(n, tensors if n == holder else ()) for n in names)
    )


def stored_with_layers(count: int) -> Stored:
    """A wrapped chain of so many layers, with a weight each."""
    tensors = tuple(Tensor(f"d{i}/kernel:0", (8, 8), "<f4", f"d{i}") for i in range(count))
    return _stored(wrapped(chain("template", count), "parallel"), tensors, "template")


def stored_with_levels(count: int) -> Stored:
    """A small model, wrapped again and again."""
    model = chain("level_0", 2)
    for i in range(count):
        model = wrapped(model, f"level_{i + 1}")
    tensors = tuple(Tensor(f"d{i}/kernel:0", (8, 8), "<f4", f"d{i}") for i in range(2))
    return _stored(model, tensors, f"level_{count - 1}")


def stored_with_towers(count: int) -> Stored:
    """A wrapped chain of ten layers in so many towers."""
    tensors = tuple(Tensor(f"d{i}/kernel:0", (8, 8), "<f4", f"d{i}") for i in range(10))
    return _stored(wrapped(chain("template", 10), "parallel", count), tensors, "template")


def parallel_file(path: Path, size: int) -> None:
    """A full save of about so many bytes of random weights."""
    count = max(1, size // KERNEL)
    model = wrapped(chain("template", count, SIDE), "parallel", width=SIDE)
    values = np.random.default_rng(0)
    with h5py.File(path, "w", libver="earliest") as file:
        file.attrs["keras_version"], file.attrs["backend"] = b"2.2.4", b"tensorflow"
        file.attrs["model_config"] = json.dumps(model).encode()
        root = file.create_group("model_weights")
        root.attrs["layer_names"] = np.array(
            [layer["name"].encode() for layer in model["config"]["layers"]]
        )
        for layer in model["config"]["layers"]:
            group = root.create_group(layer["name"])
            names = [f"d{i}/kernel:0" for i in range(count)] if layer["name"] == "template" else []
            group.attrs["weight_names"] = (
                np.array([n.encode() for n in names]) if names else np.empty(0)
            )
            for name in names:
                group[name] = values.random((SIDE, SIDE), "f4")


def renamed(path: Path, number: int) -> None:
    """Make a file unlike all others: by an unused number in its architecture, or beside its weights."""
    with h5py.File(path, "r+", libver="earliest") as file:
        if "model_config" in file.attrs:
            stored = file.attrs["model_config"]
            text = stored.decode() if isinstance(stored, bytes) else stored
            architecture = json.loads(text)
            architecture["numbered"] = number
            new = json.dumps(architecture)
            file.attrs.create("model_config", new if isinstance(stored, str) else new.encode())
        else:
            file.attrs["numbered"] = number


def trained_on(path: Path, epoch: int) -> None:
    """Give every weight of a file another value."""
    values = np.random.default_rng(epoch)
    with h5py.File(path, "r+") as file:
        datasets: list[h5py.Dataset] = []
        file.visititems(
            lambda _, found: datasets.append(found) if isinstance(found, h5py.Dataset) else None
        )
        for dataset in datasets:
            dataset[...] = values.random(dataset.shape).astype(dataset.dtype)
