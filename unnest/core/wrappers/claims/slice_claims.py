"""The rows that slice layers claim to take, by the numbers stored for them; their code is not run.

The *slices* of a claim cut one tensor for one input of the template: a slice per tower, in the towers' order, or one
layer with an output per tower. A number counts by its role only: an argument of the function, a parameter's default
that no argument replaces, a cell of the closure, a key of a class's config, an argument of the call
(`stored_slice_numbers`). Three patterns say which rows a slice takes (`slice_argument_patterns`). What follows from the
numbers is decided here, in this order:

    one layer with an output per tower                     `_claim_of_split`
    every slice stores the same numbers                    `_claim_of_equal_slices`
    a pattern that covers the batch                        `_claim_of_complete_pattern`
    a pattern that leaves open where the batch ends        `_claim_of_incomplete_pattern`
    no pattern                                             `_claim_without_pattern`

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
from unnest.core.wrappers.claims import slice_non_number_arguments
from unnest.core.wrappers.claims.late_bound_cells import hold_last_part
from unnest.core.wrappers.claims.slice_argument_patterns import (
    RowsPattern,
    bounds,
    numbered_parts,
    paths_of_ratio_lists,
    shares_of_total,
)
from unnest.core.wrappers.claims.stored_slice_numbers import (
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
from unnest.core.wrappers.stored_code import code_names_and_numbers
from unnest.core.wrappers.stored_code.code_names_and_numbers import Number


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

    `sentence`: the evidence, or the reason against the claim. `part_starts`: the first row of every part as a fraction
    of the batch; () if the numbers do not say it.
    """

    status: ClaimStatus
    sentence: str | None = None
    part_starts: tuple[float, ...] = ()


def claim(slices: Sequence[Slice], rows: int | None = None) -> SliceClaim:
    """Return the claim of one tensor's slices, in the towers' order; `rows` is a fixed batch size."""
    for layer, _, _ in slices:
        if reason := code_names_and_numbers.keeps_rows(layer):
            return SliceClaim(ClaimStatus.OTHERWISE, reason)
    if _is_one_call(slices):
        return _claim_of_split(slices)
    numbers_and_axes = [numbers_of(layer, call) for layer, call, _ in slices]
    axis = _first_axis_but_the_batch(numbers_and_axes)
    if axis is not None:
        name = slices[0].layer.name
        return SliceClaim(
            ClaimStatus.OTHERWISE, f"{name} cuts axis {axis:g}, which is not the batch"
        )
    if objection := slice_non_number_arguments.objection_to_names(slices):
        return SliceClaim(ClaimStatus.OTHERWISE, objection)
    numbers = [_without_axes(of_slice) for of_slice in numbers_and_axes]
    by_numbers = _claim_by_numbers(slices, numbers, slice_facts(slices, rows))
    differing_text = slice_non_number_arguments.differing_text(slices)
    numbers_differ = any(of_slice != numbers[0] for of_slice in numbers)
    if differing_text and numbers_differ and by_numbers.status in CLAIMS_BY_NUMBERS:
        return SliceClaim(
            ClaimStatus.UNEXPLAINED, f"{differing_text}, which does not number parts in order"
        )
    return by_numbers


CLAIMS_BY_NUMBERS = frozenset({ClaimStatus.ROWS, ClaimStatus.DEALT, ClaimStatus.PARTLY})
"""Claims that texts which differ from slice to slice put in doubt: they may do something else than number parts."""


def _is_one_call(slices: Sequence[Slice]) -> bool:
    """Return True if the slices are the outputs of one call of one layer."""
    layers = {layer.name for layer, _, _ in slices}
    calls = {id(call) for _, call, _ in slices}
    return len(slices) > 1 and len(layers) == 1 and len(calls) == 1


def _first_axis_but_the_batch(numbers: Sequence[Numbers]) -> Number | None:
    """Return the first axis in the arguments that is not 0; None without one."""
    return next(
        (
            value
            for of_slice in numbers
            for path, value in of_slice.items()
            if path[-1] in AXES and value != 0
        ),
        None,
    )


def _without_axes(numbers: Numbers) -> Numbers:
    return {path: value for path, value in numbers.items() if path[-1] not in AXES}


def is_part_one_of_one(layer: Layer) -> bool:
    """Return True if the only numbers in a layer's config are an index 0 and a count of 1."""
    told = [number for _, number in code_names_and_numbers.numbers(layer.settings)]
    return sorted(told) == [0, 1] and all(isinstance(number, int) for number in told)


def says_nothing(layer: Layer) -> bool:
    """Return True if a config holds nothing but what every layer's may."""
    return not set(layer.settings) - (BASE_KEYS - {"arguments"})


def _claim_of_split(slices: Sequence[Slice]) -> SliceClaim:
    """Return the claim of one layer that has an output for each tower."""
    layer, call, _ = slices[0]
    count = len(slices)
    outputs = [output for _, _, output in slices]
    if outputs != list(range(count)):
        return SliceClaim(
            ClaimStatus.OTHERWISE,
            f"the towers read the parts of {layer.name} in the order {_number_list(outputs)}",
        )
    numbers = numbers_of(layer, call)
    if _first_axis_but_the_batch([numbers]) is not None:
        return SliceClaim(ClaimStatus.OTHERWISE, f"{layer.name} cuts another axis than the batch")
    beside_axis = _without_axes(numbers)
    stores_batch_axis = len(beside_axis) < len(numbers)
    if count in beside_axis.values() or stores_batch_axis:
        return SliceClaim(ClaimStatus.ROWS)
    if code_names_and_numbers.is_function(layer):
        return SliceClaim(ClaimStatus.PARTLY)
    if beside_axis:
        return SliceClaim(
            ClaimStatus.OTHERWISE,
            f"{layer.name} stores {_number_list([*beside_axis.values()])} and has {count} parts in use",
        )
    return SliceClaim(ClaimStatus.OPAQUE, _opaque_class(slices))


def _claim_by_numbers(
    slices: Sequence[Slice], numbers: Sequence[Numbers], facts: SliceFacts
) -> SliceClaim:
    """Return the claim that the numbers of several slices, one mapping a slice, come to."""
    stored = {path for of_slice in numbers for path in of_slice}
    constant = {
        path: value
        for path, value in numbers[0].items()
        if all(of_slice.get(path) == value for of_slice in numbers)
    }
    is_single = facts.slice_count == 1  # of one slice nothing is known to be constant
    varying = stored if is_single else stored - constant.keys()
    if not varying and not is_single:
        return _claim_of_equal_slices(slices, constant, facts)
    patterns = [
        *numbered_parts(numbers, constant, facts),
        *shares_of_total(numbers, constant, facts),
        *bounds(numbers, facts),
    ]
    complete = [pattern for pattern in patterns if pattern.covers_batch]
    if complete:
        return _claim_of_complete_pattern(complete, numbers, varying, facts)
    if patterns:
        return _claim_of_incomplete_pattern(slices, patterns[0], numbers, constant, facts)
    return _claim_without_pattern(slices, numbers, varying, constant, facts)


def _claim_of_complete_pattern(
    complete: Sequence[RowsPattern],
    numbers: Sequence[Numbers],
    varying: set[Path],
    facts: SliceFacts,
) -> SliceClaim:
    """Return the claim of numbers that follow patterns which cover the batch.

    No number that varies may be left without an explanation, and the patterns must agree on the parts. Of several
    indices only one explains its number: a second one may count anything.
    """
    first = complete[0]
    indices = [pattern for pattern in complete if pattern.is_index]
    others = [pattern for pattern in complete if not pattern.is_index]
    explained = {path for pattern in [*indices[:1], *others] for path in pattern.paths}
    unexplained = varying - explained
    if facts.slice_count > 1 and unexplained:
        return _number_out_of_order(unexplained, numbers, facts)
    if not all(_are_equal_starts(first.part_starts, other.part_starts) for other in complete):
        return SliceClaim(ClaimStatus.OTHERWISE, "the numbers tell two different cuts")
    if facts.bounds_are_rows and first.is_index:
        # Code that does not ask for the number of rows can take each k-th row by an index, but no part.
        return SliceClaim(ClaimStatus.DEALT, first.sentence)
    return SliceClaim(ClaimStatus.ROWS, first.sentence, first.part_starts)


def _claim_of_incomplete_pattern(
    slices: Sequence[Slice],
    pattern: RowsPattern,
    numbers: Sequence[Numbers],
    constant: Numbers,
    facts: SliceFacts,
) -> SliceClaim:
    """Return the claim of an index without the number of parts, or of bounds of which no number is known as the end.

    Bounds are enough if they are numbers of rows; an index is, unless the layer shows nothing of what it is for. The
    ratios of all parts beside an index do not contradict it, but in a function whose code neither cuts nor asks how
    many rows there are.
    """
    beside = {path for of_slice in numbers for path in of_slice} - pattern.paths
    if pattern.is_index and all(
        code_names_and_numbers.shows_how(layer) or not code_names_and_numbers.is_function(layer)
        for layer, _, _ in slices
    ):
        beside -= paths_of_ratio_lists(numbers, constant, facts.slice_count)
    if beside:
        number_beside = _values_in_slices(min(beside, key=str), numbers, facts)
        return SliceClaim(ClaimStatus.OTHERWISE, f"{pattern.sentence}, but {number_beside}")
    if pattern.is_index:
        is_function = code_names_and_numbers.is_function(slices[0].layer)
        if is_function and _may_be_tower_number(slices, pattern, numbers):
            return SliceClaim(ClaimStatus.PARTLY)
        return SliceClaim(ClaimStatus.OPAQUE, _opaque_class(slices))
    if facts.bounds_are_rows:
        return SliceClaim(ClaimStatus.PARTLY)
    return SliceClaim(
        ClaimStatus.OTHERWISE,
        f"{pattern.sentence}, but nothing says that the last part ends with the batch",
    )


def _may_be_tower_number(
    slices: Sequence[Slice], pattern: RowsPattern, numbers: Sequence[Numbers]
) -> bool:
    """Return True if the code is stored, which will tell, or the index is an integer from 0, no seed or scale."""
    firsts = [numbers[0][path] for path in pattern.paths]
    return slice_non_number_arguments.have_code(slices) or all(
        isinstance(first, int) and first == 0 for first in firsts
    )


def _claim_without_pattern(
    slices: Sequence[Slice],
    numbers: Sequence[Numbers],
    varying: set[Path],
    constant: Numbers,
    facts: SliceFacts,
) -> SliceClaim:
    """Return the claim of numbers, or of none, that follow no pattern."""
    is_function = code_names_and_numbers.is_function(slices[0].layer)
    if varying and (is_function or len(slices) in constant.values()):
        return _number_out_of_order(varying, numbers, facts)
    if not is_function or _shows_nothing(slices[0].layer):
        return SliceClaim(ClaimStatus.OPAQUE, _opaque_class(slices))
    return SliceClaim(ClaimStatus.PARTLY)


def _number_out_of_order(
    paths: set[Path], numbers: Sequence[Numbers], facts: SliceFacts
) -> SliceClaim:
    """Return the claim of slices with a number that varies, and by no pattern: the first of `paths` by name."""
    values = _values_in_slices(min(paths, key=str), numbers, facts)
    return SliceClaim(ClaimStatus.OTHERWISE, f"{values}, which does not number parts in order")


# ---- slices that store the same numbers ----


def _claim_of_equal_slices(
    slices: Sequence[Slice], constant: Numbers, facts: SliceFacts
) -> SliceClaim:
    """Return the claim of slices that all store the same numbers.

    - Functions with one code, whose closure cells hold the last part: made in a loop, and bound late.
    - Functions with one code and the same numbers otherwise, or custom layers that store the number of parts and
      another number: every slice takes the same rows, so none is a part of its own.
    - Custom layers, and functions of which nothing readable is stored: opaque.
    - Functions that differ in their code: the code may tell.
    """
    is_function = code_names_and_numbers.is_function(slices[0].layer)
    has_one_code = is_function and _have_one_code(slices) and not _arguments_differ(slices)
    cells = [value for path, value in constant.items() if path[:2] in CELLS]
    beside_cells = [value for path, value in constant.items() if path[:2] not in CELLS]
    if has_one_code and cells and hold_last_part(cells, beside_cells, facts):
        return SliceClaim(
            ClaimStatus.LATE,
            f"slice arguments: every slice stores the last part's, {_number_list(cells)}: bound late",
        )
    stores_only_part_count = not beside_cells and cells == [facts.slice_count]
    if is_function:
        take_the_same_rows = has_one_code and bool(constant) and not stores_only_part_count
    else:
        take_the_same_rows = len(constant) > 1 and facts.slice_count in constant.values()
    if take_the_same_rows:
        numbers = ", ".join(
            f"{called(path, facts)} = {value:g}" for path, value in constant.items()
        )
        return SliceClaim(ClaimStatus.OTHERWISE, f"every slice has the same arguments: {numbers}")
    differ_by_texts_alone = _arguments_differ(slices) and not slice_non_number_arguments.have_code(
        slices
    )
    show_nothing = all(_shows_nothing(layer) for layer, _, _ in slices)
    if not is_function or differ_by_texts_alone or show_nothing:
        return SliceClaim(ClaimStatus.OPAQUE, _opaque_class(slices))
    return SliceClaim(ClaimStatus.PARTLY)


def _have_one_code(slices: Sequence[Slice]) -> bool:
    return len({repr(_code_of(layer.settings.get("function"))) for layer, _, _ in slices}) == 1


def _code_of(function: Json) -> Json:
    """Return the part of a stored function that is its code, or its name."""
    if isinstance(function, Mapping):
        config = function.get("config")
        return config.get("code") if isinstance(config, Mapping) else config
    return function[0] if is_list(function) and function else function


def _arguments_differ(slices: Sequence[Slice]) -> bool:
    """Return True if arguments that are no numbers (`{half: "first"}`, `{second: true}`) tell the slices apart."""
    arguments = [layer.settings.get("arguments") for layer, _, _ in slices]
    return any(other != arguments[0] for other in arguments)


def _shows_nothing(layer: Layer) -> bool:
    """Return True if a function is stored by name alone, or only calls another custom one."""
    if layer.settings.get("arguments"):
        return False
    code = code_names_and_numbers.stored_code(layer)
    if code is None:
        return isinstance(_code_of(layer.settings.get("function")), str) and _is_by_name(
            layer.settings["function"]
        )
    return (
        not code.captures
        and not code.numbers
        and bool(code.names)
        and not code_names_and_numbers.shows_how(layer)
    )


def _is_by_name(function: Json) -> bool:
    return isinstance(function, str) or (
        isinstance(function, Mapping) and isinstance(function.get("config"), str)
    )


def agree(claims: Sequence[SliceClaim]) -> bool:
    """Return True if claims of several inputs, of as many parts, have the same part starts.

    Fractions show what no batch that is tried does.
    """
    starts = [claim.part_starts for claim in claims if claim.part_starts]
    return all(
        _are_equal_starts(one, other) for one, other in pairwise(starts) if len(one) == len(other)
    )


def _are_equal_starts(starts: Sequence[float], others: Sequence[float]) -> bool:
    """Return True if fractions of the batch are equal, or if those of either side are unknown (empty)."""
    return (
        not starts
        or not others
        or all(
            isclose(start, other, abs_tol=1e-9) for start, other in zip(starts, others, strict=True)
        )
    )


# ---- texts ----


def _values_in_slices(path: Path, numbers: Sequence[Numbers], facts: SliceFacts) -> str:
    """Return a number's name and its values in the order of the slices: "i is 0, 2 in the slices"."""
    values = ", ".join(
        f"{of_slice[path]:g}" if path in of_slice else "none" for of_slice in numbers
    )
    name = called(path, facts)
    return f"{name} is {values} in the slices" if len(numbers) > 1 else f"{name} is {values}"


def _opaque_class(slices: Sequence[Slice]) -> str:
    """Return why a custom class is not evidence, and what the caller can do."""
    layer = slices[0].layer
    return (
        f"the file does not show whether {layer.class_name} cuts the batch or changes its values; "
        f"if it cuts, pass --slice-layer {layer.class_name}"
    )


def _number_list(values: Sequence[Number]) -> str:
    return ", ".join(f"{value:g}" for value in values)
