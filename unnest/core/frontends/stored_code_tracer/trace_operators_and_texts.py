"""Operators and f-strings of stored code that is traced: on tensors operations, on plain values what Python gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from unnest.core.byte_code import value_domain
from unnest.core.byte_code.value_domain import TextConversion
from unnest.core.frontends import python_containers
from unnest.core.frontends.python_values import (
    ON_NUMBERS,
    UNKNOWN,
    PythonValue,
)
from unnest.core.frontends.stored_code_tracer.tracer_base import TracerBase
from unnest.core.interpreters.trace import (
    TracedTensor,
)
from unnest.core.model import Unknown
from unnest.core.ops.registry import BY_OPERATOR


class OperatorsAndTexts(TracerBase):
    """Unary and binary operators, comparisons, `+=`, and texts."""

    def unary(self, symbol: Literal["+", "-", "~"], value: PythonValue) -> PythonValue:
        """Return `-value`. Raises Unknown for other operators."""
        if symbol != "-":
            raise Unknown(f"the operator {symbol}")
        if isinstance(value, TracedTensor):
            return self._apply("negative", [value], {}, "computes with the values (`-`)")
        return value if value is UNKNOWN else -self.number(value)

    def binary(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return the result of arithmetic on tensors, lists or numbers. Raises Unknown."""
        sides = (left, right)
        if symbol in ("+", "%") and isinstance(left, str):
            return self.join_texts(sides) if symbol == "+" else UNKNOWN
        is_repeated = symbol == "*" and any(isinstance(side, (list, tuple)) for side in sides)
        if any(isinstance(side, TracedTensor) for side in sides) and not is_repeated:
            if symbol not in ON_NUMBERS:
                raise Unknown(f"the operator {symbol}")
            words = f"computes with the values (`{symbol.removeprefix('classic ')}`)"
            return self._apply(BY_OPERATOR[symbol].name, sides, {}, words)
        if UNKNOWN in sides:
            return UNKNOWN
        if any(isinstance(side, (list, tuple)) for side in sides):
            return python_containers.arithmetic(self, symbol, left, right)
        if symbol in ("==", "!=") and all(isinstance(side, (str, type(None))) for side in sides):
            return (left == right) is (symbol == "==")
        if symbol not in ON_NUMBERS:
            raise Unknown(f"the operator {symbol}")
        try:
            return ON_NUMBERS[symbol](self.number(left), self.number(right))
        except (ArithmeticError, ValueError) as error:
            raise Unknown(str(error)) from error

    def compare(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return `left symbol right`; of identities only those with None are known. Raises Unknown."""
        if symbol not in {"is", "is not", "in", "not in"}:
            return self.binary(symbol, left, right)
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        if symbol.endswith("in"):
            is_true = python_containers.contains(right, left)
        elif left is None or right is None:
            is_true = left is right
        else:
            raise Unknown("an identity test")
        return is_true is not symbol.startswith(("not", "is not"))

    def in_place(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return the result of `left += right`: a list that nothing else refers to grows, all else is a new value.

        Raises Unknown.
        """
        if not isinstance(left, list):
            return self.binary(symbol, left, right)
        self._check_unshared(left)
        if symbol != "+":
            raise Unknown(f"the operator {symbol}=")
        python_containers.extend(self, left, right)
        return left

    def format_text(
        self, value: PythonValue, conversion: TextConversion, spec: PythonValue | None
    ) -> PythonValue:
        """Return the formatted text; UNKNOWN unless all of it is known."""
        text = value_domain.format_text(value, conversion, spec)
        return UNKNOWN if text is None else text

    def join_texts(self, parts: Sequence[PythonValue]) -> PythonValue:
        """Return the parts as one text; UNKNOWN unless all of them are known."""
        text = value_domain.join_texts(parts)
        return UNKNOWN if text is None else text
