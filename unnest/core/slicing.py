"""What single layers say about cutting and joining the batch: the table behind `towers`.

Every function answers True, False, or None for "does not say"; only what can be read in
plain JSON counts, stored code is not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from unnest.core import lambdas
from unnest.core.dialects import is_model, read
from unnest.core.graph import Call, Layer, Ref
from unnest.core.model import Json, JsonObject

Number: TypeAlias = int | float
Shape: TypeAlias = tuple[int | None, ...]

AXIS_KEYS = ("axis", "concat_axis", "num_or_size_splits_axis")
JOINING = ("concat",)
"""What the name of an operation that lines tensors up has in it, on every stack."""

COMBINING = ("mean", "add", "sum", "average", "max", "min", "stack")
"""What the names of operations that merge towers otherwise have in them."""

MOVING = ("reverse", "flip", "rot90", "roll", "transpose", "permute", "random", "crop", "pad", "resize")
"""What the names of operations that move pixels, not rows, have in them."""

CUTTING = ("shape", "slice", "split", "gather", "range", "partition", "mask", "size", "batch", "rows")
"""What the names that a function needs in order to cut rows have in them."""


def joins_on_batch_axis(layer: Layer, call: Call) -> bool | None:
    """Whether a layer lines its inputs up along axis 0."""
    config = layer.settings
    mode = config.get("mode")
    if isinstance(mode, str) and "concat_axis" in config:  # Keras 1's Merge can do other things too
        return mode == "concat" and config["concat_axis"] == 0
    if "node_def" in config:
        return _op_layer_joins(config)
    if "function" in config:
        return _function_joins(layer, call)
    axis = _axis(config)
    return None if axis is None else axis == 0


def _axis(config: JsonObject) -> int | None:
    axis = config.get("axis", config.get("concat_axis"))
    if isinstance(axis, Sequence) and not isinstance(axis, str) and len(axis) == 1:
        axis = axis[0]
    return axis if isinstance(axis, int) and not isinstance(axis, bool) else None


def _function_joins(layer: Layer, call: Call) -> bool | None:
    """A function's name tells what it does (`concat`, `stack`), its arguments on which axis."""
    function = layer.settings["function"]
    arguments = layer.settings.get("arguments")
    axes = [*_find(call.stored, "axis"), *_find(arguments, "axis")]
    code = lambdas.code(function)
    if isinstance(function, str) and not _says(function, JOINING):
        return False
    if code and not any(_says(name, JOINING) for name in code.names):
        return None
    if code and not axes and not code.captures:
        axes = list(code.numbers)
    return all(axis == 0 for axis in axes) if axes else None


def combines(layer: Layer) -> bool:
    """Whether a function says that it adds its inputs up or averages them."""
    code = lambdas.code(layer.settings.get("function"))
    return code is not None and any(_says(name, COMBINING) for name in code.names)


def _says(name: str, words: Iterable[str]) -> bool:
    return any(word in name.lower() for word in words)


def _op_layer_joins(config: JsonObject) -> bool | None:
    """TensorFlow 2.0-2.3's op layers store a NodeDef and the constants that it reads."""
    node = lambdas.node_def(config["node_def"])
    constants = config.get("constants")
    if node is None or not _says(node.op, JOINING):
        return False
    values = list(constants.values()) if isinstance(constants, Mapping) else []
    return values == [0] if values else None


def _find(value: Json, key: str) -> Iterator[Json]:
    if isinstance(value, Mapping):
        if key in value:
            yield value[key]
        for part in value.values():
            yield from _find(part, key)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from _find(part, key)


def cuts_batch(slices: Sequence[tuple[Layer, Call, Ref]]) -> bool | None:
    """Whether one step from a source to the towers cuts axis 0 in consecutive parts.

    True: it says so; False: it cuts another axis, or nothing at all; None: it does not say.
    """
    layers = {layer.name for layer, _, _ in slices}
    if any(_cannot_cut(layer) for layer, _, _ in slices) or _all_the_same(slices):
        return False
    if len(layers) == 1 and len(slices) > 1:
        return _splits_batch(*slices[0][:2], [ref.tensor for _, _, ref in slices])
    answers = [_cuts_batch(layer, call) for layer, call, _ in slices]
    return False if False in answers else True if all(answers) else None


def _cannot_cut(layer: Layer) -> bool:
    """Whether a Lambda's readable code has no means to cut rows (the identity, a flip)."""
    code = lambdas.code(layer.settings.get("function"))
    if code is None or code.captures or any(_says(name, CUTTING) for name in code.names):
        return False
    if any(_says(name, MOVING) for name in code.names):
        return True
    given = [n for key in ("function", "arguments") for _, n in _numbers(layer.settings.get(key))]
    return not code.names and not given and all(number <= 0 for number in code.numbers)


def _all_the_same(slices: Sequence[tuple[Layer, Call, Ref]]) -> bool:
    """Whether several slices say, with an index and a count, that they are one and the same part."""
    told = [(_own_numbers(layer), list(_numbers(call.stored)), ref.tensor) for layer, call, ref in slices]
    return len(told) > 1 and len(told[0][0]) > 1 and all(t == told[0] for t in told)


BASE_KEYS = ("name", "trainable", "dtype", "batch_input_shape", "output_shape", "function")
"""What every layer's config may hold, whatever the layer does."""


def _own_numbers(layer: Layer) -> list[tuple[tuple[str | int, ...], Number]]:
    own = {key: value for key, value in layer.settings.items() if key not in BASE_KEYS}
    return list(_numbers(own))


def _splits_batch(layer: Layer, call: Call, parts: Sequence[int]) -> bool | None:
    axes = [*_find(call.stored, "axis"), *_find(layer.settings, "axis")]
    if any(axis not in (0, None) for axis in axes):
        return False
    return True if axes and list(parts) == list(range(len(parts))) else None


def _cuts_batch(layer: Layer, call: Call) -> bool | None:
    for spec in _find(call.stored, "slice_spec"):
        return _cuts_rows(spec)
    for arguments in _find(call.stored, "__slice__"):
        return _cuts_rows(arguments)
    return None


def _cuts_rows(spec: Json) -> bool | None:
    """A slicing operator's first subscript: rows are cut unless it takes them all."""
    first = spec[0] if isinstance(spec, Sequence) and not isinstance(spec, str) and spec else spec
    if not isinstance(first, Mapping):
        return None
    bounds = [first.get("start"), first.get("stop")]
    return any(b is not None for b in bounds)


@dataclass(frozen=True)
class Facts:
    """What slice arguments say. `consecutive`: the slices are parts 1 to k of the batch, in order."""

    consecutive: bool
    sentences: tuple[str, ...]


def facts(lanes: Sequence[Sequence[Layer]]) -> Facts:
    """What the numbers in the slices' configs say of each input's slices, tower by tower."""
    told = [_told(lane) for lane in lanes]
    sentences = dict.fromkeys(sentence for sentence in told if sentence)
    return Facts(bool(told) and all(told), tuple(sentences))


def _told(lane: Sequence[Layer]) -> str | None:
    numbers = [dict(_numbers(layer.settings)) for layer in lane]
    keys = [k for k in numbers[0] if all(k in n for n in numbers)]
    k = len(lane)
    constant = {key: numbers[0][key] for key in keys if len({n[key] for n in numbers}) == 1}
    varying = [key for key in keys if k == 1 or key not in constant]
    for key in varying:
        first = numbers[0][key]
        if first in (0, 1) and [n[key] for n in numbers] == [first + i for i in range(k)]:
            for parts, value in constant.items():
                if value == k and parts != key:
                    return f"slice arguments: {_last(key)} counts from {first}, {_last(parts)} is {k}"
    for start in varying:
        for share in keys:
            ends = [n[start] + n[share] for n in numbers]
            if (
                share != start
                and numbers[0][start] == 0
                and all(end == n[start] for end, n in zip(ends, numbers[1:], strict=False))
                and any(value == ends[-1] for key, value in constant.items() if key not in (start, share))
            ):
                return f"slice arguments: every {_last(start)} is where the {_last(share)} before it ends"
    for start in varying:
        for stop in varying:
            if (
                start != stop
                and numbers[0][start] == 0
                and all(a[stop] == b[start] for a, b in pairwise(numbers))
            ):
                return f"slice arguments: every {_last(start)} is the {_last(stop)} before it"
    return None


def _last(path: tuple[str | int, ...]) -> str:
    return str(next((p for p in reversed(path) if isinstance(p, str)), path[-1]))


def _numbers(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Number]]:
    """Every number in a config with its place, in order."""
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _numbers(part, (*path, key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, part in enumerate(value):
            yield from _numbers(part, (*path, index))


def stored_shape(layer: Layer) -> Shape | None:
    """An input layer's shape, batch axis first; None where the layer does not store one."""
    config = layer.settings
    for key in ("batch_input_shape", "batch_shape"):
        shape = config.get(key)
        if isinstance(shape, Sequence) and not isinstance(shape, str):
            return tuple(d if isinstance(d, int) else None for d in shape)
    return None


def template_shapes(model: JsonObject) -> list[Shape | None] | None:
    """The shapes that a model's inputs take, in order; None where it does not store them."""
    graph = read(model)
    if graph.inputs:
        return [stored_shape(graph.layers[ref.layer]) for ref in graph.inputs]
    first = next(iter(graph.layers.values()), None)
    while first is not None and is_model(first.stored):
        inner = read(first.stored)
        if inner.inputs:
            return [stored_shape(inner.layers[ref.layer]) for ref in inner.inputs]
        first = next(iter(inner.layers.values()), None)
    return [stored_shape(first)] if first else None


def same_rows(source: Shape | None, template: Shape | None) -> bool:
    """Whether a row of the source is a row for the template, as far as both are known."""
    if source is None or template is None:
        return True
    return len(source) == len(template) and all(
        a is None or b is None or a == b for a, b in zip(source[1:], template[1:], strict=True)
    )
