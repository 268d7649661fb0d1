"""What a template computes differently in towers, as far as its layers show it: docs/training.md has the sizes."""

from __future__ import annotations

from collections.abc import Iterator

from unnest.keras import moving_statistics
from unnest.keras.keras_api import Kit, Model

SHOWN = 3
"""So many names of layers of a kind are told."""


def of(kit: Kit, template: Model, way: str) -> list[str]:
    """One clause for each such kind of layer; `way` is how towers move moving statistics."""
    clauses = (_normalization(kit, template, way), _synchronized(kit, template), _spectral(kit, template))
    return [clause for clause in (*clauses, _across_rows(template)) if clause]


def _normalization(kit: Kit, template: Model, way: str) -> str:
    names = [layer.name for layer in _layers(kit, template, "BatchNormalization") if layer.trainable]
    if not names or way == moving_statistics.MEAN:
        return ""
    return (
        f"{_listed(names)} normalizes each tower by its own rows and moves its statistics once a tower "
        "(moving_statistics='mean': once a step)"
    )


def _synchronized(kit: Kit, template: Model) -> str:
    layers = _layers(kit, template, "BatchNormalization")
    names = [layer.name for layer in layers if getattr(layer, "synchronized", False)]
    return f"synchronized=True of {_listed(names)} has no effect" if names else ""


def _spectral(kit: Kit, template: Model) -> str:
    names = [layer.name for layer in _layers(kit, template, "SpectralNormalization")]
    return f"{_listed(names)} iterates once a tower, not once a step" if names else ""


def _across_rows(template: Model) -> str:
    operations = (op for model in _models(template) for op in getattr(model, "operations", model.layers))
    names = [op.name for op in operations if 0 in _axes(op)]
    return f"{_listed(names)} works along the batch and is given a tower's rows alone" if names else ""


def _axes(operation: object) -> list[object]:
    """The axes that a layer or operation says it works along, by attribute or as an argument of its call."""
    calls = (getattr(node, "call_kwargs", None) or {} for node in getattr(operation, "_inbound_nodes", ()))
    is_function = type(operation).__name__ == "TFOpLambda"
    told = [getattr(operation, "axis", None), *(kwargs.get("axis") for kwargs in calls if is_function)]
    axes = (list(axis) if isinstance(axis, (list, tuple)) else [axis] for axis in told)
    return [axis for each in axes for axis in each if type(axis) is int]


def _layers(kit: Kit, template: Model, name: str) -> list[Model]:
    """The layers of Keras's class of that name, at whatever level, wrapped ones included."""
    cls = getattr(kit.keras.layers, name, None)
    return [layer for layer in template._flatten_layers() if cls is not None and isinstance(layer, cls)]


def _models(model: Model) -> Iterator[Model]:
    yield model
    for layer in model.layers:
        if hasattr(layer, "layers"):
            yield from _models(layer)


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
