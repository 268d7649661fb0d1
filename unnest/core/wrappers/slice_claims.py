"""Claims of slice layers, the code of which is not run, read off the numbers that the file stores for them.

The *slices* of a claim cut one tensor for one input of the template: a slice per tower, in the towers' order, or one
layer with an output per tower. A number counts by its role only: an argument of the function, a parameter's default
that no argument replaces, a cell of the closure, a key of a class's config, an argument of the call. Three forms tell
which rows a slice takes:

    an index from 0 or 1, with the number of parts          {i: 0, parts: 2}           {i: 1, parts: 2}
    a start and a share, with the shares' total             {start: 0, share: 3, of: 5} {start: 3, share: 2, of: 5}
    a start and a stop                                      {lo: 0.0, hi: 0.5}          {lo: 0.5, hi: 1.0}

The numbers must come to all rows in order. Numbers that say otherwise make the slices no slices of a wrapper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import pairwise
from math import isclose
from typing import NamedTuple

from unnest.core.architecture.graph import Layer
from unnest.core.json_tree import Path, is_list
from unnest.core.model import Json
from unnest.core.wrappers import layer_batch_roles, slice_text_argument_checks
from unnest.core.wrappers.layer_batch_roles import Number
from unnest.core.wrappers.slice_argument_patterns import (
    ROUND,
    Reading,
    bounded,
    counted,
    shared_out,
)
from unnest.core.wrappers.stored_slice_numbers import (
    AXES,
    BASE_KEYS,
    CELLS,
    Numbers,
    Slice,
    SliceFacts,
    called,
    numbers_of,
    slice_facts,
)


class ClaimStatus(Enum):
    """Value of a claim: how much the numbers of the slices tell."""

    ROWS = "the towers read all rows in order"
    DEALT = "every tower reads each k-th row"
    LATE = "the rows of the last part, in every slice: cells of a closure, bound late"
    PARTLY = "nothing that contradicts it"
    UNEXPLAINED = (
        "numbers that fit, beside texts or truth values that differ, which only code can explain"
    )
    OPAQUE = "nothing at all"
    OTHERWISE = "something else than all rows in order"


class SliceClaim(NamedTuple):
    """The claim of the slices of one tensor.

    `sentence` is evidence, or the reason against it. `edges` are the first rows of every part as fractions of the
    batch, if facts.
    """

    status: ClaimStatus
    sentence: str | None = None
    edges: tuple[float, ...] = ()


def claim(slices: Sequence[Slice], rows: int | None = None) -> SliceClaim:
    """Return the claim of one tensor's slices, in the towers' order; `rows` is a fixed batch size."""
    for layer, _, _ in slices:
        if reason := layer_batch_roles.keeps_rows(layer):
            return SliceClaim(ClaimStatus.OTHERWISE, reason)
    if (
        len({layer.name for layer, _, _ in slices}) == 1
        and len(slices) > 1
        and len({id(call) for _, call, _ in slices}) == 1
    ):
        return _split(slices)
    numbers = [numbers_of(layer, call) for layer, call, _ in slices]
    axis = next((n[p] for n in numbers for p in n if p[-1] in AXES and n[p] != 0), None)
    if axis is not None:
        return SliceClaim(
            ClaimStatus.OTHERWISE,
            f"{slices[0].layer.name} cuts axis {axis:g}, which is not the batch",
        )
    numbers = [{p: v for p, v in n.items() if p[-1] not in AXES} for n in numbers]
    if objection := slice_text_argument_checks.objection_to_names(slices):
        return SliceClaim(ClaimStatus.OTHERWISE, objection)
    judged = _judge(slices, numbers, slice_facts(slices, rows))
    difference = slice_text_argument_checks.differing_text(slices)
    is_by_numbers = any(other != numbers[0] for other in numbers) and judged.status in {
        ClaimStatus.ROWS,
        ClaimStatus.DEALT,
        ClaimStatus.PARTLY,
    }
    if difference and is_by_numbers:
        return SliceClaim(
            ClaimStatus.UNEXPLAINED, f"{difference}, which does not number parts in order"
        )
    return judged


def is_part_one_of_one(layer: Layer) -> bool:
    """Return True if the only numbers in a layer's config are an index 0 and a count of 1."""
    told = [number for _, number in layer_batch_roles.numbers(layer.settings)]
    return sorted(told) == [0, 1] and all(isinstance(number, int) for number in told)


def says_nothing(layer: Layer) -> bool:
    """Return True if a config holds nothing but what every layer's may."""
    return not set(layer.settings) - (BASE_KEYS - {"arguments"})


def _split(slices: Sequence[Slice]) -> SliceClaim:
    """Judge one layer that gives every tower its part."""
    layer, call, _ = slices[0]
    parts, count = [output for _, _, output in slices], len(slices)
    if parts != list(range(count)):
        return SliceClaim(
            ClaimStatus.OTHERWISE,
            f"the towers read the parts of {layer.name} in the order {_listed(parts)}",
        )
    numbers = numbers_of(layer, call)
    if any(value != 0 for place, value in numbers.items() if place[-1] in AXES):
        return SliceClaim(ClaimStatus.OTHERWISE, f"{layer.name} cuts another axis than the batch")
    told = [value for place, value in numbers.items() if place[-1] not in AXES]
    if count in told or len(told) < len(numbers):
        return SliceClaim(ClaimStatus.ROWS)
    if told and not layer_batch_roles.is_function(layer):
        return SliceClaim(
            ClaimStatus.OTHERWISE,
            f"{layer.name} stores {_listed(told)} and has {count} parts in use",
        )
    return (
        SliceClaim(ClaimStatus.PARTLY)
        if layer_batch_roles.is_function(layer)
        else SliceClaim(ClaimStatus.OPAQUE, _says_nothing(slices))
    )


def _judge(slices: Sequence[Slice], numbers: Sequence[Numbers], facts: SliceFacts) -> SliceClaim:
    """Judge the numbers of slices: which rows they claim, and with what confidence."""
    every = {place for n in numbers for place in n}
    constant = {p: v for p, v in numbers[0].items() if all(n.get(p) == v for n in numbers)}
    varying = every - constant.keys() if facts.slice_count > 1 else every
    if not varying and facts.slice_count > 1:
        return _all_equal(slices, constant, facts)
    readings = [
        *counted(numbers, constant, facts),
        *shared_out(numbers, constant, facts),
        *bounded(numbers, facts),
    ]
    complete = [r for r in readings if r.is_complete]
    if complete:
        return _explaining_numbers(complete, numbers, varying, facts)
    if readings:
        return _half_told(slices, readings[0], every, numbers, facts)
    return _unread(slices, numbers, varying, constant, facts)


def _half_told(
    slices: Sequence[Slice],
    reading: Reading,
    every: set[Path],
    numbers: Sequence[Numbers],
    facts: SliceFacts,
) -> SliceClaim:
    """Judge a lone counter, or bounds without a known end: enough if the code knows no size."""
    others = every - reading.places
    if others:
        return SliceClaim(
            ClaimStatus.OTHERWISE,
            f"{reading.sentence}, but {_of(min(others, key=str), numbers, facts)}",
        )
    if not reading.is_index and not facts.literal:
        return SliceClaim(
            ClaimStatus.OTHERWISE,
            f"{reading.sentence}, but nothing says that the last part ends with the batch",
        )
    if reading.is_index and (
        not layer_batch_roles.is_function(slices[0].layer)
        or not _may_count(slices, reading, numbers)
    ):
        return SliceClaim(ClaimStatus.OPAQUE, _says_nothing(slices))
    return SliceClaim(ClaimStatus.PARTLY)


def _may_count(slices: Sequence[Slice], reading: Reading, numbers: Sequence[Numbers]) -> bool:
    """True if a lone counter may be a tower's number where no code says more: an integer from 0, no seed or scale."""
    firsts = [numbers[0][place] for place in reading.places]
    return slice_text_argument_checks.have_code(slices) or all(
        isinstance(first, int) and first == 0 for first in firsts
    )


def _explaining_numbers(
    complete: Sequence[Reading], numbers: Sequence[Numbers], varying: set[Path], facts: SliceFacts
) -> SliceClaim:
    """Judge numbers in a form that covers all rows; no other number may vary in another way."""
    first = complete[0]
    indices = [reading for reading in complete if reading.is_index]
    explained = [*indices[:1], *(reading for reading in complete if not reading.is_index)]
    unexplained = varying.difference(*(reading.places for reading in explained))
    if facts.slice_count > 1 and unexplained:
        return SliceClaim(
            ClaimStatus.OTHERWISE,
            f"{_of(min(unexplained, key=str), numbers, facts)}, which does not number parts in order",
        )
    if not all(_alike(first.edges, other.edges) for other in complete):
        return SliceClaim(ClaimStatus.OTHERWISE, "the numbers tell two different cuts")
    if (
        facts.literal and first.is_index
    ):  # without the number of rows an index can but deal them out
        return SliceClaim(ClaimStatus.DEALT, first.sentence)
    return SliceClaim(ClaimStatus.ROWS, first.sentence, first.edges)


def _unread(
    slices: Sequence[Slice],
    numbers: Sequence[Numbers],
    varying: set[Path],
    constant: Numbers,
    facts: SliceFacts,
) -> SliceClaim:
    """Judge numbers in none of the forms that determine rows."""
    is_function = layer_batch_roles.is_function(slices[0].layer)
    if varying and (is_function or len(slices) in constant.values()):
        return SliceClaim(
            ClaimStatus.OTHERWISE,
            f"{_of(min(varying, key=str), numbers, facts)}, which does not number parts in order",
        )
    is_opaque = not is_function or _tells_nothing(slices[0].layer)
    return (
        SliceClaim(ClaimStatus.OPAQUE, _says_nothing(slices))
        if is_opaque
        else SliceClaim(ClaimStatus.PARTLY)
    )


def _all_equal(slices: Sequence[Slice], constant: Numbers, facts: SliceFacts) -> SliceClaim:
    """Return the claim of slices that all store the same numbers.

    - Functions with one code, whose closure cells hold the last part: made in a loop, and bound late.
    - Functions with one code and the same numbers otherwise, or custom layers that store the number of parts and
      another number: every slice takes the same rows, so none is a part of its own.
    - Custom layers, and functions of which nothing readable is stored: opaque.
    - Functions that differ in their code: the code may tell.
    """
    is_function = layer_batch_roles.is_function(slices[0].layer)
    has_one_code = is_function and _is_same_code(slices) and not _differs(slices)
    cells = [value for place, value in constant.items() if place[:2] in CELLS]
    others = [value for place, value in constant.items() if place[:2] not in CELLS]
    if has_one_code and cells and _is_last_part(cells, others, facts):
        return SliceClaim(
            ClaimStatus.LATE,
            f"slice arguments: every slice stores the last part's, {_listed(cells)}: bound late",
        )
    stores_count_alone = not others and cells == [facts.slice_count]
    if is_function:
        is_the_same_slice = has_one_code and bool(constant) and not stores_count_alone
    else:
        is_the_same_slice = len(constant) > 1 and facts.slice_count in constant.values()
    if is_the_same_slice:
        numbers = ", ".join(
            f"{called(place, facts)} = {value:g}" for place, value in constant.items()
        )
        return SliceClaim(ClaimStatus.OTHERWISE, f"every slice has the same arguments: {numbers}")
    differ_by_texts_alone = _differs(slices) and not slice_text_argument_checks.have_code(slices)
    if (
        not is_function
        or differ_by_texts_alone
        or all(_tells_nothing(layer) for layer, _, _ in slices)
    ):
        return SliceClaim(ClaimStatus.OPAQUE, _says_nothing(slices))
    return SliceClaim(ClaimStatus.PARTLY)


def _is_same_code(slices: Sequence[Slice]) -> bool:
    return len({repr(_code_of(layer.settings.get("function"))) for layer, _, _ in slices}) == 1


def _code_of(function: Json) -> Json:
    """Return the part of a stored function that is its code, or its name."""
    if isinstance(function, Mapping):
        config = function.get("config")
        return config.get("code") if isinstance(config, Mapping) else config
    return function[0] if is_list(function) and function else function


def _differs(slices: Sequence[Slice]) -> bool:
    """Return True if arguments that are no numbers (`{half: "first"}`, `{second: true}`) tell the slices apart."""
    arguments = [layer.settings.get("arguments") for layer, _, _ in slices]
    return any(other != arguments[0] for other in arguments)


def _tells_nothing(layer: Layer) -> bool:
    """Return True if a function is stored by name alone, or only calls another custom one."""
    if layer.settings.get("arguments"):
        return False
    code = layer_batch_roles.stored_code(layer)
    if code is None:
        return isinstance(_code_of(layer.settings.get("function")), str) and _is_by_name(
            layer.settings["function"]
        )
    return (
        not code.captures
        and not code.numbers
        and bool(code.names)
        and not layer_batch_roles.shows_how(layer)
    )


def _is_by_name(function: Json) -> bool:
    return isinstance(function, str) or (
        isinstance(function, Mapping) and isinstance(function.get("config"), str)
    )


def _is_last_part(cells: Sequence[Number], others: Sequence[Number], facts: SliceFacts) -> bool:
    """Return True if closure cells that all slices share hold the last part: by its index, or by where it starts.

    `others` are numbers stored when each layer was made: the total or the number of parts may be among them, no index.
    """
    return _is_last_index(cells, others, facts.slice_count) or any(
        _is_last_start(start, number, [*cells, *others], facts)
        for start in cells
        for number in (*cells, *others)
    )


def _is_last_index(cells: Sequence[Number], others: Sequence[Number], count: int) -> bool:
    """Return True for the index of the last of `count` parts, from 0 or from 1, alone or beside the count."""
    if any(value != count for value in others):
        return False
    values = [*cells, *others]
    if len(values) == 1:
        return cells[0] in (count - 1, count)
    return count in values and (count - 1 in cells or (count in cells and values.count(count) > 1))


def _is_last_start(
    start: Number, number: Number, values: Sequence[Number], facts: SliceFacts
) -> bool:
    """Return True if a part that begins at `start` is the last; `number` is where it stops, or its size.

    The parts are of one size, or the end is a total that the file, the batch or a round number gives.
    """
    rows = [] if facts.rows is None else [facts.rows]
    totals = {*values, *facts.constants, *rows, *ROUND}
    if start <= 0:
        return False
    is_stop = start < number and (
        isclose((number - start) * facts.slice_count, number) or number in totals - {*values}
    )
    is_size = number > 0 and start + number in totals
    return is_stop or is_size


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    return (
        not one
        or not other
        or all(isclose(a, b, abs_tol=1e-9) for a, b in zip(one, other, strict=True))
    )


def agree(claims: Sequence[SliceClaim]) -> bool:
    """Return True if claims of several inputs have the same edges; fractions show what no batch that is tried does."""
    edges = [claim.edges for claim in claims if claim.edges]
    return all(_alike(one, other) for one, other in pairwise(edges) if len(one) == len(other))


def _of(place: Path, numbers: Sequence[Numbers], facts: SliceFacts) -> str:
    values = ", ".join(f"{n[place]:g}" if place in n else "none" for n in numbers)
    name = called(place, facts)
    return f"{name} is {values} in the slices" if len(numbers) > 1 else f"{name} is {values}"


def _says_nothing(slices: Sequence[Slice]) -> str:
    """Return why a custom class is not evidence, and what the caller can do."""
    layer = slices[0].layer
    return (
        f"the file does not show whether {layer.class_name} cuts the batch or changes its values; "
        f"if it cuts, pass --slice-layer {layer.class_name}"
    )


def _listed(values: Sequence[Number]) -> str:
    return ", ".join(f"{v:g}" for v in values)
