"""The machine with Python's own values: what it computes can be held against what each Python computed."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from unnest.core.byte_code.value_domain import PlainValue, TextConversion, ValueDomain
from unnest.core.model import Unknown

OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "in": lambda item, group: item in group,
    "not in": lambda item, group: item not in group, "is": operator.is_, "is not": operator.is_not,
}  # fmt: skip
LISTS_IN_PLACE: Mapping[str, Callable[[Any, Any], Any]] = {"+": operator.iadd, "*": operator.imul}
CONVERSIONS: Mapping[TextConversion, Callable[[Any], Any]] = {
    "": lambda value: value,
    "s": str,
    "r": repr,
    "a": ascii,
}
UNARY: Mapping[str, Callable[[Any], Any]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
}


def _python(compute: Callable[..., Any], *values: Any, **named: Any) -> Any:
    try:
        return compute(*values, **named)
    except (TypeError, ValueError, IndexError, ArithmeticError, AttributeError) as error:
        raise Unknown from error


class Straight(ValueDomain[Any]):
    """Objects, for code without branches; `names` are the globals."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def constant(self, value: PlainValue) -> Any:
        return value

    def plain(self, value: Any) -> object:
        return value

    def size(self, value: Any) -> int:
        return 1 + (len(value) if isinstance(value, (list, tuple, str)) else 0)

    def sequence(self, kind: Literal["list", "tuple"], parts: Sequence[Any]) -> Any:
        return tuple(parts) if kind == "tuple" else list(parts)

    def extended(self, parts: Any, more: Any) -> Any:
        return _python(lambda: [*parts, *more])

    def unpacked(self, value: Any, count: int) -> Sequence[Any]:
        parts = _python(list, value)
        if len(parts) != count:
            raise Unknown
        return list(parts)

    def slice_of(self, ends: Sequence[Any]) -> Any:
        return slice(*ends)

    def subscript(self, of: Any, key: Any) -> Any:
        return _python(operator.getitem, of, key)

    def unary(self, symbol: Literal["+", "-", "~"], value: Any) -> Any:
        return _python(UNARY[symbol], value)

    def binary(self, symbol: str, left: Any, right: Any) -> Any:
        if symbol == "classic /":
            symbol = "//" if isinstance(left, int) and isinstance(right, int) else "/"
        return _python(OPERATORS[symbol], left, right)

    def compare(self, symbol: str, left: Any, right: Any) -> Any:
        return _python(OPERATORS[symbol], left, right)

    def global_value(self, name: str) -> Any:
        if name not in self._names:
            raise Unknown
        return self._names[name]

    def module(self, path: str) -> Any:
        return self.global_value(path)

    def attribute(self, of: Any, name: str) -> Any:
        return _python(getattr, of, name)

    def format_text(self, value: Any, conversion: TextConversion, spec: Any | None) -> Any:
        if not isinstance(value, (int, float, str, type(None))):
            raise Unknown("a text that is not the same in every run")
        return _python(format, CONVERSIONS[conversion](value), *([] if spec is None else [spec]))

    def join_texts(self, texts: Sequence[Any]) -> Any:
        return _python("".join, texts)

    def call(self, function: Any, positional: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        return _python(function, *positional, **keywords)


class Branching(Straight):
    """The same, branches followed."""

    branches: ClassVar[bool] = True

    def entered(self, value: Any) -> Any:
        if not hasattr(value, "__enter__"):
            raise Unknown
        return value.__enter__()

    def truth(self, value: Any) -> bool:
        return bool(_python(bool, value))

    def is_unknown(self, value: Any) -> bool:  # noqa: ARG002 - all of it is known
        return False

    def is_builtin(self, value: Any, name: str) -> bool:
        return value is getattr(builtins, name)

    def function(self, call: Callable[[Sequence[Any], Mapping[str, Any]], Any]) -> Any:
        return lambda *positional, **keywords: call(positional, keywords)

    def mapping(self, entries: Sequence[tuple[Any, Any]], onto: Any = None) -> Any:
        return {**(onto or {}), **_python(dict, entries)}

    def in_place(self, symbol: str, left: Any, right: Any) -> Any:
        if isinstance(left, list) and symbol in LISTS_IN_PLACE:
            return _python(LISTS_IN_PLACE[symbol], left, right)
        return self.binary(symbol, left, right)

    def iterator(self, value: Any) -> Iterator[Any]:
        return iter(_python(iter, value))

    def generator(self, values: Iterator[Any]) -> Any:
        return values
