"""What slice layers whose code is not run claim to cut: read off the numbers that the file stores for them.

A *lane* is what cuts one tensor for one input of the template: a slice per tower, in the towers' order, or one layer
with an output per tower. A number counts by its role only: an argument of the function, a parameter's default that no
argument replaces, a cell of the closure, a key of a class's config, an argument of the call. Three forms tell which
rows a slice takes:

    an index from 0 or 1, with the number of parts          {i: 0, parts: 2}           {i: 1, parts: 2}
    a start and a share, with the shares' total             {start: 0, share: 3, of: 5} {start: 3, share: 2, of: 5}
    a start and a stop                                      {lo: 0.0, hi: 0.5}          {lo: 0.5, hi: 1.0}

What is told must come to all rows in order. Numbers that say otherwise make the slices no slices of a wrapper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise, product
from math import isclose
from typing import NamedTuple, TypeAlias

from unnest.core.architecture import tensor_refs
from unnest.core.architecture.graph import Call, Layer
from unnest.core.byte_code import code_objects
from unnest.core.model import Json
from unnest.core.recognise import layer_facts
from unnest.core.recognise.layer_facts import Number, Place

Numbers: TypeAlias = Mapping[Place, Number]
"""What one slice is told."""


class Slice(NamedTuple):
    """A slice layer, its call, and which of its outputs a tower reads."""

    layer: Layer
    call: Call
    output: int


class Told(Enum):
    """How much the numbers of a lane tell."""

    ROWS = "the towers read all rows in order"
    DEALT = "every tower reads each k-th row"
    LATE = "the rows of the last part, in every slice: cells of a closure, bound late"
    PARTLY = "nothing that contradicts it"
    OPAQUE = "nothing at all"
    OTHERWISE = "something else than all rows in order"


@dataclass(frozen=True)
class Claim:
    """What a lane claims.

    `sentence` is evidence, or the reason why it is none. `edges` are the first rows of every part as fractions of the
    batch, where they are told.
    """

    told: Told
    sentence: str | None = None
    edges: tuple[float, ...] = ()


class ClaimedRows(NamedTuple):
    """The rows that a slice claims: those between two shares of the batch, or `every` so many-th, from `start` on."""

    start: float
    stop: float = 1
    every: int | None = None

    def of(self, batch: int) -> slice:
        """Of so many rows."""
        if self.every is not None:
            return slice(int(self.start), None, self.every)
        return slice(round(self.start * batch), round(self.stop * batch))


BASE_KEYS = frozenset({
    "name", "trainable", "dtype", "batch_input_shape", "batch_shape", "output_shape", "function", "arguments", "mask",
    "node_def", "shared_object_id", "build_config", "output_shape_type", "output_shape_module", "function_type",
    "module",
})  # fmt: skip
"""What every layer's config may hold, whatever the layer does; a function's numbers are read by their roles."""

AXES = frozenset({"axis", "dim", "axes"})
"""What an argument is called that says along which axis something is cut."""

ROUND = (10, 100)
"""Totals of bounds that are tenths or percent of the batch without saying so."""


def claim(lane: Sequence[Slice], rows: int | None = None) -> Claim:
    """What the slices of one tensor, in the towers' order, claim to cut; `rows` is its batch where that is fixed."""
    for layer, _, _ in lane:
        if reason := layer_facts.keeps_rows(layer):
            return Claim(Told.OTHERWISE, reason)
    if len({layer.name for layer, _, _ in lane}) == 1 and len(lane) > 1 and len({id(call) for _, call, _ in lane}) == 1:
        return _split(lane)
    numbers = [_numbers_of(layer, call) for layer, call, _ in lane]
    axis = next((n[p] for n in numbers for p in n if p[-1] in AXES and n[p] != 0), None)
    if axis is not None:
        return Claim(Told.OTHERWISE, f"{lane[0].layer.name} cuts axis {axis:g}, which is not the batch")
    numbers = [{p: v for p, v in n.items() if p[-1] not in AXES} for n in numbers]
    return _judged(
        lane,
        numbers,
        _Lane(len(lane), rows, _constants(lane), _bounds_are_rows(lane), _from_one(lane), _captured(lane)),
    )


def is_part_one_of_one(layer: Layer) -> bool:
    """Whether the only numbers in a layer's config are an index 0 and a count of 1."""
    told = [number for _, number in layer_facts.numbers(layer.settings)]
    return sorted(told) == [0, 1] and all(isinstance(number, int) for number in told)


def says_nothing(layer: Layer) -> bool:
    """Whether a config holds nothing but what every layer's may."""
    return not set(layer.settings) - (BASE_KEYS - {"arguments"})


def _split(lane: Sequence[Slice]) -> Claim:
    """One layer gives every tower its part."""
    layer, call, _ = lane[0]
    parts, count = [output for _, _, output in lane], len(lane)
    if parts != list(range(count)):
        return Claim(Told.OTHERWISE, f"the towers read the parts of {layer.name} in the order {_listed(parts)}")
    numbers = _numbers_of(layer, call)
    if any(value != 0 for place, value in numbers.items() if place[-1] in AXES):
        return Claim(Told.OTHERWISE, f"{layer.name} cuts another axis than the batch")
    told = [value for place, value in numbers.items() if place[-1] not in AXES]
    if count in told or len(told) < len(numbers):
        return Claim(Told.ROWS)
    if told and not layer_facts.is_function(layer):
        return Claim(Told.OTHERWISE, f"{layer.name} stores {_listed(told)} and has {count} parts in use")
    return Claim(Told.PARTLY) if layer_facts.is_function(layer) else Claim(Told.OPAQUE, _says_nothing(lane))


class _Lane(NamedTuple):
    """What is known beside the numbers: how many slices, the batch where fixed, the numbers in the code.

    `literal`: the code calls nothing, so that bounds are numbers of rows. `from_one`: what the code
    takes 1 off, as it must where an index counts from 1. `captured`: the names of the closure's cells, in order.
    """

    slices: int
    rows: int | None
    constants: frozenset[Number]
    literal: bool
    from_one: frozenset[str | None] | None
    captured: tuple[str, ...] = ()


def _constants(lane: Sequence[Slice]) -> frozenset[Number]:
    codes = [layer_facts.stored_code(layer) for layer, _, _ in lane]
    return frozenset(number for code in codes if code is not None for number in code.numbers)


def _from_one(lane: Sequence[Slice]) -> frozenset[str | None] | None:
    """The names that the code of all slices takes 1 off, None for any unnamed one; no set without code."""
    codes = [layer_facts.stored_code(layer) for layer, _, _ in lane]
    sets = [code.minus_one | ({None} if -1 in code.numbers else set()) for code in codes if code is not None]
    return frozenset.intersection(*sets) if len(sets) == len(lane) else None


def _captured(lane: Sequence[Slice]) -> tuple[str, ...]:
    """What the cells of the closures are called, where all slices call them the same."""
    codes = [layer_facts.stored_code(layer) for layer, _, _ in lane]
    names = {() if code is None else code.free for code in codes}
    return names.pop() if len(names) == 1 else ()


def _bounds_are_rows(lane: Sequence[Slice]) -> bool:
    """Whether readable code calls nothing: it then does not know how many rows there are."""
    codes = [layer_facts.stored_code(layer) for layer, _, _ in lane]
    return all(code is not None and not code.names for code in codes)


def _numbers_of(layer: Layer, call: Call) -> dict[Place, Number]:
    """The numbers that a slice is told, by their roles."""
    settings = layer.settings
    told: dict[Place, Number] = {}
    if layer_facts.is_function(layer):
        told |= dict(_defaults_and_cells(layer))
        told |= dict(layer_facts.numbers(settings.get("arguments"), ("arguments",)))
    else:
        told |= dict(layer_facts.numbers({k: v for k, v in settings.items() if k not in BASE_KEYS}))
    return told | dict(_call_arguments(call, layer))


def _defaults_and_cells(layer: Layer) -> Iterator[tuple[Place, Number]]:
    """Those of a stored function; a default counts unless an argument of the layer replaces it."""
    function = layer.settings.get("function")
    _, defaults, closure = code_objects.parts_of(function)
    is_object = isinstance(function, Mapping)
    given, code = layer.settings.get("arguments"), layer_facts.stored_code(layer)
    names = set(given) if isinstance(given, Mapping) else set()
    if isinstance(defaults, Sequence) and not isinstance(defaults, str):
        parameters = code.parameters[-len(defaults) :] if code is not None and defaults else ()
        if len(parameters) == len(defaults):
            replaced = [parameter in names for parameter in parameters]
        else:
            replaced = [bool(names)] * len(defaults)
        for index, (value, is_replaced) in enumerate(zip(defaults, replaced, strict=True)):
            if not is_replaced:
                yield from layer_facts.numbers(value, ("function", "defaults" if is_object else 1, index))
    yield from layer_facts.numbers(closure, ("function", "closure" if is_object else 2))


CELLS: tuple[Place, ...] = (("function", "closure"), ("function", 2))
"""Where the cells of a closure are, among the places of a slice's numbers."""


def _call_arguments(call: Call, layer: Layer) -> Iterator[tuple[Place, Number]]:
    """The numbers that a call is given beside its tensors."""
    stored = call.stored
    if isinstance(stored, Mapping):
        arguments: Json = {"args": stored.get("args"), **_mapping(stored.get("kwargs"))}
    elif isinstance(stored, Sequence) and not isinstance(stored, str):
        nodes = [node for node in stored if isinstance(node, Sequence) and not isinstance(node, str)]
        arguments = [node[2] if node and node[0] == CONSTANT else [*node[3:]] for node in nodes]
    else:
        return
    layers = {ref.layer for ref in call.reads} | {layer.name}
    yield from layer_facts.numbers(tensor_refs.without_tensors(arguments, layers), ("call",))


CONSTANT = "_CONSTANT_VALUE"
"""What stands in a tensor's place where a call is given a constant."""


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


@dataclass(frozen=True)
class _Reading:
    """One form that a lane's numbers have: the places that it explains, and whether it tells all."""

    places: frozenset[Place]
    sentence: str
    edges: tuple[float, ...]
    is_complete: bool
    is_index: bool = False


def _judged(lane: Sequence[Slice], numbers: Sequence[Numbers], known: _Lane) -> Claim:
    every = {place for n in numbers for place in n}
    constant = {p: v for p, v in numbers[0].items() if all(n.get(p) == v for n in numbers)}
    varying = every - constant.keys() if known.slices > 1 else every
    if not varying and known.slices > 1:
        return _all_equal(lane, constant, known)
    readings = [*_counted(numbers, constant, known), *_shared_out(numbers, constant, known), *_bounded(numbers, known)]
    complete = [r for r in readings if r.is_complete]
    if complete:
        return _told(complete, numbers, varying, known)
    if readings:
        return _half_told(lane, readings[0], every, numbers, known)
    return _unread(lane, numbers, varying, constant)


def _half_told(
    lane: Sequence[Slice], reading: _Reading, every: set[Place], numbers: Sequence[Numbers], known: _Lane
) -> Claim:
    """A lone counter, or bounds whose end nothing calls the whole: rows by themselves where the code knows no size."""
    others = every - reading.places
    if others:
        return Claim(Told.OTHERWISE, f"{reading.sentence}, but {_of(min(others, key=str), numbers)}")
    if not reading.is_index and not known.literal:
        return Claim(Told.OTHERWISE, f"{reading.sentence}, but nothing says that the last part ends with the batch")
    if reading.is_index and not layer_facts.is_function(lane[0].layer):
        return Claim(Told.OPAQUE, _says_nothing(lane))
    return Claim(Told.PARTLY)


def _told(complete: Sequence[_Reading], numbers: Sequence[Numbers], varying: set[Place], known: _Lane) -> Claim:
    """Numbers in a form that tells all rows; none may be left that varies in another way."""
    first = complete[0]
    indices = [reading for reading in complete if reading.is_index]
    explained = [*indices[:1], *(reading for reading in complete if not reading.is_index)]
    unexplained = varying.difference(*(reading.places for reading in explained))
    if known.slices > 1 and unexplained:
        return Claim(Told.OTHERWISE, f"{_of(min(unexplained, key=str), numbers)}, which is no order of parts")
    if not all(_alike(first.edges, other.edges) for other in complete):
        return Claim(Told.OTHERWISE, "the numbers tell two different cuts")
    if known.literal and first.is_index:  # without the number of rows an index can but deal them out
        return Claim(Told.DEALT, first.sentence)
    return Claim(Told.ROWS, first.sentence, first.edges)


def _unread(lane: Sequence[Slice], numbers: Sequence[Numbers], varying: set[Place], constant: Numbers) -> Claim:
    """Numbers in none of the forms that tell rows."""
    is_function = layer_facts.is_function(lane[0].layer)
    if varying and (is_function or len(lane) in constant.values()):
        return Claim(Told.OTHERWISE, f"{_of(min(varying, key=str), numbers)}, which is no order of parts")
    is_opaque = not is_function or _tells_nothing(lane[0].layer)
    return Claim(Told.OPAQUE, _says_nothing(lane)) if is_opaque else Claim(Told.PARTLY)


def _all_equal(lane: Sequence[Slice], constant: Numbers, known: _Lane) -> Claim:
    """Slices that store the same numbers: cells that were bound late, code that differs, or one slice many times."""
    is_function = layer_facts.is_function(lane[0].layer)
    same = is_function and _is_same_code(lane) and not _differs(lane)
    cells = [value for place, value in constant.items() if place[:2] in CELLS]
    others = [value for place, value in constant.items() if place[:2] not in CELLS]
    if same and cells and _is_last_part(cells, others, known):
        return Claim(Told.LATE, f"slice arguments: every slice stores the last part's, {_listed(cells)}: bound late")
    is_told = len(constant) > 1 and known.slices in constant.values()
    only_the_number = not others and cells == [known.slices]
    if (same and constant and not only_the_number) or (not is_function and is_told):
        told = ", ".join(f"{_last(place)} {value:g}" for place, value in constant.items())
        return Claim(Told.OTHERWISE, f"every slice is told the same: {told}")
    if not is_function or all(_tells_nothing(layer) for layer, _, _ in lane):
        return Claim(Told.OPAQUE, _says_nothing(lane))
    return Claim(Told.PARTLY)


def _is_same_code(lane: Sequence[Slice]) -> bool:
    return len({repr(_code_of(layer.settings.get("function"))) for layer, _, _ in lane}) == 1


def _code_of(function: Json) -> Json:
    """What of a stored function is its code, or its name."""
    if isinstance(function, Mapping):
        config = function.get("config")
        return config.get("code") if isinstance(config, Mapping) else config
    return function[0] if isinstance(function, Sequence) and not isinstance(function, str) and function else function


def _differs(lane: Sequence[Slice]) -> bool:
    """Whether arguments that are no numbers (`{half: "first"}`, `{second: true}`) tell the slices apart."""
    arguments = [layer.settings.get("arguments") for layer, _, _ in lane]
    return any(other != arguments[0] for other in arguments)


def _tells_nothing(layer: Layer) -> bool:
    """Whether a function is stored by name alone, or only calls another one of somebody's own."""
    if layer.settings.get("arguments"):
        return False
    code = layer_facts.stored_code(layer)
    if code is None:
        return isinstance(_code_of(layer.settings.get("function")), str) and _is_by_name(layer.settings["function"])
    return not code.captures and not code.numbers and bool(code.names) and not layer_facts.shows_how(layer)


def _is_by_name(function: Json) -> bool:
    return isinstance(function, str) or (isinstance(function, Mapping) and isinstance(function.get("config"), str))


def _is_last_part(cells: Sequence[Number], others: Sequence[Number], known: _Lane) -> bool:
    """Whether cells that all slices share are those of the last part, in one of the three forms.

    `others` are numbers stored when each layer was made: the total or the number of parts may be among them, no index.
    """
    count, values = known.slices, [*cells, *others]
    totals = {*values, *known.constants, *([] if known.rows is None else [known.rows]), *ROUND}
    by_index = any(v in (count - 1, count) for v in cells) and (len(values) == 1 or count in values)
    by_index = by_index and all(value == count for value in others)
    if by_index and (len(values) == 1 or (count - 1 in cells) or values.count(count) > 1):
        return True
    for start in cells:
        for other in values:
            by_stop = 0 < start < other and (isclose((other - start) * count, other) or other in (totals - {*values}))
            by_share = other > 0 and (start + other) in totals and start > 0
            if by_stop or by_share:
                return True
    return False


def _counted(numbers: Sequence[Numbers], constant: Numbers, known: _Lane) -> Iterator[_Reading]:
    """An index that counts from 0 or 1, and their number beside it: `{i, parts}`."""
    count = known.slices
    edges = tuple(i / count for i in range(count))
    for place, first in numbers[0].items():
        if [n.get(place) for n in numbers] != [first + i for i in range(count)] or first not in (0, 1):
            continue
        if first == 1 and known.from_one is not None and _name(place, known) not in known.from_one:
            continue
        numbers_of_parts = [p for p, value in constant.items() if value == count and p != place]
        beside = [p for p in numbers[0] if p[:1] == place[:1] and p != place]
        if numbers_of_parts and beside and not set(beside) & set(numbers_of_parts):
            numbers_of_parts = []  # a cell that says so, against the arguments, is no witness
        parts = next(iter(numbers_of_parts), None)
        counts = f"slice arguments: {_last(place)} counts from {first}"
        if parts is not None:
            told = f"{counts}, {_last(parts)} is {constant[parts]}"
            yield _Reading(frozenset({place, parts}), told, edges, is_complete=True, is_index=True)
        elif count > 1:
            yield _Reading(frozenset({place}), counts, (), is_complete=False, is_index=True)


def _name(place: Place, known: _Lane) -> str | None:
    """What the code calls a number: an argument of the layer or a cell by its name; None for a default."""
    if place[0] == "arguments":
        return str(place[-1])
    *_, last = place
    is_cell = place[:2] in CELLS and isinstance(last, int) and last < len(known.captured)
    return known.captured[last] if is_cell and isinstance(last, int) else None


def _shared_out(numbers: Sequence[Numbers], constant: Numbers, known: _Lane) -> Iterator[_Reading]:
    """Shares of a total, each with its start: `{share, total, start}`."""
    keys = [p for p in numbers[0] if all(p in n for n in numbers)]
    for start in keys:
        for share in keys:
            if share == start or numbers[0][start] != 0 or (known.slices > 1 and start in constant):
                continue
            ends = [n[start] + n[share] for n in numbers]
            lined_up = all(isclose(end, n[start]) for end, n in zip(ends, numbers[1:], strict=False))
            if not lined_up or any(n[share] <= 0 for n in numbers):
                continue
            total = next((p for p in _beside((start, share), constant) if isclose(constant[p], ends[-1])), None)
            is_told = total is not None or _is_told(ends[-1], known)
            places = frozenset({start, share}) | (frozenset() if total is None else {total})
            sentence = f"slice arguments: every {_last(start)} is where the {_last(share)} before it ends"
            yield _Reading(places, sentence, tuple(n[start] / ends[-1] for n in numbers), is_told)


def _beside(places: Sequence[Place], constant: Numbers) -> Iterator[Place]:
    """The other constants that may be told with these places: a cell, which is bound late, is none with arguments."""
    in_cells = any(place[:2] in CELLS for place in places)
    return (p for p in constant if p not in places and (in_cells or p[:2] not in CELLS))


def _is_told(end: Number, known: _Lane) -> bool:
    """Whether a number is the batch, where that is fixed, or stands in the slices' code."""
    return end == known.rows or (end > 1 and end in known.constants)


def _bounded(numbers: Sequence[Numbers], known: _Lane) -> Iterator[_Reading]:
    """Two bounds for every slice: `{start, stop}`; the first start and the last stop may be left open."""
    if known.slices == 1:
        return
    starts = [p for p in numbers[-1] if all(p in n for n in numbers[1:]) and numbers[0].get(p, 0) == 0]
    stops = [p for p in numbers[0] if all(p in n for n in numbers[:-1])]
    for start, stop in product(starts, stops):
        lined_up = all(n.get(start, 0) < n[stop] and isclose(n[stop], m[start]) for n, m in pairwise(numbers))
        if start == stop or not lined_up:
            continue
        sentence = f"slice arguments: every {_last(start)} is the {_last(stop)} before it"
        reading, end = _Reading(frozenset({start, stop}), sentence, (), is_complete=True), numbers[-1].get(stop)
        if end is None:
            yield reading
        elif end > numbers[-1][start]:
            yield _with_end(reading, numbers, start, end, known)


def _with_end(reading: _Reading, numbers: Sequence[Numbers], start: Place, end: Number, known: _Lane) -> _Reading:
    """Bounds whose last stop is stored: it must be the whole, told by a total or by equal parts."""
    others = numbers[0].keys() - reading.places
    constant = {p: end for p in others if all(n.get(p) == end for n in numbers)}
    total = next(_beside([*reading.places], constant), None)
    places = reading.places if total is None else reading.places | {total}
    of_one = isinstance(end, float) and isclose(end, 1)
    is_whole = of_one or total is not None or _is_told(end, known)
    if isinstance(end, int) and known.rows is None:
        is_whole = is_whole or known.literal or end in ROUND
    edges = tuple(n.get(start, 0) / end for n in numbers)
    return replace(reading, places=places, edges=edges, is_complete=is_whole)


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    return not one or not other or all(isclose(a, b, abs_tol=1e-9) for a, b in zip(one, other, strict=True))


def agree(claims: Sequence[Claim]) -> bool:
    """Whether the lanes of several inputs are cut in the same places, finer than any batch that is tried."""
    edges = [claim.edges for claim in claims if claim.edges]
    return all(_alike(one, other) for one, other in pairwise(edges) if len(one) == len(other))


def _of(place: Place, numbers: Sequence[Numbers]) -> str:
    values = ", ".join(f"{n[place]:g}" if place in n else "none" for n in numbers)
    return f"{_last(place)} is {values} from slice to slice" if len(numbers) > 1 else f"{_last(place)} is {values}"


def _says_nothing(lane: Sequence[Slice]) -> str:
    """Why a class of somebody's own is no evidence, and what the caller can do."""
    layer = lane[0].layer
    return (
        f"nothing stored tells whether {layer.class_name} cuts the batch or changes what is in it; "
        f"if it cuts, say so with --slice-layer {layer.class_name}"
    )


def _listed(values: Sequence[Number]) -> str:
    return ", ".join(f"{v:g}" for v in values)


def _last(place: Place) -> str:
    return str(next((p for p in reversed(place) if isinstance(p, str)), place[-1]))
