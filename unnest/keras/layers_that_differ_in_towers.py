"""Find what a template computes differently in towers, as far as its layers show it (sizes: docs/usages.md)."""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from unnest.keras import batch_norm_momenta
from unnest.keras.keras_api import KerasApi, Model, RuntimeTensor

MAX_NAMES_IN_WARNING = 3
"""Most names of layers in a warning."""


ELEMENTWISE = {
    *("Identity", "Cast", "Neg", "Abs", "Square", "Sqrt", "Exp", "Log", "Pow"),
    *("Mul", "Add", "AddV2", "AddN", "Sub", "SquaredDifference", "Maximum", "Minimum"),
}
"""Operations that keep rows apart."""

_told_of_sums: weakref.WeakSet[Model] = weakref.WeakSet()


def warn_of_summed_losses(
    template: Model, losses: Sequence[RuntimeTensor], rows: int | None
) -> None:
    """Warn, once a template, of losses that layers add and that are sums over the batch; in a graph."""
    if template not in _told_of_sums and any(_is_sum_over_rows(loss, rows) for loss in losses):
        _told_of_sums.add(template)
        warnings.warn(
            f"{template.name!r} in towers: a layer adds a loss that is a sum over the batch; each tower's counts by "
            "its share of the rows, which is less than the plain model's: add a mean",
            UserWarning,
            stacklevel=2,
        )


def _is_sum_over_rows(loss: RuntimeTensor, rows: int | None) -> bool:
    """Return True if a loss is a sum along the axis of the rows (`rows` None: not static), not divided by anything.

    If several reductions follow each other, the one that is computed first is the one along the rows.
    """
    pending, walked, reductions = [loss.op], set(), []
    while pending:
        operation = pending.pop(0)
        if operation in walked:
            continue
        walked.add(operation)
        if operation.type in ("Sum", "Mean"):
            x, axes = operation.inputs[0], tf.get_static_value(operation.inputs[1])
            if (
                axes is not None
                and x.shape.rank
                and x.shape[0] == rows
                and 0 in np.ravel(axes) % x.shape.rank
            ):
                reductions.append(operation.type)
            pending.append(x.op)
        elif operation.type in ELEMENTWISE:
            pending += [x.op for x in operation.inputs]
    return reductions[-1:] == ["Sum"]


_warned_of_states: weakref.WeakSet[Model] = weakref.WeakSet()


def warn_of_states(api: KerasApi, template: Model, graph: Any, operations: Sequence[Any]) -> None:
    """Warn, once a template, of custom layers, the state of which these operations of a tower write."""
    if template in _warned_of_states:
        return
    targets = {
        op.inputs[0].name for op in operations if op.type.startswith("Assign") and len(op.inputs)
    }
    written = {id(handle) for handle, placeholder in graph.captures if placeholder.name in targets}
    names = [
        layer.name
        for layer in template._flatten_layers()
        if _is_users(api, layer) and any(id(_handle(v)) in written for v in api.state_of(layer))
    ]
    if names:
        _warned_of_states.add(template)
        warnings.warn(
            f"{template.name!r} in towers: {_listed(names)} updates a state of its own, once a tower, not once a step",
            UserWarning,
            stacklevel=2,
        )


def _is_users(api: KerasApi, layer: Model) -> bool:
    """Return True for a custom layer that is not a normalization, which has a warning of its own."""
    is_keras = type(layer).__module__.startswith(f"{api.name}.")
    return not is_keras and not isinstance(layer, api.keras.layers.BatchNormalization)


def _handle(variable: Any) -> RuntimeTensor:
    """Return the resource of a variable of either Keras."""
    inner = variable if hasattr(variable, "handle") else getattr(variable, "value", None)
    return getattr(inner, "handle", None)


def differing_layers(api: KerasApi, template: Model, way: str) -> list[str]:
    """Return a clause for each kind of layer that differs in towers; `way` is how towers move moving statistics."""
    clauses = (
        _normalization(api, template, way),
        _synchronized(api, template),
        _spectral(api, template),
    )
    return [clause for clause in (*clauses, _across_rows(template)) if clause]


def _normalization(api: KerasApi, template: Model, way: str) -> str:
    names = [
        layer.name for layer in _layers(api, template, "BatchNormalization") if layer.trainable
    ]
    if not names or way == batch_norm_momenta.MEAN:
        return ""
    return (
        f"{_listed(names)} normalizes each tower by its own rows and moves its statistics once a tower "
        "(moving_statistics='mean': once a step)"
    )


def _synchronized(api: KerasApi, template: Model) -> str:
    layers = _layers(api, template, "BatchNormalization")
    names = [layer.name for layer in layers if getattr(layer, "synchronized", False)]
    return f"synchronized=True of {_listed(names)} has no effect" if names else ""


def _spectral(api: KerasApi, template: Model) -> str:
    names = [layer.name for layer in _layers(api, template, "SpectralNormalization")]
    return f"{_listed(names)} iterates once a tower, not once a step" if names else ""


def _across_rows(template: Model) -> str:
    operations = (
        op for model in _models(template) for op in getattr(model, "operations", model.layers)
    )
    batches = {_rows(x) for x in template.inputs}
    names = [op.name for op in operations if 0 in _axes(op) or _loses_rows(op, batches)]
    return (
        f"{_listed(names)} works along the batch and is given a tower's rows alone" if names else ""
    )


def _axes(operation: object) -> list[object]:
    """Return the axes that a layer or operation works along, by attribute or by an argument of its call."""
    calls = (_arguments(operation, node) for node in getattr(operation, "_inbound_nodes", ()))
    is_function = type(operation).__name__ == "TFOpLambda"
    stated = [
        getattr(operation, "axis", None),
        *(arguments.get("axis") for arguments in calls if is_function),
    ]
    axes = (list(axis) if isinstance(axis, (list, tuple)) else [axis] for axis in stated)
    return [axis for each in axes for axis in each if type(axis) is int]


def _arguments(function: Any, node: Any) -> dict[str, Any]:
    """Return the arguments of a call of a TensorFlow function, by name if its signature is known."""
    by_name = dict(getattr(node, "call_kwargs", None) or {})
    try:
        call = inspect.signature(function.function).bind_partial(*node.call_args, **by_name)
    except (AttributeError, TypeError, ValueError):
        return by_name
    return dict(call.arguments)


def _loses_rows(operation: Any, batches: set[int | str | None]) -> bool:
    """Return True if a function makes tensors without rows from tensors with rows, such as a mean of everything."""
    if hasattr(operation, "get_weights") and type(operation).__name__ != "TFOpLambda":  # a layer
        return False
    return any(
        any(_rows(x) in batches for x in tf.nest.flatten(node.input_tensors))
        and any(_rows(y) not in batches and _is_float(y) for y in tf.nest.flatten(node.outputs))
        for node in operation._inbound_nodes
    )


def _rows(tensor: RuntimeTensor) -> int | str | None:
    """Return the first dimension; "none" for a scalar, None if unknown."""
    shape = tf.TensorShape(tensor.shape)
    return "none" if shape.rank == 0 else shape[0] if shape.rank else None


def _is_float(tensor: RuntimeTensor) -> bool:
    return bool(tf.as_dtype(tensor.dtype).is_floating)


def _layers(api: KerasApi, template: Model, name: str) -> list[Model]:
    """Return the layers of Keras's class of that name, at any level, wrapped ones included."""
    cls = getattr(api.keras.layers, name, None)
    return [
        layer for layer in template._flatten_layers() if cls is not None and isinstance(layer, cls)
    ]


def _models(model: Model) -> Iterator[Model]:
    yield model
    for layer in model.layers:
        if hasattr(layer, "layers"):
            yield from _models(layer)


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MAX_NAMES_IN_WARNING])
    return (
        shown
        if len(names) <= MAX_NAMES_IN_WARNING
        else f"{shown} and {len(names) - MAX_NAMES_IN_WARNING} more"
    )
