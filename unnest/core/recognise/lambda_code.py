"""Readable facts out of what layers store as code: never executed, never unmarshalled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unnest.core import code_objects
from unnest.core.code_objects import CodeObject, Constant, Opaque
from unnest.core.model import Json


@dataclass(frozen=True)
class Code:
    """What a stored function shows of itself: the names it uses, the numbers in its text, its own parameters."""

    names: frozenset[str]
    numbers: tuple[int, ...]
    captures: bool
    parameters: tuple[str, ...] = ()


def code(function: Json) -> Code | None:
    """The facts of a Lambda's stored function; None where it is stored by name, or not readable."""
    text, closure = _stored(function)
    if text is None:
        return None
    return next((_facts(reading, bool(closure)) for reading in code_objects.read(text)), None)


def _stored(function: Json) -> tuple[str | None, Json]:
    """Code and closure: `[code, defaults, closure]` up to Keras 2, an object of that in Keras 3."""
    if isinstance(function, Mapping):
        config = function.get("config")
        if isinstance(config, Mapping) and isinstance(config.get("code"), str):
            return str(config["code"]), config.get("closure")
        return None, None
    if isinstance(function, Sequence) and not isinstance(function, str) and function:
        text, _, closure = (*function, None, None)[:3]
        return (text if isinstance(text, str) else None), closure
    return None, None


def _facts(code: CodeObject, captures: bool) -> Code:
    names, numbers = set(code.names), list[int]()
    for inner in _parts(code.constants):
        if isinstance(inner, CodeObject):
            facts = _facts(inner, captures)
            names |= facts.names
            numbers += facts.numbers
            captures |= facts.captures
    numbers += [value for value in _parts(code.constants) if isinstance(value, int) and not isinstance(value, bool)]
    return Code(frozenset(names), tuple(numbers), captures or bool(code.free), code.locals[: code.arguments])


def _parts(constants: Sequence[Constant]) -> Iterator[Constant]:
    for value in constants:
        if isinstance(value, tuple):
            yield from _parts(value)
        elif isinstance(value, Opaque):
            yield from _parts(value.parts)
        else:
            yield value
