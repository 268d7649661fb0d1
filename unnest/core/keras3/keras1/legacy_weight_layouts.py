"""Weights of Keras 1 and of the Theano backend in today's order."""

from __future__ import annotations

from unnest.core.keras3 import derived_weights
from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.layer_replacements import Config, Weights
from unnest.core.layers.catalog import layer_record


def convert_keras_1_weights(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Weights:
    """Return Keras 1's weights in the layout of Keras 2 (source: Keras 2.2.4, preprocess_weights_for_loading)."""
    record = layer_record(kind)
    gates = record.keras_1_gates
    if gates and len(weights) == 3 * len(gates):
        context.note("keras-1-gates", name)
        order = [gates.index(gate) for gate in record.gates]
        if kind == "ConvLSTM2D" and config.get("data_format") == "channels_first":
            is_kernel = [len(w.shape) == 4 for w in weights]  # noqa: PLR2004 - two sizes, channels in and out
            weights = tuple(
                derived_weights.transposed(w, 2, 3, 1, 0) if of_four else w
                for w, of_four in zip(weights, is_kernel, strict=True)
            )
        return tuple(
            derived_weights.concatenated(
                [weights[3 * g + k] for g in order], len(weights[k].shape) - 1
            )
            for k in range(3)
        )
    if not weights:
        return weights
    kernel, *rest = weights
    axes: tuple[int, ...] = ()
    if kind == "Conv1D":
        context.note("keras-1-kernel", name)
        size = config.get("kernel_size")
        if kernel.shape[:2] != (size, 1) or kernel.shape[3] != config.get("filters"):
            kernel = derived_weights.transposed(kernel, 2, 3, 1, 0)
        return (derived_weights.reshaped(kernel, kernel.shape[0], *kernel.shape[2:]), *rest)
    first = config.get("data_format") == "channels_first"
    if kind in ("Conv2D", "Conv3D") and first:
        axes = (2, 3, 1, 0) if kind == "Conv2D" else (2, 3, 4, 1, 0)
    if kind == "Conv2DTranspose":
        axes = (2, 3, 0, 1) if first else (0, 1, 3, 2)
    if kind == "SeparableConv2D" and first:
        context.note("keras-1-kernel", name)
        return (*(derived_weights.transposed(w, 2, 3, 1, 0) for w in weights[:2]), *weights[2:])
    if axes:
        context.note("keras-1-kernel", name)
        kernel = derived_weights.transposed(kernel, *axes)
    return (kernel, *rest)


def flip_theano_kernels(kind: str, weights: Weights, name: str, context: Context) -> Weights:
    """Flip Theano's convolution kernels for a backend that correlates."""
    if context.backend != "theano" or not weights:
        return weights
    if kind.startswith(("Separable", "Depthwise", "Conv3DTranspose", "LocallyConnected")):
        raise refused(name, kind, "how the Theano backend laid out its kernel was not measured")
    window_axes = layer_record(kind).window_axes
    if not window_axes or not layer_record(kind).weights:
        return weights
    context.note("theano-kernel", name)
    kernels = 2 if kind == "ConvLSTM2D" else 1
    return (
        *(derived_weights.flipped(w, *range(window_axes)) for w in weights[:kernels]),
        *weights[kernels:],
    )
