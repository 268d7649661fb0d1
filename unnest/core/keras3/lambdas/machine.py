"""An abstract machine for CPython's byte code: runs straight through a function and computes expressions.

No jump, loop, handler, generator, inner function or effect is understood: such code stops the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from unnest.core.code_objects import CodeObject, Constant
from unnest.core.keras3.lambdas import calls, operators
from unnest.core.keras3.lambdas.values import (
    Arguments,
    Const,
    Dialect,
    Items,
    NotUnderstood,
    Null,
    Value,
    constant,
    items,
)
from unnest.core.opcodes import Impossible, Instruction, Python, comparison, entry, instructions, opening
from unnest.core.value_stack import ValueStack

MAX_INSTRUCTIONS = 5_000
"""Of one function; real lambdas stay below a hundred."""

MAX_WORK = 100_000
"""Values that one run takes from the stack, with all that lists hold, and a share of their text."""

PYTHON_2_NAMES = {"True": True, "False": False}
"""What became constants with Python 3."""

TO_BOOL = 0x10
"""Bit of 3.13's COMPARE_OP: the result becomes a truth value for a jump."""


class Machine(ValueStack[Value]):
    """One run of one function's code as one Python means it."""

    def __init__(
        self, python: Python, code: CodeObject, dialect: Dialect, local: Mapping[str, Value], free: Sequence[Value]
    ) -> None:
        super().__init__()
        self._python = python
        self._code = code
        self._dialect = dialect
        self._local = dict(local)
        self._free = free
        self._keywords: tuple[str, ...] = ()
        self._constants: dict[int, Value] = {}
        self._work = 0

    @property
    def text(self) -> str:
        """The expression as far as it got."""
        return next((value.text for value in reversed(self._stack) if value.text), "")

    def run(self) -> Value:
        """What the function returns.

        Raises:
            NotUnderstood: With the reason.
            Impossible: This Python's compiler did not write this code.

        """
        if self._code.handlers:
            raise NotUnderstood("a handler of exceptions")
        before = (Instruction("", 0), Instruction("", 0))
        for count, instruction in enumerate(self._instructions()):
            if instruction is None or count > MAX_INSTRUCTIONS:
                raise NotUnderstood("a jump, a loop, or another instruction beyond plain expressions")
            if instruction.name in {"RETURN_VALUE", "RETURN_CONST"}:
                is_constant = instruction.name == "RETURN_CONST"
                value = self._constant(instruction.argument) if is_constant else self._pop()
                if self._stack:
                    raise Impossible
                return value
            self._step(instruction, before)
            before = before[1], instruction
        raise Impossible

    def _instructions(self) -> Iterator[Instruction | None]:
        stream = instructions(self._python, self._code.code)
        if self._code.layout != "3.11":
            return stream
        return _after_resume(stream, len(self._code.free))

    def _step(self, instruction: Instruction, before: tuple[Instruction, Instruction]) -> None:
        if instruction.symbol:
            right, left = self._pop(), self._pop()
            self._push(operators.binary(instruction.symbol, left, right))
        elif instruction.name == "LIST_EXTEND":
            self._list_extend(instruction.argument, before)
        else:
            self._STEPS[instruction.name](self, instruction.argument)
        if self._keywords and instruction.name not in {"KW_NAMES", "PRECALL"}:
            raise Impossible
        if before[1].name == "PRECALL" and instruction != Instruction("CALL", before[1].argument):
            raise Impossible

    # The stack

    def _push(self, *values: Value) -> None:
        super()._push(*values)
        if len(self._stack) > self._code.stack:
            raise Impossible

    def _pop_many(self, count: int) -> list[Value]:
        values = super()._pop_many(count)
        self._work += sum(value.size if isinstance(value, Items) else 1 + len(value.text) // 50 for value in values)
        if self._work > MAX_WORK:
            raise NotUnderstood("more work than anyone's function")
        return values

    # Names and constants

    def _load_const(self, index: int) -> None:
        self._push(self._constant(index))

    def _constant(self, index: int) -> Value:
        if index not in self._constants:
            self._constants[index] = _value(entry(self._code.constants, index), self._code.layout == "2")
        return self._constants[index]

    def _load_fast(self, index: int) -> None:
        names = self._code.slots if self._code.layout == "3.11" else self._code.locals
        name = entry(names, index)
        if name not in self._local:
            raise Impossible if name not in self._code.cells else NotUnderstood("a cell")
        self._push(self._local[name])

    def _store_fast(self, index: int) -> None:
        names = self._code.slots if self._code.layout == "3.11" else self._code.locals
        name = entry(names, index)
        if name not in self._code.locals or name in self._code.cells:
            raise NotUnderstood("a cell")
        self._local[name] = self._pop()

    def _load_deref(self, index: int) -> None:
        name = entry(self._code.slots, index)
        if name not in self._code.free:
            raise NotUnderstood("a variable that inner functions share")
        place = self._code.free.index(name)
        if place >= len(self._free):
            raise NotUnderstood(f"`{name}`, whose value is not stored")
        self._push(self._free[place])

    def _load_global(self, argument: int) -> None:
        self._null_and(argument, self._named)

    def _named(self, index: int) -> Value:
        text = entry(self._code.names, index)
        if self._code.layout == "2" and text in PYTHON_2_NAMES:
            return constant(PYTHON_2_NAMES[text])
        return calls.named(text, self._dialect)

    def _null_and(self, argument: int, value: Callable[[int], Value]) -> None:
        """Since 3.11 the lowest bit asks for a Null: before the value, since 3.13 after it."""
        if self._code.layout != "3.11":
            self._push(value(argument))
            return
        pair = [Null(), value(argument >> 1)] if argument & 1 else [value(argument >> 1)]
        self._push(*(reversed(pair) if self._python.version == "3.13" else pair))

    def _load_attr(self, argument: int) -> None:
        of = self._pop()

        def attribute(index: int) -> Value:
            return calls.attribute(of, entry(self._code.names, index))

        if self._python.version == "3.11":
            self._push(attribute(argument))
        else:
            self._null_and(argument, attribute)

    def _load_method(self, index: int) -> None:
        of = self._pop()
        self._push(Null(), calls.attribute(of, entry(self._code.names, index)))

    # Building and taking apart

    def _list_extend(self, depth: int, before: tuple[Instruction, Instruction]) -> None:
        """A list of constants since 3.9: only right after the list is made, when nothing else holds it."""
        if depth != 1 or (before[0].name, before[1].name) != ("BUILD_LIST", "LOAD_CONST"):
            raise NotUnderstood("a list that grows")
        more, start = self._pop(), self._pop()
        if not isinstance(more, Items) or not isinstance(start, Items):
            raise NotUnderstood("a list that grows")
        self._push(items("list", start.items + more.items))

    def _unpack(self, count: int) -> None:
        self._push(*reversed(operators.unpack(self._pop(), count)))

    def _build_slice(self, count: int) -> None:
        if count not in {2, 3}:
            raise Impossible
        self._push(operators.slice_of(self._pop_many(count)))

    def _binary_slice(self, _: int) -> None:
        of, start, stop = self._pop_many(3)
        self._push(operators.subscript(of, operators.slice_of([start, stop])))

    def _slice_of_python_2(self, which: int) -> None:
        stop = self._pop() if which & 2 else constant(None)
        start = self._pop() if which & 1 else constant(None)
        self._push(operators.subscript(self._pop(), operators.slice_of([start, stop])))

    def _subscript(self, _: int) -> None:
        of, key = self._pop_many(2)
        self._push(operators.subscript(of, key))

    def _compare(self, argument: int) -> None:
        if self._python.version == "3.13" and argument & TO_BOOL:
            raise NotUnderstood("a truth value")
        symbol = comparison(self._python, argument)
        if symbol is None:
            raise NotUnderstood("a membership or identity test")
        left, right = self._pop_many(2)
        self._push(operators.compare(symbol, left, right))

    # Calls

    def _call_function(self, argument: int) -> None:
        """Positional arguments; in Python 2 pairs of name and value after them, counted in the high byte."""
        pairs = argument >> 8 if self._python.wide else 0
        flat = self._pop_many(2 * pairs)
        names = [value.value for value in flat[::2] if isinstance(value, Const) and isinstance(value.value, str)]
        if len(set(names)) != pairs:
            raise Impossible
        positional = self._pop_many(argument & 0xFF if self._python.wide else argument)
        self._push(self._called(self._pop(), positional, dict(zip(names, flat[1::2], strict=True))))

    def _call_function_kw(self, count: int) -> None:
        names = _texts(self._pop())
        values = self._pop_many(count)
        self._push(self._called(self._pop(), *_split(values, names)))

    def _call_method(self, count: int) -> None:
        positional = self._pop_many(count)
        method = self._pop()
        self._expect_null(self._pop())
        self._push(self._called(method, positional, {}))

    def _kw_names(self, index: int) -> None:
        self._keywords = _texts(self._constant(index))

    def _call(self, count: int) -> None:
        values = self._pop_many(count)
        function, null = self._pop(), self._pop()
        if self._python.version == "3.13":
            function, null = null, function
        self._expect_null(null)
        names, self._keywords = self._keywords, ()
        self._push(self._called(function, *_split(values, names)))

    def _call_kw(self, count: int) -> None:
        names = _texts(self._pop())
        values = self._pop_many(count)
        null, function = self._pop(), self._pop()
        self._expect_null(null)
        self._push(self._called(function, *_split(values, names)))

    @staticmethod
    def _expect_null(value: Value) -> None:
        if not isinstance(value, Null):
            raise NotUnderstood("a call in an unusual form")

    def _called(self, function: Value, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        if any(isinstance(value, Null) for value in (function, *positional, *keywords.values())):
            raise Impossible
        return calls.call(function, Arguments(tuple(positional), keywords), self._dialect)

    # Instructions that come in pairs since 3.13

    def _load_two(self, pair: int) -> None:
        self._load_fast(pair >> 4)
        self._load_fast(pair & 15)

    def _store_and_load(self, pair: int) -> None:
        self._store_fast(pair >> 4)
        self._load_fast(pair & 15)

    def _store_two(self, pair: int) -> None:
        self._store_fast(pair >> 4)
        self._store_fast(pair & 15)

    _STEPS: ClassVar[Mapping[str, Callable[[Machine, int], object]]] = {
        "NOP": lambda _self, _: None,
        "PRECALL": lambda _self, _: None,
        "POP_TOP": lambda self, _: self._pop(),
        "ROT_TWO": lambda self, _: self._rotate(2),
        "ROT_THREE": lambda self, _: self._rotate(3),
        "ROT_FOUR": lambda self, _: self._rotate(4),
        "DUP_TOP": lambda self, _: self._copy(1),
        "COPY": lambda self, depth: self._copy(depth),
        "SWAP": lambda self, depth: self._swap(depth),
        "PUSH_NULL": lambda self, _: self._push(Null()),
        "LOAD_CONST": _load_const,
        "LOAD_FAST": _load_fast,
        "STORE_FAST": _store_fast,
        "LOAD_DEREF": _load_deref,
        "LOAD_GLOBAL": _load_global,
        "LOAD_ATTR": _load_attr,
        "LOAD_METHOD": _load_method,
        "LOAD_FAST_LOAD_FAST": _load_two,
        "STORE_FAST_LOAD_FAST": _store_and_load,
        "STORE_FAST_STORE_FAST": _store_two,
        "BUILD_TUPLE": lambda self, count: self._push(items("tuple", self._pop_many(count))),
        "BUILD_LIST": lambda self, count: self._push(items("list", self._pop_many(count))),
        "UNPACK_SEQUENCE": _unpack,
        "BUILD_SLICE": _build_slice,
        "BINARY_SLICE": _binary_slice,
        "BINARY_SUBSCR": _subscript,
        "SLICE+0": lambda self, _: self._slice_of_python_2(0),
        "SLICE+1": lambda self, _: self._slice_of_python_2(1),
        "SLICE+2": lambda self, _: self._slice_of_python_2(2),
        "SLICE+3": lambda self, _: self._slice_of_python_2(3),
        "UNARY_POSITIVE": lambda self, _: self._push(operators.unary("+", self._pop())),
        "UNARY_NEGATIVE": lambda self, _: self._push(operators.unary("-", self._pop())),
        "UNARY_INVERT": lambda self, _: self._push(operators.unary("~", self._pop())),
        "COMPARE_OP": _compare,
        "CALL_FUNCTION": _call_function,
        "CALL_FUNCTION_KW": _call_function_kw,
        "CALL_METHOD": _call_method,
        "KW_NAMES": _kw_names,
        "CALL": _call,
        "CALL_KW": _call_kw,
    }


def _after_resume(stream: Iterator[Instruction | None], free: int) -> Iterator[Instruction | None]:
    """What follows the opening of a function since 3.11: the captured variables, then RESUME 0, once."""
    for expected in opening(free):
        instruction = next(stream, None)
        if instruction is None:
            yield None
            return
        if instruction != expected:
            raise Impossible
    for instruction in stream:
        if instruction is not None and instruction.name in {"RESUME", "COPY_FREE_VARS"}:
            raise Impossible
        yield instruction


def _texts(value: Value) -> tuple[str, ...]:
    """The names of keyword arguments."""
    if not isinstance(value, Items) or value.kind != "tuple":
        raise Impossible
    names = tuple(item.value for item in value.items if isinstance(item, Const) and isinstance(item.value, str))
    if len(set(names)) != len(value.items):
        raise Impossible
    return names


def _split(values: list[Value], names: Sequence[str]) -> tuple[list[Value], dict[str, Value]]:
    if len(names) > len(values):
        raise Impossible
    first = len(values) - len(names)
    return values[:first], dict(zip(names, values[first:], strict=True))


def _value(stored: Constant, python_2: bool) -> Value:
    if isinstance(stored, tuple):
        return items("tuple", [_value(part, python_2) for part in stored])
    if isinstance(stored, bytes) and python_2 and stored.isascii():
        return constant(stored.decode("ascii"))
    if stored is None or stored is ... or isinstance(stored, (bool, int, float, str)):
        return constant(stored)
    raise NotUnderstood("an inner function" if isinstance(stored, CodeObject) else "a constant of another kind")
