"""Facts on the stored code of a Lambda: names, numbers, parameters, cells; never executed, never unmarshalled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from unnest.core.byte_code import read_code_objects
from unnest.core.byte_code.candidate_decodings import every_constant, names_used, writers
from unnest.core.byte_code.instruction_decoder import Instruction, instructions
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible
from unnest.core.byte_code.read_code_objects import (
    ANY_KEYWORDS,
    CodeObject,
    Constant,
    constants_within,
)
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json


class CodeFacts(NamedTuple):
    """The visible parts of a stored function: the names it uses, the numbers in its text, its parameters.

    `minus_one`: the parameters and captured names that it takes 1 off, and None for anything else that it does so.
    `free`: the names that it captures, in the order of the closure's cells. `is_identity`: nothing happens between its
    argument and its result. `plain`: the names that are nowhere an attribute (`sum`, not `K.sum`), where that can be
    told. `accepts`: the names of all its parameters, None where it takes any (`**kwargs`).
    """

    names: frozenset[str]
    numbers: tuple[int | float, ...]
    captures: bool
    parameters: tuple[str, ...] = ()
    minus_one: frozenset[str | None] = frozenset()
    is_identity: bool = False
    free: tuple[str, ...] = ()
    plain: frozenset[str] = frozenset()
    accepts: frozenset[str] | None = None


def code(function: Json) -> CodeFacts | None:
    """Return the facts of a Lambda's stored code; None if the function is stored by name, or is not readable."""
    text, _, closure = function_parts(function)
    if text is None:
        return None
    return _read(text, captures=bool(closure))


@lru_cache(maxsize=1024)
def _read(text: str, *, captures: bool) -> CodeFacts | None:
    """Return the facts of stored code; cached, as every question about a layer asks for them."""
    return next((_facts(reading, captures) for reading in read_code_objects.read(text)), None)


def _facts(code: CodeObject, captures: bool) -> CodeFacts:
    """Return the facts of a function and of the functions in it."""
    steps = _instructions(code)
    names, numbers, minus_one = set(code.names), list[int | float](), set(_minus_one(code, steps))
    attributes = names - _plain_names(code)
    for inner in constants_within(code.constants):
        if isinstance(inner, CodeObject):
            facts = _facts(inner, captures)
            names |= facts.names
            numbers += facts.numbers
            minus_one |= facts.minus_one
            captures |= facts.captures
            attributes |= facts.names - facts.plain
    numbers += [
        v for v in every_constant(code) if isinstance(v, (int, float)) and not isinstance(v, bool)
    ]
    # Load the argument, return it.
    is_identity = len(code.code) <= (6 if code.layout == "3.11" else 4)
    captures = captures or bool(code.free)
    parameters = code.locals[: code.arguments]
    return CodeFacts(
        frozenset(names),
        tuple(numbers),
        captures,
        parameters,
        frozenset(minus_one),
        is_identity,
        code.free,
        frozenset(names - attributes),
        None
        if code.flags & ANY_KEYWORDS
        else frozenset(code.locals[: code.arguments + code.keyword_only]),
    )


def _plain_names(code: CodeObject) -> set[str]:
    """Return names that a function reads as globals only; empty if its Python is not known."""
    readings = []
    for python in writers(code):
        with suppress(Impossible):
            as_global, otherwise = names_used(python, code)
            readings.append(as_global - otherwise)
    return set.intersection(*readings) if readings else set()


def _instructions(code: CodeObject) -> list[Instruction]:
    """Return a function's instructions, read as the first Python that may have written it."""
    for python in writers(code):
        with suppress(Impossible):
            return [each or UNFOLLOWED for each in instructions(python, code.code)]
    return []


UNFOLLOWED = Instruction("")

#: Instructions that load a local variable by its place; those that do two things at once have it in the lower half.
LOADS_LOCAL = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"})
LOADS_SECOND = frozenset(
    {"LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "STORE_FAST_LOAD_FAST"}
)


def _minus_one(code: CodeObject, steps: Sequence[Instruction]) -> Iterator[str | None]:
    """Return the name from which a function subtracts the constant 1, as for an index from 1; or None."""
    for loaded, one, step in zip(steps, steps[1:], steps[2:], strict=False):
        if step.symbol == "-" and _constant(code, one) == 1:
            yield _variable(code, loaded)


def _constant(code: CodeObject, step: Instruction) -> Constant:
    """Return the constant that an instruction loads; None for other instructions."""
    if step.name == "LOAD_CONST" and step.argument < len(code.constants):
        return code.constants[step.argument]
    return step.argument if step.name == "LOAD_SMALL_INT" else None


def _variable(code: CodeObject, step: Instruction) -> str | None:
    """Return the variable that an instruction loads; None for other instructions."""
    names, place = tuple[str, ...](), step.argument
    if step.name in LOADS_LOCAL:
        names = code.slots if code.layout == "3.11" else code.locals
    elif step.name in LOADS_SECOND:
        names, place = code.slots, step.argument & 15
    elif step.name == "LOAD_DEREF":
        names = code.slots
    return names[place] if place < len(names) else None
