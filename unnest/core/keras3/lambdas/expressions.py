"""Computation of a function as an expression: tensors become operations of Keras 3, all else is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from unnest.core.byte_code.interpretation import Interpretation, NotFollowed, Plain
from unnest.core.keras3.lambdas import calls, operators
from unnest.core.keras3.lambdas.values import CallArguments, Const, Dialect, Items, Value, constant, items


class Expressions(Interpretation[Value]):
    """The values of `values`, for code that calls the functions of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def constant(self, value: Plain) -> Value:
        """Return a constant with its source text."""
        return constant(value)

    def plain(self, value: Value) -> object:
        """Of constants and tuples of them; other values are themselves."""
        if isinstance(value, Items) and value.kind == "tuple":
            return tuple(self.plain(item) for item in value.items)
        return value.value if isinstance(value, Const) else value

    def size(self, value: Value) -> int:
        """All that a list holds; a share of the text of anything else."""
        return value.size if isinstance(value, Items) else 1 + len(value.text) // 50

    def sequence(self, kind: Literal["list", "tuple"], parts: Sequence[Value]) -> Value:
        """Return a list or tuple of any values."""
        return items(kind, parts)

    def extended(self, parts: Value, more: Value) -> Value:
        """By a tuple, as the compiler does it."""
        if not isinstance(parts, Items) or not isinstance(more, Items) or more.kind != "tuple":
            raise NotFollowed("a list that grows")
        return items("list", [*parts.items, *more.items])

    def unpacked(self, value: Value, count: int) -> Sequence[Value]:
        """Of lists, and of shapes."""
        return operators.unpack(value, count)

    def slice_of(self, ends: Sequence[Value]) -> Value:
        """Return a slice, whose ends must be constants."""
        return operators.slice_of(ends)

    def subscript(self, of: Value, key: Value) -> Value:
        """Of tensors, lists and shapes."""
        return operators.subscript(of, key)

    def unary(self, symbol: Literal["+", "-", "~"], value: Value) -> Value:
        """Apply a unary operator to a tensor or a number."""
        return operators.unary(symbol, value)

    def binary(self, symbol: str, left: Value, right: Value) -> Value:
        """On tensors, numbers and lists."""
        return operators.binary(symbol, left, right)

    def compare(self, symbol: str, left: Value, right: Value) -> Value:
        """Compare two values, of which one is a tensor."""
        return operators.compare(symbol, left, right)

    def global_value(self, name: str) -> Value:
        """Of the customary imports, and a few builtins."""
        return calls.global_value(name, self._dialect)

    def module(self, path: str) -> Value:
        """Return a module by its short name."""
        return calls.module(path)

    def attribute(self, of: Value, name: str) -> Value:
        """Of modules, tensors and shapes."""
        return calls.attribute(of, name)

    def call(self, function: Value, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Of the functions in `functions`."""
        return calls.call(function, CallArguments(tuple(positional), keywords), self._dialect)
