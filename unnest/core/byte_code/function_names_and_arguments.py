"""A stored function as it begins: what its bytes may be, the names it reads, and the values of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from unnest.budget import memoize, memoize_across_files
from unnest.core.byte_code import code_objects
from unnest.core.byte_code.code_objects import CodeObject, CodeSlice, Constant, Opaque
from unnest.core.byte_code.opcode_tables import PYTHONS, Python
from unnest.core.byte_code.opcodes import (
    GENERATOR,
    entry,
    instructions,
    may_have_written,
)
from unnest.core.byte_code.runtime_values import Impossible
from unnest.core.byte_code.value_domain import INNER_FUNCTION, DomainValue
from unnest.core.model import Unknown

ResultT = TypeVar("ResultT")
Computed = TypeVar("Computed")

OTHER_ARGUMENTS = "an inner function that is called with other arguments than it has"

ANY_POSITIONAL, ANY_KEYWORDS = 0x04, 0x08
VARIADIC = ANY_POSITIONAL | ANY_KEYWORDS
COROUTINE = 0x80 | 0x100 | 0x200
"""Flags of code objects: `*args`, `**kwargs`; coroutines (3.5's iterable coroutine among them)."""


def readings(text: str) -> Sequence[tuple[CodeObject, Python]]:
    """Return all readings of a stored function's text: each code layout, with each Python that may have written it."""
    return memoize(_across_files, _readings, text)


def _across_files(work_out: Callable[[str], ResultT], text: str) -> ResultT:
    """Return an answer that stored code alone decides: other files have the same wrappers."""
    if len(text) > MAX_CODE_KEPT:
        return work_out(text)
    return memoize_across_files((work_out, text), partial(work_out, text))


MAX_CODE_KEPT = 1 << 16
"""Characters of stored code that are kept for later files; a Lambda of a wrapper has 300 to 3,000."""


def _readings(text: str) -> Sequence[tuple[CodeObject, Python]]:
    return tuple((code, python) for code in code_objects.read(text) for python in writers(code))


def writers(code: CodeObject) -> Iterator[Python]:
    """Yield the Pythons that may have written a function, as far as its beginning and its end show."""
    return (python for python in PYTHONS[code.layout] if may_have_written(python, code))


USES_A_NAME = frozenset({"LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD", "IMPORT_NAME", "IMPORT_FROM"})
"""Instructions whose argument is the number of a name."""

WITH_A_BIT = {"LOAD_GLOBAL": (3, 11), "LOAD_ATTR": (3, 12)}
"""Those of them whose argument holds that number above its lowest bit, since which Python."""


def names_used(python: Python, code: CodeObject) -> tuple[set[str], set[str]]:
    """Return the names that a function reads as globals, and those of attributes and imports, as one Python reads it.

    Raises:
        Impossible: that Python has not written the code.

    """
    as_global, otherwise = set[str](), set[str]()
    bits = {name for name, since in WITH_A_BIT.items() if python.release >= since}
    for instruction in instructions(python, code.code):
        if instruction is not None and instruction.name in USES_A_NAME:
            index = instruction.argument >> (instruction.name in bits)
            (as_global if instruction.name == "LOAD_GLOBAL" else otherwise).add(
                entry(code.names, index)
            )
    return as_global, otherwise


def constants_within(constants: Sequence[Constant]) -> Iterator[Constant]:
    """Yield the constants of a function, its inner functions among them; those in tuples, sets, slices one by one."""
    for value in constants:
        if isinstance(value, tuple):
            yield from constants_within(value)
        elif isinstance(value, Opaque):
            yield from constants_within(value.parts)
        elif isinstance(value, CodeSlice):
            yield from constants_within((value.start, value.stop, value.step))
        else:
            yield value


def every_constant(code: CodeObject) -> Iterator[Constant]:
    """Yield the constants of a function as `constants_within` does, and integers that 3.14 keeps in instructions."""
    yield from constants_within(code.constants)
    for python in writers(code):
        with suppress(Impossible):
            steps = list(instructions(python, code.code))
            yield from (step.argument for step in steps if step and step.name == "LOAD_SMALL_INT")


def global_names(text: str) -> frozenset[str]:
    """Return the names that stored code, and the functions in it, read as globals or builtins.

    `text`: the code as Keras keeps it. Empty if its Pythons disagree, or if it cannot be read.
    """
    return memoize(_across_files, _names_in_all_readings, text)


def _names_in_all_readings(text: str) -> frozenset[str]:
    by_reading = []
    for code, python in readings(text):
        with suppress(Impossible):
            by_reading.append(_global_names(python, code))
    return frozenset.intersection(*by_reading) if by_reading else frozenset()


def _global_names(python: Python, code: CodeObject) -> frozenset[str]:
    names, _ = names_used(python, code)
    inner = (value for value in constants_within(code.constants) if isinstance(value, CodeObject))
    return frozenset(names).union(*(_global_names(python, each) for each in inner))


def bind(
    code: CodeObject,
    defaults: Sequence[Computed],
    positional: Sequence[Computed],
    keywords: Mapping[str, Computed],
    pack: Callable[[Sequence[Computed]], Computed],
) -> dict[str, Computed]:
    """Return the locals of an inner function as it is called; `pack` makes the tuple that `*args` is.

    Raises:
        Unknown: the arguments do not fit, or are keywords of any name.

    """
    if code.flags & (ANY_KEYWORDS | COROUTINE) or code.keyword_only:
        raise Unknown(INNER_FUNCTION)
    names = code.locals[: code.arguments]
    given = dict(zip(names, positional, strict=False))
    rest = positional[len(names) :]
    takes_rest = bool(code.flags & ANY_POSITIONAL)
    if (rest and not takes_rest) or given.keys() & keywords.keys() or len(defaults) > len(names):
        raise Unknown(OTHER_ARGUMENTS)
    last = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    local = {**last, **given, **keywords}
    if local.keys() != set(names):
        raise Unknown(OTHER_ARGUMENTS)
    return {**local, entry(code.locals, len(names)): pack(rest)} if takes_rest else local


def arguments_of(
    code: CodeObject,
    given: DomainValue,
    defaults: Sequence[DomainValue],
    stored: Mapping[str, DomainValue],
) -> dict[str, DomainValue]:
    """Return a Lambda function's locals at its start: input tensors first, then the layer's arguments, then defaults.

    `given` is the first argument, `stored` are the layer's by name.

    Raises:
        Unknown: Where an argument is not known.

    """
    if code.flags & (VARIADIC | COROUTINE | GENERATOR):
        raise Unknown("a generator, or arguments without number")
    positional = code.locals[: code.arguments]
    names = code.locals[: code.arguments + code.keyword_only]
    if not positional or len(defaults) > len(positional):
        raise Unknown("a function without arguments")
    if not set(stored) <= set(names[1:]):
        raise Unknown("an argument of the layer that the function does not take")
    values = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    values |= {**stored, positional[0]: given}
    if set(names) != set(values):
        raise Unknown("an argument whose value is not stored")
    return values
