"""An abstract machine for CPython's byte code: runs straight through a function and computes expressions.

No jump, loop, handler, generator, inner function or effect is understood: such code stops the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from unnest.core.code_objects import CodeObject, Constant
from unnest.core.keras3.lambdas import functions, operators
from unnest.core.keras3.lambdas.opcodes import COMPARISONS, Impossible, Instruction, Python, instructions
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

MAX_INSTRUCTIONS = 5_000
"""Of one function; real lambdas stay below a hundred."""

TO_BOOL = 0x10
"""Bit of 3.13's COMPARE_OP: the result becomes a truth value for a jump."""


class Machine:
    """One run of one function's code as one Python means it."""

    def __init__(
        self, python: Python, code: CodeObject, dialect: Dialect, local: Mapping[str, Value], free: Sequence[Value]
    ) -> None:
        self._python = python
        self._code = code
        self._dialect = dialect
        self._local = dict(local)
        self._free = free
        self._stack: list[Value] = []
        self._keywords: tuple[str, ...] = ()
        self._constants: dict[int, Value] = {}

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
        before = (Instruction("", 0), Instruction("", 0))
        for count, instruction in enumerate(self._instructions()):
            if instruction is None or count > MAX_INSTRUCTIONS:
                raise NotUnderstood("a jump, a loop, or another instruction beyond plain expressions")
            if instruction.name in {"RETURN_VALUE", "RETURN_CONST"}:
                if instruction.name == "RETURN_CONST":
                    self.load_const(instruction.argument)
                value = self.pop()
                if self._stack:
                    raise Impossible
                return value
            self.step(instruction, before)
            before = before[1], instruction
        raise Impossible

    def _instructions(self) -> Iterator[Instruction | None]:
        stream = instructions(self._python, self._code.code)
        if self._code.layout != "3.11":
            return stream
        return _after_resume(stream, len(self._code.free))

    def step(self, instruction: Instruction, before: tuple[Instruction, Instruction]) -> None:
        if instruction.symbol:
            right, left = self.pop(), self.pop()
            self.push(operators.binary(instruction.symbol, left, right))
        elif instruction.name == "LIST_EXTEND":
            self.list_extend(instruction.argument, before)
        else:
            STEPS[instruction.name](self, instruction.argument)
        if self._keywords and instruction.name not in {"KW_NAMES", "PRECALL"}:
            raise Impossible

    # The stack

    def push(self, *values: Value) -> None:
        self._stack += values

    def pop(self) -> Value:
        if not self._stack:
            raise Impossible
        return self._stack.pop()

    def pop_many(self, count: int) -> list[Value]:
        """The last `count`, in the order they were pushed."""
        if count > len(self._stack):
            raise Impossible
        start = len(self._stack) - count
        values = self._stack[start:]
        del self._stack[start:]
        return values

    def rotate(self, count: int) -> None:
        values = self.pop_many(count)
        self.push(values[-1], *values[:-1])

    def copy(self, depth: int) -> None:
        if not 1 <= depth <= len(self._stack):
            raise Impossible
        self.push(self._stack[-depth])

    def swap(self, depth: int) -> None:
        if not 2 <= depth <= len(self._stack):
            raise Impossible
        self._stack[-1], self._stack[-depth] = self._stack[-depth], self._stack[-1]

    # Names and constants

    def load_const(self, index: int) -> None:
        if index not in self._constants:
            self._constants[index] = _value(_entry(self._code.constants, index), self._code.layout == "2")
        self.push(self._constants[index])

    def load_fast(self, index: int) -> None:
        names = self._code.slots if self._code.layout == "3.11" else self._code.locals
        name = _entry(names, index)
        if name not in self._local:
            raise Impossible if name not in self._code.cells else NotUnderstood("a cell")
        self.push(self._local[name])

    def store_fast(self, index: int) -> None:
        names = self._code.slots if self._code.layout == "3.11" else self._code.locals
        name = _entry(names, index)
        if name not in self._code.locals or name in self._code.cells:
            raise NotUnderstood("a cell")
        self._local[name] = self.pop()

    def load_deref(self, index: int) -> None:
        name = _entry(self._code.slots, index)
        if name not in self._code.free:
            raise NotUnderstood("a variable that inner functions share")
        place = self._code.free.index(name)
        if place >= len(self._free):
            raise NotUnderstood(f"`{name}`, whose value is not stored")
        self.push(self._free[place])

    def load_global(self, argument: int) -> None:
        self.null_and(argument, lambda index: functions.named(_entry(self._code.names, index), self._dialect))

    def null_and(self, argument: int, value: Callable[[int], Value]) -> None:
        """Since 3.11 the lowest bit asks for a Null: before the value, since 3.13 after it."""
        if self._code.layout != "3.11":
            self.push(value(argument))
            return
        pair = [Null(), value(argument >> 1)] if argument & 1 else [value(argument >> 1)]
        self.push(*(reversed(pair) if self._python.version == "3.13" else pair))

    def load_attr(self, argument: int) -> None:
        of = self.pop()

        def attribute(index: int) -> Value:
            return functions.attribute(of, _entry(self._code.names, index), self._dialect)

        if self._python.version == "3.11":
            self.push(attribute(argument))
        else:
            self.null_and(argument, attribute)

    def load_method(self, index: int) -> None:
        of = self.pop()
        self.push(Null(), functions.attribute(of, _entry(self._code.names, index), self._dialect))

    # Building and taking apart

    def list_extend(self, depth: int, before: tuple[Instruction, Instruction]) -> None:
        """A list of constants since 3.9: only right after the list is made, when nothing else holds it."""
        if depth != 1 or (before[0].name, before[1].name) != ("BUILD_LIST", "LOAD_CONST"):
            raise NotUnderstood("a list that grows")
        more, start = self.pop(), self.pop()
        if not isinstance(more, Items) or not isinstance(start, Items):
            raise NotUnderstood("a list that grows")
        self.push(items("list", start.items + more.items))

    def unpack(self, count: int) -> None:
        self.push(*reversed(operators.unpack(self.pop(), count)))

    def build_slice(self, count: int) -> None:
        if count not in {2, 3}:
            raise Impossible
        self.push(operators.slice_of(self.pop_many(count)))

    def binary_slice(self, _: int) -> None:
        of, start, stop = self.pop_many(3)
        self.push(operators.subscript(of, operators.slice_of([start, stop])))

    def slice_of_python_2(self, which: int) -> None:
        stop = self.pop() if which & 2 else constant(None)
        start = self.pop() if which & 1 else constant(None)
        self.push(operators.subscript(self.pop(), operators.slice_of([start, stop])))

    def subscript(self, _: int) -> None:
        of, key = self.pop_many(2)
        self.push(operators.subscript(of, key))

    def compare(self, argument: int) -> None:
        shift = {"3.12": 4, "3.13": 5}.get(self._python.version, 0)
        if self._python.version == "3.13" and argument & TO_BOOL:
            raise NotUnderstood("a truth value")
        if argument >> shift >= len(COMPARISONS):
            raise NotUnderstood("a membership or identity test")
        left, right = self.pop_many(2)
        self.push(operators.compare(COMPARISONS[argument >> shift], left, right))

    # Calls

    def call_function(self, argument: int) -> None:
        """Positional arguments; in Python 2 pairs of name and value after them, counted in the high byte."""
        pairs = argument >> 8 if self._python.wide else 0
        flat = self.pop_many(2 * pairs)
        names = [value.value for value in flat[::2] if isinstance(value, Const) and isinstance(value.value, str)]
        if len(set(names)) != pairs:
            raise Impossible
        positional = self.pop_many(argument & 0xFF if self._python.wide else argument)
        self.push(self.called(self.pop(), positional, dict(zip(names, flat[1::2], strict=True))))

    def call_function_kw(self, count: int) -> None:
        names = _texts(self.pop())
        values = self.pop_many(count)
        self.push(self.called(self.pop(), *_split(values, names)))

    def call_method(self, count: int) -> None:
        positional = self.pop_many(count)
        method = self.pop()
        self.expect_null(self.pop())
        self.push(self.called(method, positional, {}))

    def kw_names(self, index: int) -> None:
        self.load_const(index)
        self._keywords = _texts(self.pop())

    def call(self, count: int) -> None:
        values = self.pop_many(count)
        function, null = self.pop(), self.pop()
        if self._python.version == "3.13":
            function, null = null, function
        self.expect_null(null)
        names, self._keywords = self._keywords, ()
        self.push(self.called(function, *_split(values, names)))

    def call_kw(self, count: int) -> None:
        names = _texts(self.pop())
        values = self.pop_many(count)
        null, function = self.pop(), self.pop()
        self.expect_null(null)
        self.push(self.called(function, *_split(values, names)))

    @staticmethod
    def expect_null(value: Value) -> None:
        if not isinstance(value, Null):
            raise NotUnderstood("a call in an unusual form")

    def called(self, function: Value, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        if any(isinstance(value, Null) for value in (function, *positional, *keywords.values())):
            raise Impossible
        return functions.call(function, Arguments(tuple(positional), keywords), self._dialect)

    # Instructions that come in pairs since 3.13

    def load_two(self, pair: int) -> None:
        self.load_fast(pair >> 4)
        self.load_fast(pair & 15)

    def store_and_load(self, pair: int) -> None:
        self.store_fast(pair >> 4)
        self.load_fast(pair & 15)

    def store_two(self, pair: int) -> None:
        self.store_fast(pair >> 4)
        self.store_fast(pair & 15)


Entry = TypeVar("Entry")
Step = Callable[[Machine, int], object]

STEPS: Mapping[str, Step] = {
    "NOP": lambda machine, _: None,
    "PRECALL": lambda machine, _: None,
    "POP_TOP": lambda machine, _: machine.pop(),
    "ROT_TWO": lambda machine, _: machine.rotate(2),
    "ROT_THREE": lambda machine, _: machine.rotate(3),
    "ROT_FOUR": lambda machine, _: machine.rotate(4),
    "DUP_TOP": lambda machine, _: machine.copy(1),
    "COPY": Machine.copy,
    "SWAP": Machine.swap,
    "PUSH_NULL": lambda machine, _: machine.push(Null()),
    "LOAD_CONST": Machine.load_const,
    "LOAD_FAST": Machine.load_fast,
    "STORE_FAST": Machine.store_fast,
    "LOAD_DEREF": Machine.load_deref,
    "LOAD_GLOBAL": Machine.load_global,
    "LOAD_ATTR": Machine.load_attr,
    "LOAD_METHOD": Machine.load_method,
    "LOAD_FAST_LOAD_FAST": Machine.load_two,
    "STORE_FAST_LOAD_FAST": Machine.store_and_load,
    "STORE_FAST_STORE_FAST": Machine.store_two,
    "BUILD_TUPLE": lambda machine, count: machine.push(items("tuple", machine.pop_many(count))),
    "BUILD_LIST": lambda machine, count: machine.push(items("list", machine.pop_many(count))),
    "UNPACK_SEQUENCE": Machine.unpack,
    "BUILD_SLICE": Machine.build_slice,
    "BINARY_SLICE": Machine.binary_slice,
    "BINARY_SUBSCR": Machine.subscript,
    **{f"SLICE+{which}": lambda machine, _, which=which: machine.slice_of_python_2(which) for which in range(4)},
    "UNARY_POSITIVE": lambda machine, _: machine.push(operators.unary("+", machine.pop())),
    "UNARY_NEGATIVE": lambda machine, _: machine.push(operators.unary("-", machine.pop())),
    "UNARY_INVERT": lambda machine, _: machine.push(operators.unary("~", machine.pop())),
    "COMPARE_OP": Machine.compare,
    "CALL_FUNCTION": Machine.call_function,
    "CALL_FUNCTION_KW": Machine.call_function_kw,
    "CALL_METHOD": Machine.call_method,
    "KW_NAMES": Machine.kw_names,
    "CALL": Machine.call,
    "CALL_KW": Machine.call_kw,
}


def _after_resume(stream: Iterator[Instruction | None], free: int) -> Iterator[Instruction | None]:
    """What follows the opening of a function since 3.11: the captured variables, then RESUME 0, once."""
    opening = [Instruction("COPY_FREE_VARS", free)] if free else []
    for expected in (*opening, Instruction("RESUME")):
        if next(stream, None) != expected:
            raise Impossible
    for instruction in stream:
        if instruction is not None and instruction.name in {"RESUME", "COPY_FREE_VARS"}:
            raise Impossible
        yield instruction


def _entry(values: Sequence[Entry], index: int) -> Entry:
    if index >= len(values):
        raise Impossible
    return values[index]


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
