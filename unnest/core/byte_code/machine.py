"""An abstract machine for CPython's byte code, from 2.7 to 3.13: computes with whatever values it is given.

It goes through a function once. Loops, handlers of exceptions, generators, inner functions and effects are not
understood: such code stops it. So does code that no compiler of the Python in question writes: then the bytes are of
another Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal

from unnest.core.byte_code.code_objects import CodeObject, Constant
from unnest.core.byte_code.interpretation import BEYOND_EXPRESSIONS, Interpretation, NotFollowed, Value
from unnest.core.byte_code.opcodes import (
    BRANCHES,
    Impossible,
    Instruction,
    Python,
    at_offset,
    comparison,
    entry,
    opening,
)
from unnest.core.byte_code.stack import Null, OperandStack

MAX_INSTRUCTIONS = 5_000
"""Of one function; real lambdas stay below a hundred."""

PYTHON_2_NAMES = {"True": True, "False": False}
"""What became constants with Python 3."""

PACKAGES = frozenset({"tensorflow", "keras", "numpy", "math"})
"""What code may import."""

TO_BOOL = 0x10
"""Bit of 3.13's COMPARE_OP: the result becomes a truth value for a jump."""

COUNTS_BYTES = frozenset({"2.7", "3.5", "3.6", "3.7", "3.8", "3.9"})
"""Pythons whose jumps count bytes; later ones count words of two."""


class Machine(Generic[Value]):
    """One run of one function's code as one Python means it; `free` are the values that it captured, in order."""

    def __init__(
        self,
        python: Python,
        code: CodeObject,
        interpretation: Interpretation[Value],
        local: Mapping[str, Value],
        free: Sequence[Value],
    ) -> None:
        self._python = python
        self._code = code
        self._meaning = interpretation
        self._local = dict(local)
        self._free = free
        self._since_311 = code.layout == "3.11"
        self._stack = OperandStack(code.stack, interpretation.size)
        self._keywords: tuple[str, ...] = ()
        self._constants: dict[int, Value] = {}
        self._next = 0

    @property
    def values(self) -> list[Value]:
        """What it is working on, the last on top."""
        return self._stack.values

    def run(self) -> Value:
        """What the function returns.

        Raises:
            NotFollowed: With the reason.
            Impossible: This Python's compiler did not write this code.

        """
        if self._code.handlers:
            raise NotFollowed("a handler of exceptions")
        for expected in opening(len(self._code.free)) if self._since_311 else ():
            if self._instruction() != expected:
                raise Impossible
        before = Instruction("")
        for _ in range(MAX_INSTRUCTIONS + 1):
            instruction = self._instruction()
            if instruction.name in {"RETURN_VALUE", "RETURN_CONST"}:
                is_constant = instruction.name == "RETURN_CONST"
                value = self._constant(instruction.argument) if is_constant else self._stack.pop()
                if self._stack:
                    raise Impossible
                return value
            self._step(instruction, before)
            before = instruction
        raise NotFollowed(BEYOND_EXPRESSIONS)

    def _instruction(self) -> Instruction:
        instruction, self._next = at_offset(self._python, self._code.code, self._next)
        if instruction is None or (instruction.name in BRANCHES and not self._meaning.branches):
            raise NotFollowed(BEYOND_EXPRESSIONS)
        return instruction

    def _step(self, instruction: Instruction, before: Instruction) -> None:
        if instruction.symbol:
            left, right = self._stack.pop_many(2)
            self._stack.push(self._meaning.binary(instruction.symbol, left, right))
        elif instruction.name in self._STEPS:
            self._STEPS[instruction.name](self, instruction.argument)
        else:
            raise Impossible  # an opening once more
        if self._keywords and instruction.name not in {"KW_NAMES", "PRECALL"}:
            raise Impossible
        if before.name == "PRECALL" and instruction != Instruction("CALL", before.argument):
            raise Impossible

    # Names and constants

    def _constant(self, index: int) -> Value:
        if index not in self._constants:
            self._constants[index] = self._value(entry(self._code.constants, index))
        return self._constants[index]

    def _value(self, stored: Constant) -> Value:
        if isinstance(stored, tuple):
            return self._meaning.sequence("tuple", [self._value(part) for part in stored])
        if isinstance(stored, bytes) and self._code.layout == "2" and stored.isascii():
            return self._meaning.constant(stored.decode("ascii"))
        if stored is None or stored is ... or isinstance(stored, (bool, int, float, str)):
            return self._meaning.constant(stored)
        raise NotFollowed("an inner function" if isinstance(stored, CodeObject) else "a constant of another kind")

    def _name_of_local(self, index: int) -> str:
        return entry(self._code.slots if self._since_311 else self._code.locals, index)

    def _load_fast(self, index: int) -> None:
        name = self._name_of_local(index)
        if name not in self._local:
            if name in self._code.cells:
                raise NotFollowed("a cell")
            raise Impossible  # a reading by which the function would not have run
        self._stack.push(self._local[name])

    def _store_fast(self, index: int) -> None:
        name = self._name_of_local(index)
        if name not in self._code.locals or name in self._code.cells:
            raise NotFollowed("a cell")
        self._local[name] = self._stack.pop()

    def _load_deref(self, index: int) -> None:
        name = entry(self._code.slots, index)
        if name not in self._code.free:
            raise NotFollowed("a variable that inner functions share")
        place = self._code.free.index(name)
        if place >= len(self._free):
            raise NotFollowed(f"`{name}`, whose value is not stored")
        self._stack.push(self._free[place])

    def _load_global(self, argument: int) -> None:
        self._with_null(argument, self._named)

    def _named(self, index: int) -> Value:
        name = entry(self._code.names, index)
        if self._code.layout == "2" and name in PYTHON_2_NAMES:
            return self._meaning.constant(PYTHON_2_NAMES[name])
        return self._meaning.named(name)

    def _with_null(self, argument: int, value: Callable[[int], Value]) -> None:
        """Since 3.11 the lowest bit asks for a null: before the value, since 3.13 after it."""
        if not self._since_311:
            self._stack.push(value(argument))
            return
        pair = [Null.NULL, value(argument >> 1)] if argument & 1 else [value(argument >> 1)]
        self._stack.push(*(reversed(pair) if self._python.version == "3.13" else pair))

    def _attribute(self, of: Value, index: int) -> Value:
        return self._meaning.attribute(of, entry(self._code.names, index))

    def _load_attr(self, argument: int) -> None:
        of = self._stack.pop()
        if self._python.version == "3.11":
            self._stack.push(self._attribute(of, argument))
        else:
            self._with_null(argument, lambda index: self._attribute(of, index))

    def _load_method(self, index: int) -> None:
        of = self._stack.pop()
        self._stack.push(Null.NULL, self._attribute(of, index))

    def _import_name(self, index: int) -> None:
        level, names = (self._meaning.plain(value) for value in self._stack.pop_many(2))
        path = entry(self._code.names, index)
        package = path.partition(".")[0]
        if level not in (0, -1) or package not in PACKAGES:
            raise NotFollowed("an import of a module that is not known")
        self._stack.push(self._meaning.module(package if names is None else path))

    def _import_from(self, index: int) -> None:
        module = self._stack.pop()
        self._stack.push(module, self._attribute(module, index))

    # Building and taking apart

    def _build(self, kind: Literal["list", "tuple"], count: int) -> None:
        built = self._meaning.sequence(kind, self._stack.pop_many(count))
        if kind == "list":
            self._stack.push_new_list(built)
        else:
            self._stack.push(built)

    def _list_extend(self, depth: int) -> None:
        """A list with unpacked parts, or of constants since 3.9: only where nothing else holds it yet."""
        if depth != 1:
            raise NotFollowed("a list that grows")
        self._stack.extend_new_list(self._meaning.extended)

    def _unpack(self, count: int) -> None:
        self._stack.push(*reversed(self._meaning.unpacked(self._stack.pop(), count)))

    def _build_slice(self, count: int) -> None:
        if count not in {2, 3}:
            raise Impossible
        self._stack.push(self._meaning.slice_of(self._stack.pop_many(count)))

    def _subscript(self) -> None:
        self._stack.push(self._meaning.subscript(*self._stack.pop_many(2)))

    def _binary_slice(self) -> None:
        of, start, stop = self._stack.pop_many(3)
        self._stack.push(self._meaning.subscript(of, self._meaning.slice_of([start, stop])))

    def _slice_of_python_2(self, which: int) -> None:
        """`of[start:stop]`; bit 1 of `which` tells that there is a start, bit 2 a stop."""
        stop = self._stack.pop() if which & 2 else self._meaning.constant(None)
        start = self._stack.pop() if which & 1 else self._meaning.constant(None)
        self._stack.push(self._meaning.subscript(self._stack.pop(), self._meaning.slice_of([start, stop])))

    def _unary(self, symbol: Literal["+", "-", "~"]) -> None:
        self._stack.push(self._meaning.unary(symbol, self._stack.pop()))

    def _compare(self, argument: int) -> None:
        if self._python.version == "3.13" and argument & TO_BOOL and not self._meaning.branches:
            raise NotFollowed("a truth value")
        symbol = comparison(self._python, argument)
        if symbol is None:
            raise NotFollowed("a membership or identity test")
        self._stack.push(self._meaning.compare(symbol, *self._stack.pop_many(2)))

    # Branches

    def _not(self) -> None:
        self._stack.push(self._meaning.constant(not self._meaning.truth(self._stack.pop())))

    def _jump_forward(self, argument: int) -> None:
        self._go_to(self._next + argument * self._unit)

    def _jump_absolute(self, argument: int) -> None:
        self._go_to(argument * self._unit)

    def _jump_if(self, argument: int, *, wanted: bool) -> None:
        if self._meaning.truth(self._stack.pop()) is wanted:
            if self._since_311:
                self._jump_forward(argument)
            else:
                self._jump_absolute(argument)

    @property
    def _unit(self) -> int:
        return 1 if self._python.version in COUNTS_BYTES else 2

    def _go_to(self, offset: int) -> None:
        """Forward alone: what jumps back is a loop, or the code of a Python that counts its jumps otherwise."""
        if not self._next <= offset < len(self._code.code) or (offset % 2 and not self._python.wide):
            raise Impossible
        self._next = offset

    # Calls

    def _call_function(self, argument: int) -> None:
        """Positional arguments; before 3.6 pairs of name and value after them, counted in the high byte."""
        count, named = (argument & 0xFF, argument >> 8) if self._python.wide else (argument, 0)
        pairs = self._stack.pop_many(2 * named)
        names = _texts(tuple(map(self._meaning.plain, pairs[::2])))
        positional = self._stack.pop_many(count)
        self._stack.push(self._meaning.call(self._stack.pop(), positional, dict(zip(names, pairs[1::2], strict=True))))

    def _call_function_kw(self, count: int) -> None:
        names = self._names_on_top()
        self._call_with(self._stack.pop_many(count), names, self._stack.pop)

    def _call_method(self, count: int) -> None:
        self._call_with(self._stack.pop_many(count), (), self._function_and_null)

    def _kw_names(self, index: int) -> None:
        self._keywords = _texts(entry(self._code.constants, index))

    def _call(self, count: int) -> None:
        values, names, self._keywords = self._stack.pop_many(count), self._keywords, ()
        self._call_with(values, names, self._function_and_null)

    def _call_kw(self, count: int) -> None:
        names = self._names_on_top()
        self._call_with(self._stack.pop_many(count), names, self._function_and_null)

    def _names_on_top(self) -> tuple[str, ...]:
        return _texts(self._meaning.plain(self._stack.pop()))

    def _function_and_null(self) -> Value:
        """The function of a call, beside the null that stands for its object."""
        null, function = self._stack.take(2)
        if self._python.version == "3.13":
            null, function = function, null
        if not isinstance(null, Null):
            raise NotFollowed("a call in an unusual form")
        if isinstance(function, Null):
            raise Impossible
        return function

    def _call_with(self, values: list[Value], names: Sequence[str], function: Callable[[], Value]) -> None:
        """Calls with values of which the last have names."""
        first = len(values) - len(names)
        if first < 0:
            raise Impossible
        keywords = dict(zip(names, values[first:], strict=True))
        self._stack.push(self._meaning.call(function(), values[:first], keywords))

    # Instructions that come in pairs since 3.13

    def _pair(self, first: Callable[[int], None], second: Callable[[int], None], pair: int) -> None:
        first(pair >> 4)
        second(pair & 15)

    _STEPS: ClassVar[Mapping[str, Callable[[Machine[Any], int], object]]] = {
        "NOP": lambda _self, _: None,
        "PRECALL": lambda _self, _: None,
        "TO_BOOL": lambda _self, _: None,
        "POP_TOP": lambda self, _: self._stack.pop(),
        "ROT_TWO": lambda self, _: self._stack.rotate(2),
        "ROT_THREE": lambda self, _: self._stack.rotate(3),
        "ROT_FOUR": lambda self, _: self._stack.rotate(4),
        "DUP_TOP": lambda self, _: self._stack.copy(1),
        "COPY": lambda self, depth: self._stack.copy(depth),
        "SWAP": lambda self, depth: self._stack.swap(depth),
        "PUSH_NULL": lambda self, _: self._stack.push(Null.NULL),
        "LOAD_CONST": lambda self, index: self._stack.push(self._constant(index)),
        "LOAD_FAST": _load_fast,
        "STORE_FAST": _store_fast,
        "LOAD_FAST_LOAD_FAST": lambda self, pair: self._pair(self._load_fast, self._load_fast, pair),
        "STORE_FAST_LOAD_FAST": lambda self, pair: self._pair(self._store_fast, self._load_fast, pair),
        "STORE_FAST_STORE_FAST": lambda self, pair: self._pair(self._store_fast, self._store_fast, pair),
        "LOAD_DEREF": _load_deref,
        "LOAD_GLOBAL": _load_global,
        "LOAD_ATTR": _load_attr,
        "LOAD_METHOD": _load_method,
        "IMPORT_NAME": _import_name,
        "IMPORT_FROM": _import_from,
        "BUILD_TUPLE": lambda self, count: self._build("tuple", count),
        "BUILD_LIST": lambda self, count: self._build("list", count),
        "LIST_EXTEND": _list_extend,
        "UNPACK_SEQUENCE": _unpack,
        "BUILD_SLICE": _build_slice,
        "BINARY_SLICE": lambda self, _: self._binary_slice(),
        "BINARY_SUBSCR": lambda self, _: self._subscript(),
        "SLICE+0": lambda self, _: self._slice_of_python_2(0),
        "SLICE+1": lambda self, _: self._slice_of_python_2(1),
        "SLICE+2": lambda self, _: self._slice_of_python_2(2),
        "SLICE+3": lambda self, _: self._slice_of_python_2(3),
        "UNARY_POSITIVE": lambda self, _: self._unary("+"),
        "UNARY_NEGATIVE": lambda self, _: self._unary("-"),
        "UNARY_INVERT": lambda self, _: self._unary("~"),
        "UNARY_NOT": lambda self, _: self._not(),
        "COMPARE_OP": _compare,
        "JUMP_FORWARD": _jump_forward,
        "JUMP_ABSOLUTE": _jump_absolute,
        "POP_JUMP_IF_FALSE": lambda self, argument: self._jump_if(argument, wanted=False),
        "POP_JUMP_IF_TRUE": lambda self, argument: self._jump_if(argument, wanted=True),
        "CALL_FUNCTION": _call_function,
        "CALL_FUNCTION_KW": _call_function_kw,
        "CALL_METHOD": _call_method,
        "KW_NAMES": _kw_names,
        "CALL": _call,
        "CALL_KW": _call_kw,
    }


def _texts(names: object) -> tuple[str, ...]:
    """The names of keyword arguments: texts in a tuple, each once."""
    if type(names) is not tuple:
        raise Impossible
    texts = tuple(name for name in names if isinstance(name, str))
    if len(set(texts)) != len(names):
        raise Impossible
    return texts
