"""Instructions for unary operators, comparisons, and the texts of f-strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from unnest.core.byte_code.frame import Frame
from unnest.core.byte_code.instruction_decoder import (
    comparison,
)
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible
from unnest.core.byte_code.value_domain import (
    DomainValue,
    TextConversion,
)
from unnest.core.model import Unknown

TO_BOOL = 0x10
"""Bit of COMPARE_OP's argument since 3.13: the result becomes a truth value for a jump."""

TEXT_CONVERSIONS: Sequence[TextConversion] = ("", "s", "r", "a")
"""How a value is written before it is formatted, by CPython's number."""

WITH_SPEC = 4
"""Bit of FORMAT_VALUE's argument: a spec is on top."""


class OperatorInstructions(Frame[DomainValue]):
    """A frame that compares values and formats texts. `Machine` applies binary operators, by their symbols."""

    def _unary(self, symbol: Literal["+", "-", "~"]) -> None:
        self._stack.push(self._domain.unary(symbol, self._stack.pop()))

    def _compare(self, argument: int) -> None:
        if self._since_313 and argument & TO_BOOL and not self._domain.branches:
            raise Unknown("a truth value")
        symbol = comparison(self._python, argument)
        self._stack.push(self._domain.compare(symbol, *self._stack.pop_many(2)))

    def _contains(self, inverted: int) -> None:
        symbol = "not in" if inverted else "in"
        self._stack.push(self._domain.compare(symbol, *self._stack.pop_many(2)))

    def _format_value(self, argument: int) -> None:
        """Push the text of a value, by the spec above it if there is one. Its conversion stands in the lowest bits.

        Raises Impossible.
        """
        with_spec, conversion = divmod(argument, WITH_SPEC)
        if with_spec > 1:
            raise Impossible
        spec = self._stack.pop() if with_spec else None
        self._stack.push(
            self._domain.format_text(self._stack.pop(), TEXT_CONVERSIONS[conversion], spec)
        )

    def _convert_value(self, conversion: int) -> None:
        """Convert the top of the stack to text by `!s`, `!r` or `!a` (a step of its own since Python 3.13).

        Raises Impossible.
        """
        if not 0 < conversion < len(TEXT_CONVERSIONS):
            raise Impossible
        self._format_value(conversion)

    def _build_string(self, count: int) -> None:
        self._stack.push(self._domain.join_texts(self._stack.pop_many(count)))

    OPERATORS: ClassVar[Mapping[str, Callable[[OperatorInstructions[Any], int], object]]] = {
        "UNARY_POSITIVE": lambda self, _: self._unary("+"),
        "UNARY_NEGATIVE": lambda self, _: self._unary("-"),
        "UNARY_INVERT": lambda self, _: self._unary("~"),
        "COMPARE_OP": _compare,
        "CONTAINS_OP": _contains,
        "FORMAT_VALUE": _format_value,
        "FORMAT_SIMPLE": lambda self, _: self._format_value(0),
        "FORMAT_WITH_SPEC": lambda self, _: self._format_value(WITH_SPEC),
        "CONVERT_VALUE": _convert_value,
        "BUILD_STRING": _build_string,
    }
    """Instructions that compute one value of one or two, by name -> the method that carries them out."""
