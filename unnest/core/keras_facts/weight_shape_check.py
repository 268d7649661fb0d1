"""Shapes and names that a layer's config promises for its weights, as far as it does without knowing the layer's input.

Only Keras's own plain layers, by rules that hold from Keras 1 to 3: a Dense kernel ends in `units`, a convolution's in
`filters` with the sizes of its window in front, an Embedding is (input_dim, output_dim), a recurrent kernel has `units`
columns for each of its gates, and the weights of a BatchNormalization are one vector each, all of one length. Wrapped
layers are held against the wrapped config. (Source: the build methods of Keras 2.0.9 to 3.15.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from unnest.core.architecture import is_model
from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.stored_class_names import (
    current_class_name,
    is_keras_class,
    is_keras_layer,
)
from unnest.core.layers.catalog import LAYER_RECORDS, layer_record
from unnest.core.layers.record import KerasLayer, Parts
from unnest.core.layers.weight_rules import PartialShape
from unnest.core.model import Json, JsonObject, Shape

WeightShape = tuple[int, ...]


def shape_contradiction(
    layer: Layer, shapes: Sequence[WeightShape], *, takes_cudnn: bool = True
) -> str | None:
    """Return a contradiction of a layer's config and the shapes of its weights, in Keras's order; or None.

    Layers of other classes, and those with weights that these rules do not know (quantised ones), give None.
    `takes_cudnn`: whether weights of a CuDNN class may stand under its plain kin, and the other way round, which
    `--keras 3` converts, as Keras 2 does where it loads an `.h5`.
    """
    kind, config = current_class_name(layer.class_name), layer.config
    if (held := _layers_within(layer, shapes)) is not None:
        found = (shape_contradiction(of, part, takes_cudnn=takes_cudnn) for of, part in held)
        return next((why for why in found if why), None)
    if not shapes or not is_keras_layer(layer) or not isinstance(config, Mapping):
        return None
    if kind in OF_SEVERAL_WEIGHTS:
        return OF_SEVERAL_WEIGHTS[kind](config, shapes)
    record = layer_record(kind)
    is_known = len(shapes) <= max(2, len(record.weights or ()))
    is_plain = is_known and config.get("quantization_config") is None
    wanted = _promised_shapes(kind, config) if is_plain else None
    if wanted is None:
        return None
    if record.parts is Parts.LAYERS:  # each container has these in an order of its own
        fits = all(any(fits_shape(shape, want) for want in wanted) for shape in shapes)
    else:
        of_kin = _shapes_of_cudnn_kin(kind, config) if takes_cudnn else None
        fits = _fit(shapes, wanted) or (of_kin is not None and _fit(shapes, of_kin))
    return None if fits else _contradiction(shapes, wanted)


def contradiction_by_input(
    class_name: str, config: JsonObject, input_shape: Shape, shapes: Sequence[WeightShape]
) -> str | None:
    """Return a contradiction of the shapes of all weights and those that a layer makes for such an input; or None."""
    rule = layer_record(class_name).weight_shapes_of_input
    wanted = rule(config, input_shape) if rule is not None and shapes else None
    if wanted is None or (len(shapes) == len(wanted) and _fit(shapes, wanted)):
        return None
    found = f"its weights have the shapes {_written(shapes)}"
    return (
        f"{found}, its config and its input, {_written([input_shape])}, promise {_written(wanted)}"
    )


def _contradiction(shapes: Sequence[WeightShape], wanted: Sequence[PartialShape]) -> str:
    return f"its weights have the shapes {_written(shapes)}, its config promises {_written(wanted[: len(shapes)])}"


def _promised_shapes(kind: str, config: JsonObject) -> list[PartialShape] | None:
    rule = layer_record(kind).weight_shapes
    return None if rule is None else rule(config)


def _shapes_of_cudnn_kin(kind: str, config: JsonObject) -> list[PartialShape] | None:
    """Return the shapes that the same weights have in the CuDNN class of a plain one, or in the plain of a CuDNN one.

    A GRU without `reset_after` has no such kin.
    """
    kin = CUDNN_KIN.get(kind)
    if kin is None or config.get("reset_after") is False:
        return None
    return _promised_shapes(kin, {"reset_after": True, **config})


#: Class -> the other one that has the same weights in another form.
CUDNN_KIN: Mapping[str, str] = {
    name: kin
    for record in LAYER_RECORDS.values()
    if record.successor
    for name, kin in ((record.name, record.successor), (record.successor, record.name))
}


def name_contradiction(layer: Layer, names: Sequence[str]) -> str | None:
    """Return a contradiction of a layer's class and the names of its weights (`emb/embeddings:0` of a Dense); or None.

    Names that no class of Keras gives to a weight (Keras 1's `dense_1_W`, a number, another program's) say nothing.
    """
    kind = current_class_name(layer.class_name)
    if (inner := _wrapped(layer)) is not None:
        return name_contradiction(inner, names)
    record = layer_record(kind)
    if not is_keras_layer(layer) or not (record.is_plain or record.parts is Parts.CELL):
        return None
    own = _weight_names(record)
    if not own:
        return None
    other = next((name for n in names if (name := _own_name(n)) in WEIGHT_NAMES - own), None)
    return None if other is None else f"the file has its weight {other!r}, and {kind} has none"


def _weight_names(record: KerasLayer) -> frozenset[str]:
    """Return the names that a class gives to its weights, today and in Keras 1."""
    names = {name for weight in record.weights or () for name in (weight.name, weight.keras_1)}
    return frozenset(name.rpartition("/")[2] for name in names if len(name) > 1)


#: Names of weights, of any class.
WEIGHT_NAMES = frozenset().union(*map(_weight_names, LAYER_RECORDS.values()))


def _own_name(weight_name: str) -> str:
    """Return `kernel` of `dense_1/kernel_2:0`: the last part, without the numbers that TensorFlow adds."""
    last = weight_name.rpartition("/")[2].partition(":")[0]
    return re.sub(r"_\d+$", "", last)


def _fit(shapes: Sequence[WeightShape], wanted: Sequence[PartialShape]) -> bool:
    return all(fits_shape(shape, want) for shape, want in zip(shapes, wanted, strict=False))


def _layers_within(
    layer: Layer, shapes: Sequence[WeightShape]
) -> list[tuple[Layer, Sequence[WeightShape]]] | None:
    """Return the layers, or cell, that own all weights of a layer, each with its part of them; None for others."""
    cell = layer.settings.get("cell")
    if layer.class_name == "RNN" and isinstance(cell, Mapping):
        return [
            (Layer(layer.name, str(cell.get("class_name")), cell.get("config"), cell, ()), shapes)
        ]
    if (inner := _wrapped(layer)) is None:
        return None
    if layer.class_name != "Bidirectional":
        return [(inner, shapes)]
    # An odd number is too few, which is found where weights are counted: it has no halves.
    return [] if len(shapes) % 2 else [(inner, half) for half in _halves(shapes)]


def _cells_contradiction(config: JsonObject, shapes: Sequence[WeightShape]) -> str | None:
    """Return a contradiction of the weights of several cells and their configs, or None.

    A list has these cell by cell, a `.keras` in the order of the cells' names. A custom cell does not show its weights.
    """
    cells, wanted = config.get("cells"), list[PartialShape]()
    for cell in cells if isinstance(cells, Sequence) else ():
        inner = cell.get("config") if isinstance(cell, Mapping) else None
        if not isinstance(cell, Mapping) or not isinstance(inner, Mapping):
            return None
        kind = str(cell.get("class_name"))
        of_cell = _promised_shapes(kind, inner) if is_keras_class(kind, cell) else None
        if of_cell is None:
            return None
        wanted += of_cell
    fits = all(any(fits_shape(shape, want) for want in wanted) for shape in shapes)
    return None if fits or not wanted else _contradiction(shapes, wanted)


def _halves(shapes: Sequence[WeightShape]) -> list[Sequence[WeightShape]]:
    return [shapes[: len(shapes) // 2], shapes[len(shapes) // 2 :]]


def _vectors_contradiction(config: Mapping[str, Json], shapes: Sequence[WeightShape]) -> str | None:
    """Return how a BatchNormalization's weight shapes contradict its config, or None."""
    is_of_vectors = not (config.get("renorm") or config.get("virtual_batch_size"))
    if not is_of_vectors or not _is_one_axis(config.get("axis")):
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
        layer.class_name not in ("TimeDistributed", "Bidirectional")
        or not isinstance(entry, Mapping)
        or layer.settings.get("backward_layer") is not None
        or is_model(entry)
    ):
        return None
    return Layer(layer.name, str(entry.get("class_name")), entry.get("config"), entry, ())


def _is_one_axis(axis: Json) -> bool:
    """Return True if a normalization has one axis (Keras 1's `mode` 1 too): its weights are vectors then."""
    return axis is None or isinstance(axis, int) or (isinstance(axis, Sequence) and len(axis) == 1)


#: Class -> the contradiction of its weights, where these are held against each other.
OF_SEVERAL_WEIGHTS: Mapping[str, Callable[[JsonObject, Sequence[WeightShape]], str | None]] = {
    "BatchNormalization": _vectors_contradiction,
    "StackedRNNCells": _cells_contradiction,
}


def fits_shape(shape: WeightShape, wanted: Sequence[int | None]) -> bool:
    """Return True if a weight has the shape that a config promises, None for a size that it does not tell."""
    return len(shape) == len(wanted) and all(
        w is None or n == w for n, w in zip(shape, wanted, strict=True)
    )


def _written(shapes: Sequence[Sequence[int | None]]) -> str:
    return ", ".join(str(tuple(shape)).replace("None", "?") for shape in shapes)
