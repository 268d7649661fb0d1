"""BatchNormalization and Normalization."""

from __future__ import annotations

from collections.abc import Sequence

from unnest.core.keras3.conversion_context import Context, OldLayer, has_initializer_dtypes, listed
from unnest.core.keras3.layer_replacements import Choice, NewLayer, Piece
from unnest.core.keras3.layers.kept_layers import passing_layer, plain_layer
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.layers.catalog import built_axes


def batch_normalization(old: OldLayer) -> Piece:
    """Convert BatchNormalization along one axis. Raises CannotConvert for Keras 1's modes 1 and 2."""
    mode = old.config.get("mode", 0)
    axis = old.config.get("axis")
    if isinstance(axis, Sequence) and len(axis) != 1:
        raise old.refused(f"Keras 3 normalizes along one axis, and this one along {axis!r}")
    if mode == 0:
        # Keras 1's config speaks of no initializers, and its layer has all four weights.
        if "gamma_initializer" not in old.config and len(old.weights) not in (0, 4):
            raise old.refused(f"has {len(old.weights)} weights in place of 4")
        if old.config.get("trainable") is False and _normalizes_frozen_by_batch(old):
            old.context.notes.frozen.append(old.name)
        return plain_layer(old)
    by = "each row by itself" if mode == 1 else "by the batch at hand"
    raise old.refused(f"mode {mode!r} of Keras 1 normalizes {by}, which Keras 3 does not")


def _normalizes_frozen_by_batch(old: OldLayer) -> bool:
    """Return True if the writer's BatchNormalization normalized by the batch in training even where it is frozen.

    Standalone Keras did, and TensorFlow 1.
    (Source: Keras 2.2.4, keras/layers/normalization.py: call, which does not ask whether it is trainable; files and
    training steps of TensorFlow 1.13, 1.15 and 2.0, which all call themselves 2.2.4-tf.)
    """
    if old.context.is_standalone:
        return True
    return (
        old.context.is_tf
        and (2,) <= old.context.release <= (2, 2, 4)
        and has_initializer_dtypes(old.config) is True
    )


def normalization(old: OldLayer) -> Piece:
    """Convert Normalization, which handed on no mask. Raises CannotConvert for one that keeps the rows apart.

    (Source: Keras 3.15, keras/src/layers/preprocessing/normalization.py: the sizes of all axes kept must be known.)
    """
    axis = old.config.get("axis")
    if axis == 0 or (isinstance(axis, Sequence) and 0 in axis):
        raise old.refused(
            "normalizes each row of the batch by itself, whose number Keras 3 wants fixed",
        )
    made = passing_layer(old)
    if not isinstance(made, NewLayer) or not old.weights:
        return made
    return Choice(lambda specs, _: _built(made, specs[0], old.context))


def _built(layer: NewLayer, spec: Spec | None, context: Context) -> NewLayer:
    """Return the layer built on the sizes of its stored mean if its input's are unknown.

    (Source: TensorFlow 2.3 to 2.15: `adapt` builds the layer, whatever it is called on; Keras 3 builds it by the call.)
    """
    if spec is None:
        return layer
    axes = built_axes(layer.class_name, layer.config, len(spec.shape))
    mean = layer.weights[0].shape
    if all(spec.shape[axis] is not None for axis in axes) or len(mean) != len(axes):
        return layer
    context.note("known-size", layer.name, listed(mean))
    sizes = dict(zip(sorted(axes), mean, strict=True))
    return layer._replace(
        build_shape=tuple(sizes.get(axis, size) for axis, size in enumerate(spec.shape))
    )
