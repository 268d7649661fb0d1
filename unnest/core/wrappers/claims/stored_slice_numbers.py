"""Numeric arguments that a file stores for slice layers, by their path in the config, and facts beside them.

The path says what a number is: an argument of the function, a parameter's default that no argument replaces, a cell of
the closure, a key of a class's config, an argument of the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from unnest.core.architecture import tensor_refs
from unnest.core.architecture.graph import Call, Layer
from unnest.core.json_tree import Path, is_list
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json
from unnest.core.wrappers.stored_code import code_names_and_numbers
from unnest.core.wrappers.stored_code.code_names_and_numbers import Number

Numbers: TypeAlias = Mapping[Path, Number]
"""The numbers of one slice, by their path in its config."""


class Slice(NamedTuple):
    """A slice layer, its call, and which of its outputs a tower reads."""

    layer: Layer
    call: Call
    output: int


BASE_KEYS = frozenset({
    "name", "trainable", "dtype", "batch_input_shape", "batch_shape", "output_shape", "function", "arguments", "mask",
    "node_def", "shared_object_id", "build_config", "output_shape_type", "output_shape_module", "function_type",
    "module",
})  # fmt: skip
"""What every layer's config may hold, whatever the layer does; a function's numbers are read by their roles."""


ROUND_TOTALS = (10, 100)
"""Totals of bounds that are tenths or percent of the batch without saying so."""

AXES = frozenset({"axis", "dim", "axes"})
"""What an argument is called that says along which axis something is cut."""


class SliceFacts(NamedTuple):
    """Facts on the slices of one tensor beside their numbers.

    `rows`: the batch size, where it is fixed. `constants`: the numbers in the code. `bounds_are_rows`: the code calls
    nothing, so it does not ask how many rows there are, and bounds are numbers of rows. `lowered_by_one`: the names of
    which the code subtracts 1, as it must where an index counts from 1; None without code. `captured`: the names of the
    closure's cells, in order; `defaulted`: those of the parameters with defaults.
    """

    slice_count: int
    rows: int | None
    constants: frozenset[Number]
    bounds_are_rows: bool
    lowered_by_one: frozenset[str | None] | None
    captured: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()


def slice_facts(slices: Sequence[Slice], rows: int | None) -> SliceFacts:
    """Return the facts on slices beside their numbers; `rows` is a fixed batch size."""
    return SliceFacts(
        len(slices),
        rows,
        _constants(slices),
        _bounds_are_rows(slices),
        _lowered_by_one(slices),
        _one_of({_captured(layer) for layer, _, _ in slices}),
        _one_of({_defaulted(layer) for layer, _, _ in slices}),
    )


def _constants(slices: Sequence[Slice]) -> frozenset[Number]:
    codes = [code_names_and_numbers.stored_code(layer) for layer, _, _ in slices]
    return frozenset(number for code in codes if code is not None for number in code.numbers)


def _lowered_by_one(slices: Sequence[Slice]) -> frozenset[str | None] | None:
    """Return the names of which the code of all slices subtracts 1 (None: an unnamed value); None without code."""
    codes = [code_names_and_numbers.stored_code(layer) for layer, _, _ in slices]
    sets = [
        code.minus_one | ({None} if -1 in code.numbers else set())
        for code in codes
        if code is not None
    ]
    return frozenset.intersection(*sets) if len(sets) == len(slices) else None


def _one_of(names: set[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names that all slices have in common; () if they differ."""
    return names.pop() if len(names) == 1 else ()


def _captured(layer: Layer) -> tuple[str, ...]:
    """Return the names of the cells of a closure."""
    code = code_names_and_numbers.stored_code(layer)
    return () if code is None else code.free


def _defaulted(layer: Layer) -> tuple[str, ...]:
    """Return the names of the parameters with a default, none if the code does not show them."""
    _, defaults, _ = function_parts(layer.settings.get("function"))
    code = code_names_and_numbers.stored_code(layer)
    if (
        code is None
        or not defaults
        or isinstance(defaults, str)
        or not isinstance(defaults, Sequence)
    ):
        return ()
    return code.parameters[-len(defaults) :] if len(code.parameters) >= len(defaults) else ()


def _bounds_are_rows(slices: Sequence[Slice]) -> bool:
    """Return True if readable code calls nothing: it then does not know how many rows there are."""
    codes = [code_names_and_numbers.stored_code(layer) for layer, _, _ in slices]
    return all(code is not None and not code.names for code in codes)


def numbers_of(layer: Layer, call: Call) -> dict[Path, Number]:
    """Return the numeric arguments of a slice, by their path in its config."""
    settings = layer.settings
    told: dict[Path, Number] = {}
    if code_names_and_numbers.is_function(layer):
        told |= dict(_defaults_and_cells(layer))
        told |= dict(code_names_and_numbers.numbers(settings.get("arguments"), ("arguments",)))
    else:
        told |= dict(
            code_names_and_numbers.numbers(
                {k: v for k, v in settings.items() if k not in BASE_KEYS}
            )
        )
    return told | dict(_call_arguments(call, layer))


def _defaults_and_cells(layer: Layer) -> Iterator[tuple[Path, Number]]:
    """Yield the numbers in a stored function's cells, and in its defaults that no layer argument replaces."""
    function = layer.settings.get("function")
    _, defaults, closure = function_parts(function)
    is_object = isinstance(function, Mapping)
    given = layer.settings.get("arguments")
    names = set(given) if isinstance(given, Mapping) else set()
    if is_list(defaults):
        parameters = _defaulted(layer)
        replaced = [parameter in names for parameter in parameters] or [bool(names)] * len(defaults)
        for index, (value, is_replaced) in enumerate(zip(defaults, replaced, strict=True)):
            if not is_replaced:
                yield from code_names_and_numbers.numbers(
                    value, ("function", "defaults" if is_object else 1, index)
                )
    yield from code_names_and_numbers.numbers(closure, ("function", "closure" if is_object else 2))


DEFAULTS: tuple[Path, ...] = (("function", "defaults"), ("function", 1))
"""Where the defaults of parameters are, among the places of a slice's numbers."""

CELLS: tuple[Path, ...] = (("function", "closure"), ("function", 2))
"""Where the cells of a closure are, among the places of a slice's numbers."""


def _call_arguments(call: Call, layer: Layer) -> Iterator[tuple[Path, Number]]:
    """Yield the numbers that a call gets beside its tensors."""
    stored = call.stored
    if isinstance(stored, Mapping):
        arguments: Json = {"args": stored.get("args"), **_mapping(stored.get("kwargs"))}
    elif is_list(stored):
        nodes = [node for node in stored if is_list(node)]
        arguments = [node[2] if node and node[0] == CONSTANT else [*node[3:]] for node in nodes]
    else:
        return
    layers = {ref.layer for ref in call.reads} | {layer.name}
    yield from code_names_and_numbers.numbers(
        tensor_refs.without_tensors(arguments, layers), ("call",)
    )


CONSTANT = "_CONSTANT_VALUE"
"""What stands in a tensor's place where a call is given a constant."""


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def name_in_code(place: Path, facts: SliceFacts) -> str | None:
    """Return the code's name of a number: a layer's argument, a parameter or a cell; None for others."""
    if place[0] == "arguments":
        return last(place)
    names = (
        facts.captured if place[:2] in CELLS else facts.defaulted if place[:2] in DEFAULTS else ()
    )
    *_, index = place
    return (
        names[index]
        if isinstance(index, int) and len(place) == len(CELLS[0]) + 1 and index < len(names)
        else None
    )


def called(place: Path, facts: SliceFacts) -> str:
    """Return a number's name for a sentence: the code's (of a list, the list's), else the last key that leads to it."""
    of_list = name_in_code(place[: len(CELLS[0]) + 1], facts)
    return name_in_code(place, facts) or of_list or last(place)


def last(place: Path) -> str:
    """Return a place's name: the last key that leads to it."""
    return str(next((p for p in reversed(place) if isinstance(p, str)), place[-1]))
