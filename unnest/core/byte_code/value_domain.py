"""The domain of values that a function computes with: Python's operations on them, and the texts of its f-strings."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import ClassVar, Generic, Literal, TypeAlias, TypeVar

from unnest.core.model import Unknown

PlainValue: TypeAlias = "bool | int | float | str | EllipsisType | None"
"""A constant of one of the plain types."""

DomainValue = TypeVar("DomainValue")

TextConversion: TypeAlias = Literal["", "s", "r", "a"]
"""How an f-string writes a value before it formats it."""

NUMBER_SPEC = re.compile(
    r"([^{}]?[<>=^])?[+\- ]?#?0?\d{0,3}[,_]?(\.\d{1,3})?[bdeEfFgGoxX%]?", re.ASCII
)
"""Specs for numbers that depend on neither the Python nor the locale, and give no long text."""

MAX_TEXT_LENGTH = 10_000
"""Characters of a text: more than anyone's name."""

INNER_FUNCTION = "an inner function"

BEYOND_EXPRESSIONS = "a jump, a loop, or another instruction beyond plain expressions"


class ValueDomain(ABC, Generic[DomainValue]):
    """Values of one kind for the machine, which passes them around without looking inside.

    Every method may raise Unknown. `branches`: jumps and inner functions are followed; if False, code is read
    straight on, and the methods behind `call` are never called.
    """

    branches: ClassVar[bool] = False

    @abstractmethod
    def constant(self, value: PlainValue) -> DomainValue:
        """Return the value of a constant of the code; tuples come as sequences of values."""

    @abstractmethod
    def plain(self, value: DomainValue) -> object:
        """Return the Python value of a constant, tuples included; any other object for a value that is not constant."""

    @abstractmethod
    def size(self, value: DomainValue) -> int:
        """Return the cost of handling a value, 1 or more: charged for each value that leaves the stack."""

    @abstractmethod
    def sequence(self, kind: Literal["list", "tuple"], parts: Sequence[DomainValue]) -> DomainValue:
        """Return `[a, b]` or `(a, b)`."""

    @abstractmethod
    def extended(self, parts: DomainValue, more: DomainValue) -> DomainValue:
        """Return `[*parts, *more]`, for a list that nothing else refers to."""

    @abstractmethod
    def unpacked(self, value: DomainValue, count: int) -> Sequence[DomainValue]:
        """Return the `count` parts of `a, b = value`, in order."""

    @abstractmethod
    def slice_of(self, ends: Sequence[DomainValue]) -> DomainValue:
        """Return the slice `start:stop` or `start:stop:step`."""

    @abstractmethod
    def subscript(self, of: DomainValue, key: DomainValue) -> DomainValue:
        """Return `of[key]`."""

    @abstractmethod
    def unary(self, symbol: Literal["+", "-", "~"], value: DomainValue) -> DomainValue:
        """Return `-value`, `+value` or `~value`."""

    @abstractmethod
    def binary(self, symbol: str, left: DomainValue, right: DomainValue) -> DomainValue:
        """Return `left symbol right`; `classic /` is Python 2's division."""

    @abstractmethod
    def compare(self, symbol: str, left: DomainValue, right: DomainValue) -> DomainValue:
        """Return `left < right` and the like; `is` and `in` are among the symbols where branches are followed."""

    @abstractmethod
    def global_value(self, name: str) -> DomainValue:
        """Return a global or builtin by its name."""

    @abstractmethod
    def attribute(self, of: DomainValue, name: str) -> DomainValue:
        """Return `of.name`."""

    @abstractmethod
    def format_text(
        self, value: DomainValue, conversion: TextConversion, spec: DomainValue | None
    ) -> DomainValue:
        """Return the text of `f"{value!conversion:spec}"`; the conversion "" and the spec None stand for none."""

    @abstractmethod
    def join_texts(self, texts: Sequence[DomainValue]) -> DomainValue:
        """Return one text of several, in order, as an f-string joins them."""

    @abstractmethod
    def call(
        self,
        function: DomainValue,
        positional: Sequence[DomainValue],
        keywords: Mapping[str, DomainValue],
    ) -> DomainValue:
        """Return `function(*positional, **keywords)`."""

    @abstractmethod
    def module(self, path: str) -> DomainValue:
        """Return the innermost module of `import path`."""

    def entered(self, value: DomainValue) -> DomainValue:  # noqa: ARG002 - for those that follow `with` blocks
        """Return the value that `with value as name` binds, if leaving the block does not affect it. Raises Unknown."""
        raise Unknown(BEYOND_EXPRESSIONS)

    def function(
        self,
        call: Callable[[Sequence[DomainValue], Mapping[str, DomainValue]], DomainValue],  # noqa: ARG002 - for those that follow branches
    ) -> DomainValue:
        """Return the value of an inner function that is held or handed on; `call` gives what it returns."""
        raise Unknown(INNER_FUNCTION)

    def mapping(
        self,
        entries: Sequence[tuple[DomainValue, DomainValue]],  # noqa: ARG002 - for those that follow branches
        onto: DomainValue | None = None,  # noqa: ARG002 - for those that follow branches
    ) -> DomainValue:
        """Return `{**onto, key: value, ...}`, the entries in order."""
        raise Unknown(BEYOND_EXPRESSIONS)

    def store_subscript(self, of: DomainValue, key: DomainValue, value: DomainValue) -> None:  # noqa: ARG002 - for those that follow branches
        """Do `of[key] = value`. Raises Unknown."""
        raise Unknown(BEYOND_EXPRESSIONS)

    def truth(self, value: DomainValue) -> bool:  # noqa: ARG002 - for those that follow branches
        """Return the truth of a value, on which a branch depends. Raises Unknown."""
        raise Unknown(BEYOND_EXPRESSIONS)

    def is_unknown(self, value: DomainValue) -> bool:  # noqa: ARG002 - for those that follow handlers
        """Return True if nothing is known of what a call returned: it may have raised an exception as well."""
        raise Unknown(BEYOND_EXPRESSIONS)

    def is_builtin(self, value: DomainValue, name: str) -> bool:  # noqa: ARG002 - for those that follow branches
        """Return True if a value is the builtin of that name, False if it is something else. Raises Unknown."""
        raise Unknown(BEYOND_EXPRESSIONS)

    def in_place(self, symbol: str, left: DomainValue, right: DomainValue) -> DomainValue:
        """Return the result of `left symbol= right`: a new value, unless `left` is mutable."""
        return self.binary(symbol, left, right)

    def iterator(self, value: DomainValue) -> Iterator[DomainValue]:  # noqa: ARG002 - for those that follow loops
        """Return an iterator over `value`, as Python's own would iterate. Raises Unknown."""
        raise Unknown(BEYOND_EXPRESSIONS)

    def generator(self, values: Iterator[DomainValue]) -> DomainValue:  # noqa: ARG002 - for those that follow loops
        """Return the value of a generator expression, whose `values` are computed when they are asked for.

        Raises Unknown.
        """
        raise Unknown(BEYOND_EXPRESSIONS)


def format_text(value: object, conversion: TextConversion, spec: object) -> str | None:
    """Return the text of `f"{value!conversion:spec}"`; None if it is unknown.

    `spec` is None for none. Texts with a spec are not known, since 3.10 pads them otherwise; nor how a text that is not
    ASCII is written, on which Pythons differ.
    """
    if not isinstance(value, (bool, int, float, str, type(None))):
        return None
    if conversion in {"r", "a"} and isinstance(value, str) and not value.isascii():
        return None
    shown = value if conversion == "" else str(value) if conversion == "s" else repr(value)
    if spec is None or spec == "":
        return join_texts([format(shown)])
    if (
        not isinstance(shown, (int, float))
        or not isinstance(spec, str)
        or not NUMBER_SPEC.fullmatch(spec)
    ):
        return None
    try:
        return join_texts([format(shown, spec)])
    except (ValueError, ArithmeticError):
        return None


def join_texts(texts: Sequence[object]) -> str | None:
    """Return the texts as one; None if one is unknown, or if it is too long."""
    known = [text for text in texts if isinstance(text, str)]
    if len(known) < len(texts) or sum(map(len, known)) > MAX_TEXT_LENGTH:
        return None
    return "".join(known)
