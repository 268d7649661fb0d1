"""Layers that Keras 3 has not, written as layers and operations that compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from unnest.core.keras3 import convert_constructor_arguments, derived_weights
from unnest.core.keras3.conversion_context import Context, OldLayer, refused
from unnest.core.keras3.layer_replacements import (
    Choice,
    Expansion,
    LayerArguments,
    LayerCall,
    NewLayer,
    NodeTree,
    Piece,
    Weights,
    chain,
    numpy_operation,
)
from unnest.core.keras3.layers.convert_activation_argument import with_converted_activation
from unnest.core.keras3_op_node import OpNode
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json, JsonObject

IMAGE = "keras.src.ops.image"


def keras_layer(kind: str, name: str, config: JsonObject) -> NewLayer:
    """Return a layer of Keras's own in float32, without weights."""
    return NewLayer(name, kind, {"name": name, "trainable": True, "dtype": "float32", **config}, ())


def _as_today(old: OldLayer) -> NewLayer:
    """Return a layer of a class that Keras 3 has, with its arguments of today."""
    return old.as_new(convert_constructor_arguments.converted_arguments(old))


def _einsum(old: OldLayer, suffix: str, settings: JsonObject) -> NewLayer:
    """Return an EinsumDense with the rules, activation and weights of the layer that it replaces."""
    rules_and_activation = {
        k: v
        for k, v in old.config.items()
        if k.startswith(("kernel_", "bias_", "activ")) and k != "kernel_size"
    }
    bias = {} if old.config.get("use_bias", True) else {"bias_axes": None}
    config = {**rules_and_activation, **settings, **bias}
    dense = _as_today(old._replace(kind="EinsumDense", name=f"{old.name}_{suffix}", config=config))
    trainable = bool(old.config.get("trainable", True))
    return dense._replace(config={**dense.config, "trainable": trainable})


def locally_connected(old: OldLayer) -> Piece:
    """Convert LocallyConnected1D and 2D: a kernel of its own for every patch."""
    if old.config.get("implementation", 1) != 1:
        raise old.refused(
            f"implementation {old.config['implementation']!r} stores its kernel in another form",
        )
    if old.config.get("padding", "valid") != "valid":
        raise old.refused(f"padding {old.config['padding']!r} is of another implementation")
    old.note("locally-connected")
    return Choice(lambda specs, _: _locally_connected(old, specs[0]))


class _Patches(NamedTuple):
    """The patches of an input that a locally connected layer multiplies by kernels of their own.

    `sizes` and `channels` are those of the input, whose channels come first if `channels_first`; `kernel` and `strides`
    have one number a window axis, as `places`: how many patches there are along it.
    """

    sizes: tuple[int, ...]
    channels: int
    channels_first: bool
    kernel: list[int]
    strides: list[int]

    @property
    def places(self) -> list[int]:
        """The patches along each window axis, as padding "valid" makes them."""
        along_axes = zip(self.sizes, self.kernel, self.strides, strict=True)
        return [(size - window) // step + 1 for size, window, step in along_axes]

    @property
    def elements(self) -> int:
        """The numbers in one patch: rows, columns, channels."""
        return prod(self.kernel) * self.channels


def _patches(old: OldLayer, spec: Spec | None) -> _Patches:
    """Return the patches of a locally connected layer. Raises Refused if its input's shape is not known."""
    window_axes = int(old.kind[-2])
    if spec is None or len(spec.shape) != window_axes + 2:
        raise old.refused("the shape of its input does not follow from the file")
    first = old.config.get("data_format") == "channels_first"
    if first and window_axes == 1:
        raise old.refused("channels_first was never made for it")
    sizes, channels = (
        (spec.shape[2:], spec.shape[1]) if first else (spec.shape[1:-1], spec.shape[-1])
    )
    known = tuple(size for size in sizes if size is not None)
    if channels is None or len(known) < len(sizes):
        raise old.refused("the shape of its input is not stored")
    kernel, strides = (_sizes(old.config.get(k), window_axes) for k in ("kernel_size", "strides"))
    return _Patches(known, channels, first, kernel, strides)


def _locally_connected(old: OldLayer, spec: Spec | None) -> Piece:
    """Convert a locally connected layer for an input of known shape: patches, and a dense layer over them."""
    patches, name = _patches(old, spec), old.name
    count, filters = prod(patches.places), int(str(old.config["filters"]))
    dense = _einsum(
        old._replace(weights=_patch_weights(old, patches, filters)), "dense",
        {"equation": "abc,bcd->abd", "output_shape": [count, filters], "bias_axes": "bd"},
    )  # fmt: skip
    activated_dense = with_converted_activation(dense, old.context)
    if not isinstance(activated_dense, NewLayer):
        raise old.refused("an activation that is a layer is not expressed here")
    first, has_one_axis = patches.channels_first, len(patches.sizes) == 1
    row_shape = [1, patches.sizes[0], patches.channels]
    row = keras_layer("Reshape", f"{name}_row", {"target_shape": row_shape})
    last = keras_layer("Permute", f"{name}_channels_last", {"dims": [2, 3, 1]})
    flat = keras_layer("Reshape", f"{name}_patches", {"target_shape": [count, patches.elements]})
    shaped_name = f"{name}_shaped" if first else name
    shaped = keras_layer("Reshape", shaped_name, {"target_shape": [*patches.places, filters]})
    back = keras_layer("Permute", name, {"dims": [3, 1, 2]})
    settings: JsonObject = {
        "size": [1, *patches.kernel] if has_one_axis else patches.kernel,
        "strides": [1, *patches.strides] if has_one_axis else patches.strides,
        "dilation_rate": 1, "padding": "valid", "data_format": "channels_last",
    }  # fmt: skip

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        x: NodeTree = call.args[0]
        if has_one_axis:
            x = LayerCall(row, (x,))
        if first:
            x = LayerCall(last, (x,))
        x = LayerCall(flat, (OpNode(IMAGE, "ExtractPatches", settings, (x,)),))  # type: ignore[arg-type]  # calls among operands
        x = LayerCall(shaped, (LayerCall(activated_dense, (x,)),))
        return (LayerCall(back, (x,)) if first else x,)

    return Expansion(outputs)


def _patch_weights(old: OldLayer, patches: _Patches, filters: int) -> Weights:
    """Return kernel (patches, elements, filters), elements in the order rows, columns, channels, and bias by patch."""
    if not old.weights:
        return ()
    own, *bias = old.weights
    count = prod(patches.places)
    kernel = (count, patches.elements, filters)
    if own.shape != kernel:
        raise old.misfit(f"its kernel has the shape {own.shape}, for its input it is {kernel}")
    if patches.channels_first:
        split = derived_weights.reshaped(own, count, patches.channels, *patches.kernel, filters)
        channels_last = derived_weights.transposed(split, 0, 2, 3, 1, 4)
        own = derived_weights.reshaped(channels_last, count, patches.elements, filters)
        # Read as one of channels first (source: bias_add of the Keras 1 and 2 backends).
        bias = [
            derived_weights.transposed(derived_weights.reshaped(b, filters, count), 1, 0)
            for b in bias
        ]
    return (own, *(derived_weights.reshaped(b, count, filters) for b in bias))


def _sizes(value: Json, window_axes: int) -> list[int]:
    if isinstance(value, int):
        return [value] * window_axes
    assert isinstance(value, Sequence)
    return [int(str(v)) for v in value]


def maxout(old: OldLayer) -> Piece:
    """Convert MaxoutDense: the maximum of `nb_feature` dense layers."""
    config = old.config
    old.note("keras-1-layer")
    features, units = config.get("nb_feature", 4), config.get("output_dim", config.get("units"))
    own = _keras_2(old.without("output_dim", "units", "nb_feature"))
    settings: JsonObject = {
        "equation": "ab,cbd->acd",
        "output_shape": [features, units],
        "bias_axes": "cd",
    }
    dense = _einsum(own, "features", settings)
    return Expansion(
        lambda call: (
            numpy_operation(
                "Max", LayerCall(dense, call.args), axis=1, keepdims=False, initial=None
            ),
        )
    )


def highway(old: OldLayer) -> Piece:
    """Convert Highway: a gate between a dense layer and its input."""
    old.note("keras-1-layer")
    own = _keras_2(old)._replace(kind="Dense")
    biased = bool(own.config["use_bias"])
    if old.weights and len(old.weights) != 2 + 2 * biased:
        raise old.refused(f"has {len(old.weights)} weights, and its config promises others")
    size = old.weights[0].shape[1] if old.weights else old.config.get("input_dim")
    if not isinstance(size, int):
        raise old.refused("its size is not stored")
    transform = own._replace(name=f"{old.name}_transform", weights=old.weights[::2])
    dense = _as_today(transform.with_changed_arguments({"units": size}))
    gate_config: JsonObject = {
        "units": size,
        "activation": "sigmoid",
        "use_bias": biased,
        "trainable": own.config.get("trainable", True),
    }
    carry = own._replace(name=f"{old.name}_carry", config=gate_config, weights=old.weights[1::2])
    gate = _as_today(carry)
    made = with_converted_activation(dense, old.context)
    if not isinstance(made, NewLayer):
        raise old.refused("an activation that is a layer is not expressed here")

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        x = call.args[0]
        share = LayerCall(gate, (x,))
        kept = numpy_operation("Multiply", numpy_operation("Subtract", 1.0, share), x)
        return (
            numpy_operation("Add", numpy_operation("Multiply", LayerCall(made, (x,)), share), kept),
        )

    return Expansion(outputs)


def _keras_2(old: OldLayer) -> OldLayer:
    """Return a dense layer of Keras 1 with Keras 2's argument names."""
    names = layer_record("Dense").keras_1_arguments
    left = old.without("bias", "init", "input_dim", "batch_input_shape", "input_dtype").config
    config = {names.get(k, k): v for k, v in left.items()}
    config["use_bias"] = old.config.get("bias", old.config.get("use_bias", True))
    return old._replace(config=config)


def with_time_and_batch_swapped(made: Piece, old: OldLayer) -> Piece:
    """Transpose input and output of a recurrent layer whose input is (time, batch, features)."""
    if not isinstance(made, NewLayer):
        raise old.refused("time_major with an activation that is a layer is not expressed")
    old.note("time-major")
    sequences = bool(old.config.get("return_sequences"))
    inner = made.renamed(f"{old.name}_batch_major")

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        if call.kwargs or isinstance(call.args[0], Sequence):
            raise old.refused("time_major with states or masks of its own is not expressed")
        turned = numpy_operation("Swapaxes", call.args[0], axis1=0, axis2=1)
        result = LayerCall(inner, (turned,))
        return (numpy_operation("Swapaxes", result, axis1=0, axis2=1),) if sequences else (result,)

    return Expansion(outputs)


def with_bias_on_last_axis(made: NewLayer, context: Context) -> Piece:
    """Add the bias of a channels_first convolution apart: Keras 3 on TensorFlow may add it along the wrong axis."""
    window_axes = layer_record(made.class_name).window_axes
    name = made.name

    def resolved(specs: Sequence[Spec | None], dtypes: Sequence[str]) -> Piece:
        del dtypes
        (spec,) = specs
        given = None if spec is None else keras3_layer_output_specs.output_spec(made.entry, [spec])
        if given is not None and given.shape[-1] not in (None, given.shape[1]):
            return made
        context.note("channels-first-bias", name)
        to_last = [*range(2, window_axes + 2), 1]
        to_first = [window_axes + 1, *range(1, window_axes + 1)]
        inner = made.renamed(f"{name}_channels_last")
        inner = inner._replace(config={**inner.config, "data_format": "channels_last"})
        return chain(
            keras_layer("Permute", f"{name}_to_last", {"dims": to_last}),
            inner,
            keras_layer("Permute", name, {"dims": to_first}),
        )

    return Choice(resolved)


def old_bilinear_upsampling(made: NewLayer, spec: Spec | None) -> Piece:
    """Convert bilinear UpSampling2D with pixel k at k / factor, between its two neighbours: two constant matrices."""
    if spec is None or len(spec.shape) != 4:  # noqa: PLR2004 - batch, two axes, channels
        raise refused(
            made.name,
            made.class_name,
            "the size of its input, which its interpolation needs, is not stored",
        )
    first = made.config.get("data_format") == "channels_first"
    sizes = spec.shape[2:] if first else spec.shape[1:3]
    factors = _sizes(made.config.get("size"), 2)
    matrices = [
        _interpolation_matrix(size, factor)
        for size, factor in zip(sizes, factors, strict=True)
        if size is not None
    ]
    if len(matrices) < 2:  # noqa: PLR2004 - rows and columns
        raise refused(
            made.name,
            made.class_name,
            "the size of its input, which its interpolation needs, is not stored",
        )
    axes = "bcrs" if first else "brsc"

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        # out[b, t, u] = sum over r, s of rows[t, r] * columns[u, s] * in[b, r, s], one axis after the other
        rows = numpy_operation(
            "Einsum", matrices[0], call.args[0], subscripts=f"tr,{axes}->{axes.replace('r', 't')}"
        )
        return (
            numpy_operation(
                "Einsum", matrices[1], rows, subscripts=f"ts,{axes}->{axes.replace('s', 't')}"
            ),
        )

    return Expansion(outputs)


def _interpolation_matrix(size: int, factor: int) -> JsonObject:
    """Return the (size x factor, size) matrix that interpolates new pixels; those behind the last repeat it."""
    rows = []
    for k in range(size * factor):
        low, share = k // factor, k % factor / factor
        row = [0.0] * size
        row[low] += 1 - share
        row[min(low + 1, size - 1)] += share
        rows.append(row)
    return {"class_name": "__numpy__", "config": {"value": rows, "dtype": "float32"}}
