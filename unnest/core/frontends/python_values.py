"""Values of stored code that is followed, beside tensors: what Python has, modules and functions by name, UNKNOWN."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeAlias

from unnest.core import json_tree
from unnest.core.model import Json, JsonObject, Unknown

PythonValue: TypeAlias = Any
"""A TracedTensor, Name, Method, NameScope, Once, PythonFunction or UNKNOWN; or Python's own: a number, text, None,
list, tuple, dictionary."""


class UnknownValue(Enum):
    """A value that nothing in the file explains: a custom function or number, or what such a function returns."""

    UNKNOWN = "unknown"


UNKNOWN = UnknownValue.UNKNOWN


@dataclass(frozen=True, slots=True)
class Name:
    """A module or function by its path: `tensorflow.shape`."""

    path: str


@dataclass(eq=False, repr=False)
class Method:
    """A method of a list or shape, ready to be called."""

    call: Callable[..., PythonValue]


@dataclass(eq=False, repr=False)
class NameScope:
    """The object of a `with` statement: a device, a name."""


@dataclass(eq=False, repr=False)
class PythonFunction:
    """An inner function as a value: `call` gives what it returns for arguments and keywords."""

    call: Callable[[Sequence[PythonValue], Mapping[str, PythonValue]], PythonValue]


class Once:
    """Values of an iterator: a generator, or what `zip` and the like return."""

    def __init__(self, values: Iterator[PythonValue]) -> None:
        self._values: Iterator[PythonValue] | None = values

    def begin(self) -> Iterator[PythonValue]:
        """Return the values. Raises Unknown the second time, when few people mean what is left of them."""
        values, self._values = self._values, None
        if values is None:
            raise Unknown("an iterator that is read twice")
        return values


class Evaluator(Protocol):
    """Python's rules for values of the trace. Methods raise Unknown."""

    def number(self, value: PythonValue) -> float:
        """Return a Python number. Raises Unknown."""

    def whole(self, value: PythonValue) -> int:
        """Return a whole Python number. Raises Unknown."""

    def iterator(self, value: PythonValue) -> Iterator[PythonValue]:
        """Return an iterator over a list, a tuple or an iterator."""

    def slice_of(self, ends: Sequence[PythonValue]) -> PythonValue:
        """Return `slice(*ends)`."""

    def subscript(self, of: PythonValue, key: PythonValue) -> PythonValue:
        """Return `of[key]`."""

    def binary(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return `left symbol right`."""

    def truth(self, value: PythonValue) -> bool:
        """Return the truth of a value."""

    def call(
        self,
        function: PythonValue,
        positional: Sequence[PythonValue],
        keywords: Mapping[str, PythonValue],
    ) -> PythonValue:
        """Return `function(*positional, **keywords)`."""


ON_NUMBERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "classic /": lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) else a / b,
}
"""Python's operators on numbers; `classic /` is Python 2's. On tensors each is the operation with that `symbol`."""

MAX_ENTRIES = 10_000
"""Of a list, with those of the lists in it."""

MAX_BITS = 2_000
"""Of an integer: more than any float."""


def stored_value(value: Json) -> PythonValue:
    """Return a value that is stored beside the code: an argument, a default, a cell. Raises Unknown."""

    def unpack(holder: Sequence[Json] | JsonObject, parts: list[PythonValue]) -> PythonValue:
        if not isinstance(holder, Mapping):
            return parts
        if holder.get("class_name") == "__tuple__":
            return dict(zip(holder, parts, strict=True)).get("items")
        raise Unknown("an object")

    return json_tree.fold(value, lambda leaf: leaf, unpack)


def parts_of(value: PythonValue) -> Sequence[PythonValue]:
    """The entries of a list, tuple or dictionary, the ends of a slice; nothing for other values."""
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, dict):
        return [*value.values()]
    return (value.start, value.stop, value.step) if isinstance(value, slice) else ()


def every(values: Sequence[PythonValue]) -> Iterator[PythonValue]:
    """Yield values, and what is in lists, tuples, dictionaries and slices among them, of any depth."""
    pending = [*values]
    while pending:
        value = pending.pop()
        yield value
        pending += parts_of(value)


def flat(values: Sequence[PythonValue]) -> Iterator[PythonValue]:
    """The values in lists, tuples, dictionaries and slices of any depth."""
    return (value for value in every(values) if not isinstance(value, (list, tuple, dict, slice)))


def lists_in(values: Sequence[PythonValue]) -> list[list[PythonValue]]:
    """The lists among values, and within lists, tuples and dictionaries among them."""
    return [value for value in every(values) if isinstance(value, list)]


def share_a_list(lists: Sequence[list[PythonValue]], others: Sequence[list[PythonValue]]) -> bool:
    """True if one of these is one of those: the same list, not one that is equal."""
    return any(each is other for each in lists for other in others)
