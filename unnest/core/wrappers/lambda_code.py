"""Readable facts out of what layers store as code: never executed, never unmarshalled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from unnest.core.byte_code import code_objects
from unnest.core.byte_code.code_objects import CodeObject
from unnest.core.byte_code.opcodes import PYTHONS, Impossible
from unnest.core.byte_code.stored_function import constants_within, names_used
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
    """The facts of a Lambda's stored function; None where it is stored by name, or not readable."""
    text, _, closure = code_objects.parts_of(function)
    if text is None:
        return None
    return _read(text, captures=bool(closure))


@lru_cache(maxsize=256)
def _read(text: str, *, captures: bool) -> CodeFacts | None:
    """The facts of code as it is stored; every question about a layer asks for them."""
    return next((_facts(reading, captures) for reading in code_objects.read(text)), None)


def _facts(code: CodeObject, captures: bool) -> CodeFacts:
    names, numbers, minus_one = set(code.names), list[int | float](), set(_minus_one(code))
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
        v
        for v in constants_within(code.constants)
        if isinstance(v, (int, float)) and not isinstance(v, bool)
    ]
    is_identity = len(code.code) <= (
        6 if code.layout == "3.11" else 4
    )  # load the argument, return it
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


ANY_KEYWORDS = 0x08
"""The flag of a code object that takes `**kwargs`."""


def _plain_names(code: CodeObject) -> set[str]:
    """The names that a function reads as globals and nowhere else; none where its Python cannot be told."""
    readings = []
    for python in PYTHONS[code.layout]:
        with suppress(Impossible):
            as_global, otherwise = names_used(python, code)
            readings.append(as_global - otherwise)
    return set.intersection(*readings) if readings else set()


#: BINARY_SUBTRACT until Python 3.10, and what BINARY_OP is given since then.
SUBTRACT, OPERAND = 24, 10
#: LOAD_CONST and LOAD_FAST until Python 3.12, LOAD_DEREF and RETURN_VALUE until 3.10; where 2.7 to 3.5 begin to have
#: arguments.
LOAD_CONST, LOAD_FAST, LOAD_DEREF, RETURN, WITH_ARGUMENT = 100, 124, 136, 83, 90


def _minus_one(code: CodeObject) -> Iterator[str | None]:
    """Return the name from which a function subtracts the constant 1, as for an index from 1; or None."""
    captured = (
        *(name for name in code.cells if name not in code.locals or code.layout != "3.11"),
        *code.free,
    )
    since_311 = code.layout == "3.11"
    older, before = (0, 0), (0, 0)
    for operation, argument in _instructions(code):
        subtracts = argument == OPERAND if since_311 else operation == SUBTRACT
        loads = since_311 or before[0] == LOAD_CONST
        if (
            subtracts
            and loads
            and before[1] < len(code.constants)
            and code.constants[before[1]] == 1
        ):
            yield _loaded(code, older, (*code.locals, *captured) if since_311 else captured)
        older, before = before, (operation, argument)


def _loaded(
    code: CodeObject, instruction: tuple[int, int], captured: tuple[str, ...]
) -> str | None:
    """The name that an instruction loads; `captured`: what those that load no plain local count through."""
    operation, argument = instruction
    names = code.locals if operation == LOAD_FAST and code.layout != "3.11" else captured
    loads = code.layout == "3.11" or operation in (LOAD_FAST, LOAD_DEREF)
    return names[argument] if loads and argument < len(names) else None


def _instructions(code: CodeObject) -> Iterator[tuple[int, int]]:
    """(operation, argument) in order: two bytes each since Python 3.6, one or three before."""
    codes = code.code
    if code.layout == "3.11" or (len(codes) > 1 and codes[-2] == RETURN):
        yield from zip(codes[::2], codes[1::2], strict=False)
        return
    at = 0
    while at < len(codes):
        has_argument = codes[at] >= WITH_ARGUMENT and at + 1 < len(codes)
        yield codes[at], codes[at + 1] if has_argument else 0
        at += 3 if has_argument else 1
