"""A stored function as it begins: what its bytes may be, and the values of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.byte_code import code_objects
from unnest.core.byte_code.code_objects import CodeObject
from unnest.core.byte_code.domain import NotFollowed, Value
from unnest.core.byte_code.opcodes import GENERATOR, PYTHONS, Python, may_have_written

VARIADIC = 0x04 | 0x08
COROUTINE = 0x80 | 0x100 | 0x200
"""Flags of code objects: `*args`, `**kwargs`; coroutines (3.5's iterable coroutine among them)."""


def readings(text: str) -> list[tuple[CodeObject, Python]]:
    """Everything that a stored function's bytes may be: `text` as Keras keeps it, each Python of each layout."""
    return [
        (code, python)
        for code in code_objects.read(text)
        for python in PYTHONS[code.layout]
        if may_have_written(python, code.code)
    ]


def arguments_of(
    code: CodeObject, given: Value, defaults: Sequence[Value], stored: Mapping[str, Value]
) -> dict[str, Value]:
    """The locals of a Lambda's function as it begins: its tensors first, the layer's arguments, what has a default.

    `given` is the first argument, `stored` are the layer's by name.

    Raises:
        NotFollowed: Where an argument is not known.

    """
    if code.flags & (VARIADIC | COROUTINE | GENERATOR):
        raise NotFollowed("a generator, or arguments without number")
    positional = code.locals[: code.arguments]
    names = code.locals[: code.arguments + code.keyword_only]
    if not positional or len(defaults) > len(positional):
        raise NotFollowed("a function without arguments")
    if not set(stored) <= set(names[1:]):
        raise NotFollowed("an argument of the layer that the function does not take")
    values = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    values |= {**stored, positional[0]: given}
    if set(names) != set(values):
        raise NotFollowed("an argument whose value is not stored")
    return values
