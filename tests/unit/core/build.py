"""Architectures and weights as short as they can be said, in the form of Keras 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unnest.core.model import JsonObject, Tensor


def layer(name: str, *reads: Sequence[Any], kind: str = "Dense", **config: Any) -> dict[str, Any]:
    """A layer's entry; each of `reads` is one call: names, or (name, node, tensor), of what it reads."""
    calls = [
        [[*((ref, 0, 0) if isinstance(ref, str) else ref), {}] for ref in call] for call in reads
    ]
    return {
        "class_name": kind,
        "name": name,
        "config": {"name": name, **config},
        "inbound_nodes": calls,
    }


def source(name: str = "x", shape: Sequence[int | None] = (None, 4)) -> dict[str, Any]:
    """An input layer's entry."""
    return layer(name, kind="InputLayer", batch_input_shape=list(shape), dtype="float32")


def functional(
    *layers: dict[str, Any],
    inputs: Sequence[Any] = (("x", 0, 0),),
    outputs: Sequence[Any] = (("y", 0, 0),),
    name: str = "net",
) -> dict[str, Any]:
    """A functional model."""
    ends = {
        "input_layers": [list(ref) for ref in inputs],
        "output_layers": [list(ref) for ref in outputs],
    }
    return {"class_name": "Functional", "config": {"name": name, "layers": list(layers), **ends}}


def sequential(*layers: dict[str, Any], name: str = "seq") -> dict[str, Any]:
    """A Sequential of entries; their calls are left out, as its writer does."""
    entries = [
        {k: v for k, v in entry.items() if k not in ("inbound_nodes", "name")} for entry in layers
    ]
    return {"class_name": "Sequential", "config": {"name": name, "layers": entries}}


def nested(model: dict[str, Any], *reads: Sequence[Any]) -> dict[str, Any]:
    """A model as a layer's entry of another."""
    return {**layer(model["config"]["name"], *reads), **model}


DENSE: dict[str, Any] = {
    "units": 3, "use_bias": True,
    "kernel_initializer": {"class_name": "Zeros", "config": {}}, "kernel_regularizer": None,
    "bias_initializer": {"class_name": "Zeros", "config": {}}, "bias_regularizer": None,
}  # fmt: skip
"""What a Dense layer's config says of its weights: kernel and bias."""

NORM: dict[str, Any] = {
    "axis": -1, "center": True, "scale": True,
    "beta_initializer": {"class_name": "Zeros", "config": {}}, "beta_regularizer": None,
    "gamma_initializer": {"class_name": "Ones", "config": {}}, "gamma_regularizer": None,
    "moving_mean_initializer": {"class_name": "Zeros", "config": {}},
    "moving_variance_initializer": {"class_name": "Ones", "config": {}},
}  # fmt: skip
"""The same of BatchNormalization: gamma and beta, trained, and two statistics."""


def tensors(*names: str, shape: Sequence[int] = (3,)) -> tuple[Tensor, ...]:
    """Stored tensors, each its own place; kernels have an axis more than `shape`, of 3."""
    shapes = [(shape[-1], *shape) if name.endswith("kernel:0") else tuple(shape) for name in names]
    return tuple(
        Tensor(name, size, "<f4", f"/{i}/{name}")
        for i, (name, size) in enumerate(zip(names, shapes, strict=True))
    )


def names(entries: Sequence[JsonObject]) -> list[str]:
    """The names of layer entries, in order."""
    return [
        str(
            entry.get(
                "name", entry["config"]["name"] if isinstance(entry["config"], dict) else None
            )
        )
        for entry in entries
    ]
