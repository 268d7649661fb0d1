"""Shapes that a layer's config promises for its weights, as far as it does so without knowing the layer's input.

Only Keras's own plain layers, by rules that hold from Keras 1 to 3: a Dense kernel ends in `units`, a convolution's in
`filters` with the sizes of its window in front, an Embedding is (input_dim, output_dim), a recurrent kernel has `units`
columns for each of its gates, and the weights of a BatchNormalization are one vector each, all of one length. Wrapped
layers are held against the wrapped config. (Source: the build methods of Keras 2.0.9 to 3.15.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from unnest.core.architecture import is_model
from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.layer_classes import is_keras_class
from unnest.core.model import Json

Shape = tuple[int, ...]

LAST_AXIS: Mapping[str, str] = {"Dense": "units", "Conv1D": "filters", "Conv2D": "filters", "Conv3D": "filters"}
"""Class -> the key of its config that the last axis of kernel and bias shows."""

AXES: Mapping[str, int] = {"Dense": 2, "Conv1D": 3, "Conv2D": 4, "Conv3D": 5, "Embedding": 2}
"""Class -> how many axes its first weight has."""


GATES: Mapping[str, int] = {"SimpleRNN": 1, "GRU": 3, "CuDNNGRU": 3, "LSTM": 4, "CuDNNLSTM": 4}
"""Class -> how many times `units` the last axis of its kernel and of its recurrent kernel is."""


def contradiction(layer: Layer, shapes: Sequence[Shape]) -> str | None:
    """What a layer's config and the shapes of its weights, in Keras's order, say against each other; None for nothing.

    Layers of other classes, and those with weights that these rules do not know (quantised ones), give None.
    """
    kind, config = layer.class_name, layer.config
    if kind in ("TimeDistributed", "Bidirectional") and (inner := _wrapped(layer)) is not None:
        parts = [shapes] if kind == "TimeDistributed" else [shapes[: len(shapes) // 2], shapes[len(shapes) // 2 :]]
        return next((why for part in parts if (why := contradiction(inner, part))), None)
    if not shapes or not is_keras_class(kind, layer.stored) or not isinstance(config, Mapping):
        return None
    if kind == "BatchNormalization":
        return _vectors_contradiction(config, shapes)
    most = 3 if kind in GATES else 2  # kernel, recurrent kernel, bias
    if config.get("quantization_config") is not None or len(shapes) > most or kind not in {*AXES, *GATES}:
        return None
    wanted = _wanted(kind, config)
    if wanted is None or all(_agrees(shape, want) for shape, want in zip(shapes, wanted, strict=False)):
        return None
    return f"its weights have the shapes {_written(shapes)}, its config promises {_written(wanted[: len(shapes)])}"


def kept_axes(kind: str, config: Mapping[str, Json], rank: int) -> list[int]:
    """Axes of an input of `rank` axes that one of Keras's own layers makes weights for, whose sizes must be known.

    (Source: the `build` methods of Keras 3.15.)
    """
    channels = 1 if config.get("data_format") == "channels_first" else rank - 1
    if kind.startswith("ConvLSTM"):
        return [2 if channels == 1 else channels]
    if re.fullmatch(r"(Separable|Depthwise)?Conv\dD(Transpose)?", kind):
        return [channels]
    if kind in ("Dense", "LSTM", "GRU", "SimpleRNN", "MultiHeadAttention"):
        return [rank - 1]
    if kind in ("BatchNormalization", "LayerNormalization", "GroupNormalization", "Normalization"):
        axes = config.get("axis", -1)
        wanted = [] if axes is None else axes if isinstance(axes, Sequence) else [axes]
        return [axis % rank for axis in wanted if isinstance(axis, int) and -rank <= axis < rank]
    if kind == "PReLU":
        shared = config.get("shared_axes")
        return [axis for axis in range(1, rank) if axis not in (shared if isinstance(shared, Sequence) else ())]
    return []


def _vectors_contradiction(config: Mapping[str, Json], shapes: Sequence[Shape]) -> str | None:
    """The same of a BatchNormalization."""
    if config.get("renorm") or not _is_one_axis(config.get("axis")):
        return None
    fits = all(len(shape) == 1 for shape in shapes) and len({*shapes}) == 1
    return None if fits else f"its weights have the shapes {_written(shapes)}, which are not vectors of one length"


def _wrapped(layer: Layer) -> Layer | None:
    """The one layer that a wrapper holds; None of a model, or where the config has none, or another one backwards."""
    entry = layer.settings.get("layer")
    if not isinstance(entry, Mapping) or layer.settings.get("backward_layer") is not None or is_model(entry):
        return None
    return Layer(layer.name, str(entry.get("class_name")), entry.get("config"), entry, ())


def _is_one_axis(axis: Json) -> bool:
    """Over several axes a normalization's weights have as many; `mode` 1 of Keras 1 has one axis too."""
    return axis is None or isinstance(axis, int) or (isinstance(axis, Sequence) and len(axis) == 1)


def _wanted(kind: str, config: Mapping[str, Json]) -> list[tuple[int | None, ...]] | None:
    """Kernels and bias, None for a size that the config does not tell; of a recurrent layer without its bias."""
    if kind == "Embedding":
        rows, size = config.get("input_dim"), config.get("output_dim")
        return [(rows, size)] if isinstance(rows, int) and isinstance(size, int) else None
    if kind in GATES:
        units = config.get("units")
        if not isinstance(units, int) or isinstance(units, bool):
            return None
        return [(None, GATES[kind] * units), (units, GATES[kind] * units)]
    last = config.get(LAST_AXIS[kind])
    if not isinstance(last, int) or isinstance(last, bool):
        return None
    window = config.get("kernel_size") if kind != "Dense" else []
    if isinstance(window, int):
        window = [window]
    sizes = [n if isinstance(n, int) else None for n in window] if isinstance(window, Sequence) else []
    front = sizes if len(sizes) == AXES[kind] - 2 else [None] * (AXES[kind] - 2)
    return [(*front, None, last), (last,)]


def _agrees(shape: Shape, wanted: Sequence[int | None]) -> bool:
    return len(shape) == len(wanted) and all(w is None or n == w for n, w in zip(shape, wanted, strict=True))


def _written(shapes: Sequence[Sequence[int | None]]) -> str:
    return ", ".join(str(tuple(shape)).replace("None", "?") for shape in shapes)
