"""Python's own functions, for values of stored code that is followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.frontends.python_values import MAX_ENTRIES, Once, Value

if TYPE_CHECKING:
    from unnest.core.frontends.traced_code import Tracer


def _range(tracer: Tracer, *bounds: Value) -> tuple[int, ...]:
    numbers = range(*map(tracer.whole, bounds))
    if len(numbers) > MAX_ENTRIES:
        raise NotFollowed("a long range")
    return tuple(numbers)


def _least_or_most(choose: Callable[..., Any]) -> Callable[..., Value]:
    """`min` or `max`, of numbers, or of those in one list."""
    return lambda tracer, *values: choose(map(tracer.number, values if len(values) > 1 else tracer.iterator(*values)))


def _reversed(_: Tracer, values: Value) -> Once:
    if not isinstance(values, (list, tuple)):
        raise NotFollowed("no list")
    return Once(reversed(values))


def _length(_: Tracer, values: Value) -> int:
    if not isinstance(values, (list, tuple)):
        raise NotFollowed("no list")
    return len(values)


BUILTINS: Mapping[str, Callable[..., Value]] = {
    "int": lambda tracer, value: int(tracer.number(value)),
    "float": lambda tracer, value: float(tracer.number(value)),
    "len": _length,
    "min": _least_or_most(min),
    "max": _least_or_most(max),
    "slice": lambda tracer, *ends: tracer.slice_of(ends),
    "range": _range,
    "xrange": _range,
    "list": lambda tracer, values=(): list(tracer.iterator(values)),
    "tuple": lambda tracer, values=(): tuple(tracer.iterator(values)),
    "enumerate": lambda tracer, values, start=0: Once(enumerate(tracer.iterator(values), tracer.whole(start))),
    "zip": lambda tracer, *values: Once(zip(*map(tracer.iterator, values), strict=False)),
    "reversed": _reversed,
    "sorted": lambda tracer, values, reverse=False: sorted(
        map(tracer.number, tracer.iterator(values)), reverse=bool(tracer.number(reverse))
    ),
    "sum": lambda tracer, values, start=0: reduce(
        lambda total, value: tracer.binary("+", total, value), tracer.iterator(values), start
    ),
}
"""Python's functions that are followed, each given the tracer first."""
