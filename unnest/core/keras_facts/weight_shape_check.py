"""Shapes that a layer's config promises for its weights, as far as it does so without knowing the layer's input.

Only Keras's own plain layers, by rules that hold from Keras 1 to 3: a Dense kernel ends in `units`, a convolution's in
`filters` with the sizes of its window in front, an Embedding is (input_dim, output_dim), a recurrent kernel has `units`
columns for each of its gates, and the weights of a BatchNormalization are one vector each, all of one length. Wrapped
layers are held against the wrapped config. (Source: the build methods of Keras 2.0.9 to 3.15.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.architecture import is_model
from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.stored_class_names import is_keras_class
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json

WeightShape = tuple[int, ...]


def shape_contradiction(layer: Layer, shapes: Sequence[WeightShape]) -> str | None:
    """Return a contradiction of a layer's config and the shapes of its weights, in Keras's order; or None.

    Layers of other classes, and those with weights that these rules do not know (quantised ones), give None.
    """
    kind, config = layer.class_name, layer.config
    if kind in ("TimeDistributed", "Bidirectional") and (inner := _wrapped(layer)) is not None:
        parts = (
            [shapes]
            if kind == "TimeDistributed"
            else [shapes[: len(shapes) // 2], shapes[len(shapes) // 2 :]]
        )
        return next((why for part in parts if (why := shape_contradiction(inner, part))), None)
    if not shapes or not is_keras_class(kind, layer.stored) or not isinstance(config, Mapping):
        return None
    if kind == "BatchNormalization":
        return _vectors_contradiction(config, shapes)
    record = layer_record(kind)
    is_known = record.weight_shapes is not None and len(shapes) <= max(2, len(record.weights or ()))
    if not is_known or config.get("quantization_config") is not None:
        return None
    wanted = record.weight_shapes(config) if record.weight_shapes else None
    if wanted is None or all(
        fits_shape(shape, want) for shape, want in zip(shapes, wanted, strict=False)
    ):
        return None
    return f"its weights have the shapes {_written(shapes)}, its config promises {_written(wanted[: len(shapes)])}"


def _vectors_contradiction(config: Mapping[str, Json], shapes: Sequence[WeightShape]) -> str | None:
    """Return how a BatchNormalization's weight shapes contradict its config, or None."""
    if config.get("renorm") or not _is_one_axis(config.get("axis")):
        return None
    fits = all(len(shape) == 1 for shape in shapes) and len({*shapes}) == 1
    return (
        None
        if fits
        else f"its weights have the shapes {_written(shapes)}, which are not vectors of one length"
    )


def _wrapped(layer: Layer) -> Layer | None:
    """Return the one layer in a wrapping layer; None for a model, without a config, or with a `backward_layer`."""
    entry = layer.settings.get("layer")
    if (
        not isinstance(entry, Mapping)
        or layer.settings.get("backward_layer") is not None
        or is_model(entry)
    ):
        return None
    return Layer(layer.name, str(entry.get("class_name")), entry.get("config"), entry, ())


def _is_one_axis(axis: Json) -> bool:
    """Return True if a normalization has one axis (Keras 1's `mode` 1 too): its weights are vectors then."""
    return axis is None or isinstance(axis, int) or (isinstance(axis, Sequence) and len(axis) == 1)


def fits_shape(shape: WeightShape, wanted: Sequence[int | None]) -> bool:
    """Return True if a weight has the shape that a config promises, None for a size that it does not tell."""
    return len(shape) == len(wanted) and all(
        w is None or n == w for n, w in zip(shape, wanted, strict=True)
    )


def _written(shapes: Sequence[Sequence[int | None]]) -> str:
    return ", ".join(str(tuple(shape)).replace("None", "?") for shape in shapes)
