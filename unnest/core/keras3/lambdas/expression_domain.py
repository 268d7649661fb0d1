"""Computation of a function as an expression: tensors become operations of Keras 3, all else is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from unnest.core.byte_code import value_domain
from unnest.core.byte_code.value_domain import PlainValue, TextConversion, ValueDomain
from unnest.core.keras3.lambdas import names_and_calls, operators
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    CallArguments,
    Const,
    Items,
    Libraries,
    SymbolicValue,
    constant,
    items,
)


class Expressions(ValueDomain[SymbolicValue]):
    """The values of `values`, for code that calls the functions of one dialect."""

    def __init__(self, dialect: Libraries) -> None:
        self._dialect = dialect

    def constant(self, value: PlainValue) -> SymbolicValue:
        """Return a constant with its source text."""
        return constant(value)

    def plain(self, value: SymbolicValue) -> object:
        """Return the Python value of a constant, or of a tuple of constants; other values are returned unchanged."""
        if isinstance(value, Items) and value.kind == "tuple":
            return tuple(self.plain(item) for item in value.items)
        return value.value if isinstance(value, Const) else value

    def size(self, value: SymbolicValue) -> int:
        """Return the cost of a value: the items of a list, or a share of the length of its text."""
        return value.size if isinstance(value, Items) else 1 + len(value.text) // 50

    def sequence(
        self, kind: Literal["list", "tuple"], parts: Sequence[SymbolicValue]
    ) -> SymbolicValue:
        """Return a list or tuple of any values."""
        return items(kind, parts)

    def extended(self, parts: SymbolicValue, more: SymbolicValue) -> SymbolicValue:
        """Return a list extended by a tuple, as compiled list displays do it. Raises Unknown for anything else."""
        if not isinstance(parts, Items) or not isinstance(more, Items) or more.kind != "tuple":
            raise Unknown("a list that grows")
        return items("list", [*parts.items, *more.items])

    def unpacked(self, value: SymbolicValue, count: int) -> Sequence[SymbolicValue]:
        """Return the `count` items of a list or a shape."""
        return operators.unpack(value, count)

    def slice_of(self, ends: Sequence[SymbolicValue]) -> SymbolicValue:
        """Return a slice, whose ends must be constants."""
        return operators.slice_of(ends)

    def subscript(self, of: SymbolicValue, key: SymbolicValue) -> SymbolicValue:
        """Return `of[key]` of a tensor, a list or a shape."""
        return operators.subscript(of, key)

    def unary(self, symbol: Literal["+", "-", "~"], value: SymbolicValue) -> SymbolicValue:
        """Apply a unary operator to a tensor or a number."""
        return operators.unary(symbol, value)

    def binary(self, symbol: str, left: SymbolicValue, right: SymbolicValue) -> SymbolicValue:
        """Return the result of a binary operator on tensors, numbers or lists."""
        return operators.binary(symbol, left, right)

    def compare(self, symbol: str, left: SymbolicValue, right: SymbolicValue) -> SymbolicValue:
        """Compare two values, of which one is a tensor."""
        return operators.compare(symbol, left, right)

    def format_text(
        self, value: SymbolicValue, conversion: TextConversion, spec: SymbolicValue | None
    ) -> SymbolicValue:
        """Return the text of a constant."""
        return _constant_text(
            value_domain.format_text(
                self.plain(value), conversion, None if spec is None else self.plain(spec)
            )
        )

    def join_texts(self, parts: Sequence[SymbolicValue]) -> SymbolicValue:
        """Return one text of constants."""
        return _constant_text(value_domain.join_texts([self.plain(each) for each in parts]))

    def global_value(self, name: str) -> SymbolicValue:
        """Return a global name's value: a module by its customary name, or one of a few builtins."""
        return names_and_calls.global_value(name, self._dialect)

    def module(self, path: str) -> SymbolicValue:
        """Return a module by its short name."""
        return names_and_calls.module(path)

    def attribute(self, of: SymbolicValue, name: str) -> SymbolicValue:
        """Return an attribute of a module, a tensor or a shape."""
        return names_and_calls.attribute(of, name)

    def call(
        self,
        function: SymbolicValue,
        positional: Sequence[SymbolicValue],
        keywords: Mapping[str, SymbolicValue],
    ) -> SymbolicValue:
        """Call a known function."""
        return names_and_calls.call(
            function, CallArguments(tuple(positional), keywords), self._dialect
        )


def _constant_text(text: str | None) -> SymbolicValue:
    """Return a text as a constant. Raises Unknown if it is not known (None)."""
    if text is None:
        raise Unknown("a text that is not known")
    return constant(text)
