"""A model for a page: its graph before and after, each layer's settings and weights, the totals, and histograms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeAlias

import numpy as np

from unnest.core.architecture import children, is_input, is_model, read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.model import Json, JsonObject, Ref, Shape, Stored, Tensor
from unnest.core.weight_assignment.flat_list.divide_flat_list import divide_flat_list
from unnest.core.weight_assignment.layer_groups.match_layer_groups import layer_name_by_group
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.wrappers.layer_graph import stored_layer_shapes
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.report.diagram.drawing import DEEPEST, Figure

#: The names of the nested models that a layer is in, outermost first, and its own.
LayerPath: TypeAlias = "tuple[str, ...]"

#: Layers of one side whose settings and weights are listed; of the others the graph alone is shown.
LAYERS_LISTED = 20_000
#: Settings of one layer, and letters of one setting.
SETTINGS_LISTED, SETTING_LETTERS = 40, 160
#: Keys of a config that the graph and the table of weights show.
SHOWN_ELSEWHERE = frozenset({"name", "layers", "input_layers", "output_layers"})


class LayerFacts(NamedTuple):
    """One layer. `output` is the shape of its first call's output, `weights` its tensors in stored order."""

    class_name: str
    settings: tuple[tuple[str, str], ...] = ()
    output: Shape | None = None
    weights: tuple[Tensor, ...] = ()


class Totals(NamedTuple):
    """One side in numbers: `inputs` and `outputs` are shapes as text, `state` tensors of the optimizer's."""

    layers: int
    parameters: int
    nbytes: int
    dtypes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state: int
    state_nbytes: int


class Side(NamedTuple):
    """A model before or after: the graph, None where none is stored, and the layers by their path."""

    figure: Figure | None
    layers: Mapping[LayerPath, LayerFacts]
    totals: Totals


class ModelView(NamedTuple):
    """A model as a page shows it.

    `after` is None where nothing would change, or `refusal` says why. `histograms` are those of the weights whose
    values were read, by the tensor's `ref`; of `unread` weights the values were not read. `kept` as in `Drawing`.
    """

    before: Side
    after: Side | None = None
    refusal: str | None = None
    histograms: Mapping[str, Histogram] = {}
    unread: int = 0
    kept: frozenset[str] | None = None


def side(figure: Figure | None, stored: Stored, architecture: JsonObject | None) -> Side:
    """Return one side of the view: the model that `architecture` describes, with the weights of `stored`.

    Raises:
        NotAGraph: the layers of the architecture cannot be connected.

    """
    layers = dict[LayerPath, LayerFacts]()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    if architecture is None or not is_model(architecture):
        for group in stored.groups[:LAYERS_LISTED]:
            layers[group.name,] = LayerFacts("", weights=group.tensors)
    else:
        names = layer_name_by_group(architecture, stored.groups)
        weights = {names.get(group.name, group.name): group.tensors for group in stored.groups}
        for path, facts in _layers(architecture, weights, ()):
            if len(layers) == LAYERS_LISTED:
                break
            layers.setdefault(path, facts)
        graph = read(architecture)
        tensors = LayerTensors(graph)
        inputs, outputs = (
            tuple(_inputs(graph, tensors)),
            tuple(_end(ref, tensors) for ref in graph.outputs),
        )
    every = [tensor for group in stored.groups for tensor in group.tensors]
    state = stored.optimizer or ()
    totals = Totals(
        sum(bool(path[-1]) and not is_nested for path, is_nested in _are_nested(layers)),
        sum(tensor.size for tensor in every),
        sum(tensor.nbytes for tensor in every),
        tuple(sorted({dtype_name(tensor.dtype) for tensor in every})),
        inputs,
        outputs,
        len(state),
        sum(tensor.nbytes for tensor in state),
    )
    return Side(figure, layers, totals)


def _are_nested(layers: Mapping[LayerPath, LayerFacts]) -> Iterator[tuple[LayerPath, bool]]:
    """Yield each listed layer, with whether it is a model with layers of its own."""
    outer = {path[:-1] for path in layers}
    return ((path, path in outer) for path in layers)


def _layers(
    model: JsonObject, weights: Mapping[str, Sequence[Tensor]], above: LayerPath
) -> Iterator[tuple[LayerPath, LayerFacts]]:
    """Yield every layer with its path, those of a nested model after it."""
    graph = read(model)
    tensors = LayerTensors(graph)
    for layer in graph.layers.values():
        own, path = tuple(weights.get(layer.name, ())), (*above, layer.name)
        output = (
            tensors.shape(Ref(layer.name, 0, 0)) if layer.calls or is_input(layer.stored) else None
        )
        yield path, LayerFacts(layer.class_name, tuple(_settings(layer)), output, own)
        if layer.is_model and len(path) <= DEEPEST:
            yield from _layers(layer.stored, _split(own, layer.stored), path)


def _split(weights: Sequence[Tensor], model: JsonObject) -> Mapping[str, Sequence[Tensor]]:
    """Return a nested model's weights by layer; none where the file does not tell which layer each belongs to."""
    try:
        return (
            {name: share.tensors for name, share in divide_flat_list(weights, read(model)).items()}
            if weights
            else {}
        )
    except Ambiguous:
        return {}


def _settings(layer: Layer) -> Iterator[tuple[str, str]]:
    """Yield the config's keys with their values as short JSON."""
    nested = (
        set()
        if layer.is_model
        else {str(path[1]) for path, _ in children(layer.stored) if path[1:]}
    )
    for key, value in list(layer.settings.items())[:SETTINGS_LISTED]:
        if key not in SHOWN_ELSEWHERE | nested:
            yield str(key)[:SETTING_LETTERS], _short_json(value)


def _short_json(value: Json) -> str:
    text = json.dumps(value, default=str)
    return (
        text
        if len(text) <= SETTING_LETTERS
        else f"{text[:SETTING_LETTERS]}... ({len(text):,} letters)"
    )


def _inputs(graph: Graph, tensors: LayerTensors) -> Iterator[str]:
    """Yield the inputs with their shapes; a Sequential may keep its own in its first layer."""
    names = [name for name, layer in graph.layers.items() if is_input(layer.stored)]
    for ref in graph.inputs or [Ref(name, 0, 0) for name in names]:
        yield _end(ref, tensors)
    if graph.sequential and not names and graph.layers:
        first = next(iter(graph.layers.values()))
        yield f"{first.name} {shape_text(stored_layer_shapes.stored_shape(first))}"


def _end(ref: Ref, tensors: LayerTensors) -> str:
    return f"{ref.layer} {shape_text(tensors.shape(ref))}"


def shape_text(shape: Shape | None) -> str:
    """A shape as Python writes it, an unknown size as None; "shape unknown" where the rank is."""
    if shape is None:
        return "shape unknown"
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def dtype_name(dtype: str) -> str:
    """NumPy's name of a dtype (`float32` for `<f4`), or the spelling itself where NumPy has none."""
    try:
        return np.dtype(dtype).name
    except TypeError:
        return dtype


#: Equal parts of the range from the least value to the greatest.
BINS = 24


class Histogram(NamedTuple):
    """`counts` of the finite values of a tensor in BINS equal parts from `low` to `high`; `others` are NaN or infinite.

    Of a tensor with one value throughout, all are in the first part.
    """

    low: float
    high: float
    mean: float
    std: float
    counts: tuple[int, ...]
    others: int


def histogram(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Histogram | None:
    """Return the distribution of numbers; None where there is no finite one, or the range exceeds float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = values.astype(np.float64, copy=False).reshape(-1)
        finite = numbers[np.isfinite(numbers)]
        if not finite.size:
            return None
        low, high = float(finite.min()), float(finite.max())
        mean, std = float(finite.mean()), float(finite.std())
    if not np.isfinite([high - low, mean, std]).all():
        return None
    counts = [int(finite.size)] + [0] * (BINS - 1)
    if high > low:
        with suppress(ValueError):  # a range that float64 cannot divide
            counts = [int(n) for n in np.histogram(finite, BINS, (low, high))[0]]
    return Histogram(low, high, mean, std, tuple(counts), int(numbers.size - finite.size))
