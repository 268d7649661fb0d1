"""The values of a function's arguments as its code begins: of a layer's function, and of an inner function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from unnest.core.byte_code.machine_errors_and_run_cost import entry
from unnest.core.byte_code.read_code_objects import (
    ANY_KEYWORDS,
    ANY_POSITIONAL,
    COROUTINE,
    GENERATOR,
    CodeObject,
)
from unnest.core.byte_code.value_domain import INNER_FUNCTION, DomainValue
from unnest.core.model import Unknown

Computed = TypeVar("Computed")

OTHER_ARGUMENTS = "an inner function that is called with other arguments than it has"


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
    if code.flags & (COROUTINE | GENERATOR):
        raise Unknown("a generator")
    if code.flags & (ANY_POSITIONAL | ANY_KEYWORDS):
        raise Unknown(
            "a function of any arguments, as a decorator makes of another that is not in the file"
        )
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
