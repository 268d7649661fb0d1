"""Layers that Keras 3 has not, written as layers and operations that compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from unnest.core.keras3 import constructor_arguments, tensor_transforms
from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.layers.activations import activated
from unnest.core.keras3.replacements import (
    Choice,
    Config,
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
from unnest.core.keras_facts import shape_inference
from unnest.core.keras_facts.shape_inference import Spec
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json, JsonObject
from unnest.core.ops.keras3_nodes import OpNode

IMAGE = "keras.src.ops.image"


def layer(kind: str, name: str, config: JsonObject, weights: Weights = ()) -> NewLayer:
    """A layer of Keras's own in float32."""
    return NewLayer(
        name, kind, {"name": name, "trainable": True, "dtype": "float32", **config}, weights
    )


def _einsum(
    name: str, config: Config, settings: JsonObject, weights: Weights, context: Context
) -> NewLayer:
    """An EinsumDense with the rules and the activation of the layer that it stands for."""
    own = {
        k: v
        for k, v in config.items()
        if k.startswith(("kernel_", "bias_", "activ")) and k != "kernel_size"
    }
    bias = {} if config.get("use_bias", True) else {"bias_axes": None}
    new = constructor_arguments.written("EinsumDense", {**own, **settings, **bias}, name, context)
    return NewLayer(
        name, "EinsumDense", {**new, "trainable": bool(config.get("trainable", True))}, weights
    )


def locally_connected(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """LocallyConnected1D and 2D: a kernel of its own for every patch."""
    if config.get("implementation", 1) != 1:
        raise refused(
            name,
            kind,
            f"implementation {config['implementation']!r} stores its kernel in another form",
        )
    if config.get("padding", "valid") != "valid":
        raise refused(name, kind, f"padding {config['padding']!r} is of another implementation")
    context.note("locally-connected", name)
    return Choice(
        lambda specs, _: _locally_connected(kind, config, name, weights, context, specs[0])
    )


def _locally_connected(
    kind: str, config: Config, name: str, weights: Weights, context: Context, spec: Spec | None
) -> Piece:
    rank = int(kind[-2])
    if spec is None or len(spec.shape) != rank + 2:
        raise refused(name, kind, "the shape of its input does not follow from the file")
    first = config.get("data_format") == "channels_first"
    if first and rank == 1:
        raise refused(name, kind, "channels_first was never made for it")
    sizes, channels = (
        (spec.shape[2:], spec.shape[1]) if first else (spec.shape[1:-1], spec.shape[-1])
    )
    kernel, strides = (_sizes(config.get(k), rank) for k in ("kernel_size", "strides"))
    if channels is None or None in sizes:
        raise refused(name, kind, "the shape of its input is not stored")
    out = [((s or 0) - k) // step + 1 for s, k, step in zip(sizes, kernel, strides, strict=True)]
    patches, filters = prod(out), int(str(config["filters"]))
    weights = _patch_weights(weights, patches, kernel, channels, filters, config)
    dense = _einsum(
        f"{name}_dense", config,
        {"equation": "abc,bcd->abd", "output_shape": [patches, filters], "bias_axes": "bd"}, weights, context,
    )  # fmt: skip
    activated_dense = activated(dense, context)
    if not isinstance(activated_dense, NewLayer):
        raise refused(name, kind, "an activation that is a layer is not expressed here")
    flat = layer("Reshape", f"{name}_patches", {"target_shape": [patches, prod(kernel) * channels]})
    row = layer("Reshape", f"{name}_row", {"target_shape": [1, sizes[0] or 0, channels]})
    last = layer("Permute", f"{name}_channels_last", {"dims": [2, 3, 1]})
    shaped = layer(
        "Reshape", f"{name}_shaped" if first else name, {"target_shape": [*out, filters]}
    )
    back = layer("Permute", name, {"dims": [3, 1, 2]})

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        x: NodeTree = call.args[0]
        if rank == 1:
            x = LayerCall(row, (x,))
        if first:
            x = LayerCall(last, (x,))
        settings: JsonObject = {
            "size": [1, *kernel] if rank == 1 else kernel, "strides": [1, *strides] if rank == 1 else strides,
            "dilation_rate": 1, "padding": "valid", "data_format": "channels_last",
        }  # fmt: skip
        x = LayerCall(flat, (OpNode(IMAGE, "ExtractPatches", settings, (x,)),))  # type: ignore[arg-type]  # calls among operands
        x = LayerCall(shaped, (LayerCall(activated_dense, (x,)),))
        return (LayerCall(back, (x,)) if first else x,)

    return Expansion(outputs)


def _patch_weights(
    weights: Weights,
    patches: int,
    kernel: Sequence[int],
    channels: int,
    filters: int,
    config: Config,
) -> Weights:
    """Kernel (patches, elements, filters) with the elements in the order of rows, columns, channels; bias by patch."""
    if not weights:
        return ()
    own, *bias = weights
    first = config.get("data_format") == "channels_first"
    if first:
        split = tensor_transforms.reshaped(own, patches, channels, *kernel, filters)
        own = tensor_transforms.reshaped(
            tensor_transforms.transposed(split, 0, 2, 3, 1, 4),
            patches,
            prod(kernel) * channels,
            filters,
        )
    if (
        bias and first
    ):  # read as one of channels first (source: bias_add of the Keras 1 and 2 backends)
        bias = [
            tensor_transforms.transposed(
                tensor_transforms.reshaped(bias[0], filters, patches), 1, 0
            )
        ]
    return (own, *(tensor_transforms.reshaped(b, patches, filters) for b in bias))


def _sizes(value: Json, rank: int) -> list[int]:
    if isinstance(value, int):
        return [value] * rank
    assert isinstance(value, Sequence)
    return [int(str(v)) for v in value]


def maxout(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """MaxoutDense: the largest of `nb_feature` dense layers."""
    del kind
    context.note("keras-1-layer", name)
    features, units = config.get("nb_feature", 4), config.get("output_dim", config.get("units"))
    own = {**config, "use_bias": config.get("bias", config.get("use_bias", True))}
    for key in ("output_dim", "units", "nb_feature", "bias", "init"):
        own.pop(key, None)
    settings: JsonObject = {
        "equation": "ab,cbd->acd",
        "output_shape": [features, units],
        "bias_axes": "cd",
    }
    dense = _einsum(f"{name}_features", _keras_2(own), settings, weights, context)
    return Expansion(
        lambda call: (
            numpy_operation(
                "Max", LayerCall(dense, call.args), axis=1, keepdims=False, initial=None
            ),
        )
    )


def highway(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Highway: a gate between a dense layer and its input."""
    context.note("keras-1-layer", name)
    own = {**config, "use_bias": config.get("bias", config.get("use_bias", True))}
    for key in ("bias", "init", "input_dim"):
        own.pop(key, None)
    own = _keras_2(own)
    biased = bool(own["use_bias"])
    if weights and len(weights) != 2 + 2 * biased:
        raise refused(name, kind, f"has {len(weights)} weights, and its config promises others")
    size = weights[0].shape[1] if weights else config.get("input_dim")
    if not isinstance(size, int):
        raise refused(name, kind, "its size is not stored")
    dense = NewLayer(
        f"{name}_transform",
        "Dense",
        constructor_arguments.written(
            "Dense", {**own, "units": size}, f"{name}_transform", context
        ),
        weights[::2],
    )
    gate_config: JsonObject = {
        "units": size,
        "activation": "sigmoid",
        "use_bias": biased,
        "trainable": own.get("trainable", True),
    }
    gate = NewLayer(
        f"{name}_carry",
        "Dense",
        constructor_arguments.written("Dense", gate_config, f"{name}_carry", context),
        weights[1::2],
    )
    made = activated(dense, context)
    if not isinstance(made, NewLayer):
        raise refused(name, kind, "an activation that is a layer is not expressed here")

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        x = call.args[0]
        share = LayerCall(gate, (x,))
        kept = numpy_operation("Multiply", numpy_operation("Subtract", 1.0, share), x)
        return (
            numpy_operation("Add", numpy_operation("Multiply", LayerCall(made, (x,)), share), kept),
        )

    return Expansion(outputs)


def _keras_2(config: Config) -> dict[str, Json]:
    """Keras 1's names of a dense layer's rules, where they are left."""
    names = {"W_regularizer": "kernel_regularizer", "b_regularizer": "bias_regularizer",
             "W_constraint": "kernel_constraint", "b_constraint": "bias_constraint"}  # fmt: skip
    return {
        names.get(k, k): v
        for k, v in config.items()
        if k not in ("input_dim", "batch_input_shape", "input_dtype")
    }


def time_major(made: Piece, name: str, kind: str, *, sequences: bool, context: Context) -> Piece:
    """A recurrent layer whose input begins with time, not with the batch."""
    if not isinstance(made, NewLayer):
        raise refused(name, kind, "time_major with an activation that is a layer is not expressed")
    context.note("time-major", name)
    inner = made.renamed(f"{name}_batch_major")

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        if call.kwargs or isinstance(call.args[0], Sequence):
            raise refused(name, kind, "time_major with states or masks of its own is not expressed")
        turned = numpy_operation("Swapaxes", call.args[0], axis1=0, axis2=1)
        result = LayerCall(inner, (turned,))
        return (numpy_operation("Swapaxes", result, axis1=0, axis2=1),) if sequences else (result,)

    return Expansion(outputs)


def channels_first(made: NewLayer, context: Context) -> Piece:
    """A convolution of channels_first with a bias, which Keras 3 on TensorFlow adds along the wrong axis at times."""
    rank = layer_record(made.class_name).window_axes
    name = made.name

    def resolved(specs: Sequence[Spec | None], dtypes: Sequence[str]) -> Piece:
        del dtypes
        (spec,) = specs
        given = None if spec is None else shape_inference.result_of(made.entry, [spec])
        if given is not None and given.shape[-1] not in (None, given.shape[1]):
            return made
        context.note("channels-first-bias", name)
        to_last = [*range(2, rank + 2), 1]
        to_first = [rank + 1, *range(1, rank + 1)]
        inner = made.renamed(f"{name}_channels_last")
        inner = replace(inner, config={**inner.config, "data_format": "channels_last"})
        return chain(
            layer("Permute", f"{name}_to_last", {"dims": to_last}),
            inner,
            layer("Permute", name, {"dims": to_first}),
        )

    return Choice(resolved)


def bilinear(made: NewLayer, spec: Spec | None) -> Piece:
    """UpSampling2D with pixel k at k / factor, between its two neighbours: two constant matrices."""
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
        _between(size, factor)
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
        rows = numpy_operation(
            "Einsum", matrices[0], call.args[0], subscripts=f"tr,{axes}->{axes.replace('r', 't')}"
        )
        return (
            numpy_operation(
                "Einsum", matrices[1], rows, subscripts=f"ts,{axes}->{axes.replace('s', 't')}"
            ),
        )

    return Expansion(outputs)


def _between(size: int, factor: int) -> JsonObject:
    """The matrix (size x factor, size) that puts new pixels between old ones, the last beside itself."""
    rows = []
    for k in range(size * factor):
        low, share = k // factor, k % factor / factor
        row = [0.0] * size
        row[low] += 1 - share
        row[min(low + 1, size - 1)] += share
        rows.append(row)
    return {"class_name": "__numpy__", "config": {"value": rows, "dtype": "float32"}}
