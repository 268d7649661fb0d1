"""What single layers say about cutting and joining the batch: the tables behind `towers`.

Every answer has a "does not say". Only what can be read in plain JSON, or as facts of stored
code, counts; nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TypeAlias

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Call, Layer, Ref
from unnest.core.model import Json, JsonObject
from unnest.core.recognise import lambda_code
from unnest.core.recognise.operations import find, operation

Number: TypeAlias = int | float
Shape: TypeAlias = tuple[int | None, ...]
Place: TypeAlias = tuple[str | int, ...]
Slice: TypeAlias = tuple[Layer, Call, Ref]
"""A slice layer, its call, and the tensor of it that a tower reads."""

JOINING = ("concat",)
"""What the name of an operation that lines tensors up has in it, on every stack."""

STACKING_ROWS = ("vstack", "row_stack")
"""What the name of an operation has in it that lines tensors up along axis 0 and knows no other."""

COMBINING = ("mean", "add", "sum", "average", "max", "min", "multiply", "subtract", "dot")
"""What the names of operations that merge towers otherwise have in them."""

MOVING = (
    "reverse", "flip", "rot90", "roll", "transpose", "permute", "crop", "pad", "resize", "random", "normal", "uniform"
)  # fmt: skip
"""What the names of operations that move or blur pixels, not rows, have in them."""

CUTTING = ("slice", "strided", "split", "gather", "take", "partition", "mask", "unstack")
"""What the names of operations that cut rows have in them."""

MEASURING = ("shape", "size", "len", "batch", "rows", "dims")
"""What the names have in them with which a function learns how many rows there are."""

KEEPING = (
    "noise", "dropout", "pooling", "padding", "cropping", "sampling", "flatten", "permute", "random", "rescaling",
    "resizing", "masking", "normalization", "activation", "crop",
)  # fmt: skip
"""What the class names of Keras's own layers have in them that take no rows away."""

PASSING = ("identity", "cast", "stop_gradient")
"""Operations that hand a tensor on as it is, apart from its type."""

MODULES = ("k", "tf", "keras", "backend", "ops", "array_ops", "math_ops", "device")
"""Names in a lambda that lead to functions and are none."""


def _says(name: str, words: Iterable[str]) -> bool:
    return any(word in name.lower() for word in words)


def _uses(names: Iterable[str], words: Sequence[str]) -> bool:
    """Whether one of these words is a part, between underscores, of a name that code uses."""
    return any(part in words for name in names for part in name.lower().split("_"))


def shows_how(layer: Layer) -> bool:
    """Whether stored code can be read, and has what it takes to cut rows; a layer class's code is not in the file."""
    code = lambda_code.code(layer.settings.get("function"))
    return code is not None and (_uses(code.names, CUTTING) or _uses(code.names, MEASURING))


def is_part_one_of_one(layer: Layer) -> bool:
    """Whether the only numbers in a layer's config are an index 0 and a count of 1."""
    numbers = [number for _, number in _numbers(layer.settings)]
    return sorted(numbers) == [0, 1] and all(isinstance(number, int) for number in numbers)


def says_nothing(layer: Layer) -> bool:
    """Whether a config holds nothing but what every layer's may."""
    return not set(layer.settings) - set(BASE_KEYS)


def joins_on_batch_axis(layer: Layer, call: Call) -> bool | None:
    """Whether a layer lines its inputs up along axis 0."""
    config = layer.settings
    mode = config.get("mode")
    if isinstance(mode, str):  # Keras 1's Merge can do other things too
        return mode == "concat" and config.get("concat_axis") == 0
    if "concat_axis" in config:
        return _code_joins(mode, [])
    known = operation(layer, call)
    if known is not None:
        if not _says(known.name, (*JOINING, *STACKING_ROWS)):
            return False
        axes = [0] if _says(known.name, STACKING_ROWS) else list(known.find("axis"))
        return all(axis == 0 for axis in axes) if axes else None
    if "function" in config:
        return _code_joins(config["function"], list(find(config.get("arguments"), "axis")))
    axis = _axis(config)
    return None if axis is None else axis == 0


def _axis(config: JsonObject) -> int | None:
    axis = config.get("axis", config.get("concat_axis"))
    if isinstance(axis, Sequence) and not isinstance(axis, str) and len(axis) == 1:
        axis = axis[0]
    return axis if isinstance(axis, int) and not isinstance(axis, bool) else None


def _code_joins(function: Json, axes: Sequence[Json]) -> bool | None:
    """Stored code tells by the names that it uses, and by the numbers in it."""
    code = lambda_code.code(function)
    if code and not any(_says(name, JOINING) for name in code.names):
        return None
    if code and not axes and not code.captures:
        axes = list(code.numbers)
    return all(axis == 0 for axis in axes) if axes else None


def combines(layer: Layer) -> bool:
    """Whether a layer says that it adds its inputs up, averages or stacks them."""
    function = layer.settings.get("function", layer.settings.get("mode"))
    code = lambda_code.code(function)
    if code is None:
        return function is None and _says(layer.class_name, COMBINING)
    stacks = any(_says(n, ("stack",)) for n in code.names) and not any(_says(n, ("reshape",)) for n in code.names)
    return stacks or any(_says(name, COMBINING) for name in code.names)


def passes_on(layer: Layer, call: Call) -> bool:
    """Whether a layer hands its one input on as it is: it is there for its name or device only."""
    if len(call.reads) != 1:
        return False
    known = operation(layer, call)
    if known is not None:
        return _says(known.name, PASSING)
    if layer.settings.get("activation") == "linear" and not any(k.endswith("_initializer") for k in layer.settings):
        return "units" not in layer.settings and "filters" not in layer.settings
    code = lambda_code.code(layer.settings.get("function"))
    if code is None or code.captures or code.numbers or layer.settings.get("arguments"):
        return False
    return all(name.lower() in MODULES or _says(name, PASSING) for name in code.names)


class Step(Enum):
    """What one step from a source to the towers does with axis 0."""

    CUTS = "cuts it in consecutive parts"
    STRIDES = "deals it out row by row"
    INDEXES = "takes it apart: every tower gets one entry, and the axis is gone"
    CANNOT = "cuts another axis, or nothing at all"
    UNKNOWN = "does not say"


def step(slices: Sequence[Slice], rows: int | None = None) -> Step:
    """What a slice layer per tower, or one layer with an output per tower, does with the batch.

    `rows` is the size of the batch where it is fixed.
    """
    layers = [layer for layer, _, _ in slices]
    if any(map(_cannot_cut, layers)) or _all_the_same(slices) or _leaves_parts_out(layers):
        return Step.CANNOT
    if len({layer.name for layer, _, _ in slices}) == 1 and len(slices) > 1:
        return _split(*slices[0][:2], [ref.tensor for _, _, ref in slices])
    if all(_needs_no_size(layer) for layer, _, _ in slices):
        return _bounds_given(layers, rows)
    answers = {_cut(layer, call) for layer, call, _ in slices}
    for answer in (Step.CANNOT, Step.UNKNOWN):
        if answer in answers:
            return answer
    return answers.pop() if len(answers) == 1 else Step.CANNOT


def _split(layer: Layer, call: Call, parts: Sequence[int]) -> Step:
    """One layer gives every tower its part."""
    known = operation(layer, call)
    axes = list(known.find("axis")) if known else list(find(layer.settings, "axis"))
    if any(axis not in (0, None) for axis in axes):
        return Step.CANNOT
    if known and "unstack" in known.name:
        return Step.INDEXES
    in_order = list(parts) == list(range(len(parts)))
    counted = any(n == len(parts) for _, n in _own_numbers(layer))
    return Step.CUTS if in_order and (axes or counted) else Step.UNKNOWN


def _cut(layer: Layer, call: Call) -> Step:
    """One layer gives one tower its part."""
    known = operation(layer, call)
    if known is None:
        return Step.UNKNOWN
    for spec in (*known.find("slice_spec"), *known.find("__slice__")):
        first = spec[0] if isinstance(spec, list) and spec else spec
        if isinstance(first, int):
            return Step.INDEXES
        if isinstance(first, Mapping):
            open_ended = first.get("start") is None and first.get("stop") is None
            return Step.CANNOT if open_ended and first.get("step") in (None, 1) else Step.CUTS
        return Step.UNKNOWN
    return Step.CANNOT if _says(known.name, MOVING) else Step.UNKNOWN


def stacks_parts(layer: Layer, call: Call, parts: int) -> bool:
    """Whether a layer reshapes (rows, ...) to (parts, rows / parts, ...), which INDEXES then takes apart."""
    known = operation(layer, call)
    if known is None or "reshape" not in known.name:
        return False
    shapes = [s for key in ("shape", "newshape") for s in known.find(key) if isinstance(s, list)]
    return any(len(shape) > 1 and shape[0] == parts and shape[1] == -1 for shape in shapes)


def _cannot_cut(layer: Layer) -> bool:
    """Whether a layer is known to keep all rows, or a Lambda's readable code has no means to cut them (a flip)."""
    code = lambda_code.code(layer.settings.get("function"))
    if code is None:
        return "function" not in layer.settings and _says(layer.class_name, KEEPING)
    if _uses(code.names, CUTTING):
        return False
    if _uses(code.names, MOVING):
        return True
    if code.captures or _uses(code.names, MEASURING):
        return False
    return not code.names and not _given(layer) and all(number <= 0 for number in code.numbers)


def _needs_no_size(layer: Layer) -> bool:
    """Whether readable code with arguments calls nothing: it then does not know how many rows there are."""
    function = layer.settings.get("function")
    code = lambda_code.code(function)
    return code is not None and not code.names and bool(_given(layer))


def _given(layer: Layer) -> list[tuple[Place, Number]]:
    return [found for key in ("function", "arguments") for found in _numbers(layer.settings.get(key), (key,))]


def _bounds_given(layers: Sequence[Layer], rows: int | None) -> Step:
    """Without the number of rows, only bounds that are given can cut parts; an index can but deal rows out."""
    numbers = [dict(_given(layer)) for layer in layers]
    keys, varying, constant = _sorted_out(numbers)
    totals = constant if rows is None else {**constant, ("rows",): rows}
    if _shared_out(numbers, varying, keys, totals) or _bounded(numbers):
        return Step.UNKNOWN
    return Step.STRIDES if _counted(numbers, varying, constant) else Step.CANNOT


def _leaves_parts_out(layers: Sequence[Layer]) -> bool:
    """Whether code that asks for the batch's size takes the first of more parts than there are towers."""
    codes = [lambda_code.code(layer.settings.get("function")) for layer in layers]
    if not all(code is not None and _uses(code.names, MEASURING) for code in codes):
        return False
    _, varying, constant = _sorted_out([dict(_given(layer)) for layer in layers])
    numbers = [dict(_given(layer)) for layer in layers]
    return (
        len(layers) > 1
        and len(varying) == 1
        and [n[varying[0]] for n in numbers] == [*range(len(layers))]
        and len(constant) == 1
        and all(isinstance(value, int) and value > len(layers) for value in constant.values())
    )


def _all_the_same(slices: Sequence[Slice]) -> bool:
    """Whether several slices say, with an index and a count, that they are one and the same part."""
    told = [(_own_numbers(layer), list(_numbers(call.stored)), ref.tensor) for layer, call, ref in slices]
    return len(told) > 1 and len(told[0][0]) > 1 and all(t == told[0] for t in told)


BASE_KEYS = ("name", "trainable", "dtype", "batch_input_shape", "output_shape", "function", "node_def")
"""What every layer's config may hold, whatever the layer does."""


def _own_numbers(layer: Layer) -> list[tuple[Place, Number]]:
    return list(_numbers({k: v for k, v in layer.settings.items() if k not in BASE_KEYS}))


@dataclass(frozen=True)
class Facts:
    """What slice arguments say: the slices are parts 1 to k of the batch, in order (`consecutive`), or in another."""

    consecutive: bool
    shuffled: bool
    sentences: tuple[str, ...]


def facts(lanes: Sequence[Sequence[Layer]]) -> Facts:
    """What the numbers in the slices' configs say of each input's slices, tower by tower."""
    numbers = [[dict(_numbers(layer.settings)) for layer in lane] for lane in lanes]
    told = [_told(lane) for lane in numbers]
    sentences = dict.fromkeys(sentence for sentence in told if sentence)
    shuffled = any(_shuffled(lane) for lane, sentence in zip(numbers, told, strict=True) if not sentence)
    return Facts(any(told), shuffled, tuple(sentences))


def _told(numbers: Sequence[Mapping[Place, Number]]) -> str | None:
    keys, varying, constant = _sorted_out(numbers)
    return _counted(numbers, varying, constant) or _shared_out(numbers, varying, keys, constant) or _bounded(numbers)


def _sorted_out(
    numbers: Sequence[Mapping[Place, Number]],
) -> tuple[list[Place], list[Place], dict[Place, Number]]:
    """The places that all slices have, those among them that vary, and the values of those that do not."""
    keys = [key for key in numbers[0] if all(key in n for n in numbers)]
    constant = {key: numbers[0][key] for key in keys if len({n[key] for n in numbers}) == 1}
    return keys, [key for key in keys if len(numbers) == 1 or key not in constant], constant


def _shuffled(numbers: Sequence[Mapping[Place, Number]]) -> bool:
    """An index that takes every part once, but in another order than they are merged in."""
    _, varying, constant = _sorted_out(numbers)
    count = len(numbers)
    return count in constant.values() and any(
        sorted(n[key] for n in numbers) in ([*range(count)], [*range(1, count + 1)]) for key in varying
    )


def _counted(
    numbers: Sequence[Mapping[Place, Number]], varying: Sequence[Place], constant: Mapping[Place, Number]
) -> str | None:
    """An index that counts from 0 or 1, and their number beside it: `{i, parts}`."""
    for key in varying:
        first = numbers[0][key]
        if first in (0, 1) and [n[key] for n in numbers] == [first + i for i in range(len(numbers))]:
            for parts, value in constant.items():
                if value == len(numbers) and parts != key:
                    return f"slice arguments: {_last(key)} counts from {first}, {_last(parts)} is {value}"
    return None


def _shared_out(
    numbers: Sequence[Mapping[Place, Number]],
    varying: Sequence[Place],
    keys: Sequence[Place],
    totals: Mapping[Place, Number],
) -> str | None:
    """Shares of a total, each with its start: `{share, total, start}`."""
    for start in varying:
        for share in keys:
            if share == start or numbers[0][start] != 0:
                continue
            ends = [n[start] + n[share] for n in numbers]
            lined_up = all(end == n[start] for end, n in zip(ends, numbers[1:], strict=False))
            total = any(value == ends[-1] for key, value in totals.items() if key not in (start, share))
            if lined_up and total:
                return f"slice arguments: every {_last(start)} is where the {_last(share)} before it ends"
    return None


def _bounded(numbers: Sequence[Mapping[Place, Number]]) -> str | None:
    """Two bounds for every slice: `{start, stop}`; the first start and the last stop may be left open."""
    starts = [k for k in numbers[-1] if all(k in n for n in numbers[1:]) and numbers[0].get(k, 0) == 0]
    stops = [k for k in numbers[0] if all(k in n for n in numbers[:-1])]
    for start in starts if len(numbers) > 1 else ():
        for stop in stops:
            if all(a.get(start, 0) < a[stop] == b[start] for a, b in pairwise(numbers)):
                return f"slice arguments: every {_last(start)} is the {_last(stop)} before it"
    return None


def _last(place: Place) -> str:
    return str(next((p for p in reversed(place) if isinstance(p, str)), place[-1]))


def _numbers(value: Json, place: Place = ()) -> Iterator[tuple[Place, Number]]:
    """Every number in a config with its place, in order."""
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)):
        yield place, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _numbers(part, (*place, key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, part in enumerate(value):
            yield from _numbers(part, (*place, index))


def stored_shape(layer: Layer) -> Shape | None:
    """An input layer's shape, batch axis first; None where the layer does not store one."""
    for key in ("batch_input_shape", "batch_shape"):
        shape = layer.settings.get(key)
        if isinstance(shape, Sequence) and not isinstance(shape, str):
            return tuple(d if isinstance(d, int) else None for d in shape)
    return None


def template_shapes(model: JsonObject) -> list[Shape | None] | None:
    """The shapes that a model's inputs take, in order; None where it does not store them."""
    graph = read(model)
    while not graph.inputs:
        first = next(iter(graph.layers.values()), None)
        if first is None:
            return None
        if not is_model(first.stored):
            return [stored_shape(first)]
        graph = read(first.stored)
    return [stored_shape(graph.layers[ref.layer]) for ref in graph.inputs]


def same_rows(source: Shape | None, template: Shape | None) -> bool:
    """Whether a row of the source is a row for the template, as far as both are known."""
    if source is None or template is None:
        return True
    return len(source) == len(template) and all(
        a is None or b is None or a == b for a, b in zip(source[1:], template[1:], strict=True)
    )
