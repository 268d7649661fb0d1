"""The rows that a Lambda's stored code takes, found by following the code with numbered rows: nothing is run.

CPython's byte code is followed instruction by instruction with values of `row_operations` on the stack: a batch of
known size, and the numbers that the file stores beside the code. Branches are followed where their condition is
known. What is not known for certain ends it without an answer; so does code that different Pythons mean differently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar

from unnest.core import code_objects
from unnest.core.code_objects import CodeObject, Constant
from unnest.core.model import Json
from unnest.core.opcodes import PYTHONS, Impossible, Instruction, Python, at_offset, comparison, entry, opening
from unnest.core.recognise import lambda_code
from unnest.core.recognise import row_operations as operations
from unnest.core.recognise.row_operations import Named, NotFollowed, Value
from unnest.core.value_stack import ValueStack

MAX_STEPS = 2_000
"""Instructions of one run; slices that people write stay below a hundred."""

RANKS = (2, 4, 3, 5)
"""Of the tensor, tried in turn: a file does not always say how many axes a Lambda is given."""

MODULES = {
    "K": "keras.backend",
    "backend": "keras.backend",
    "tf": "tensorflow",
    "array_ops": "tensorflow.array_ops",
    "math_ops": "tensorflow.math_ops",
    "keras": "keras",
    "np": "numpy",
    "math": "math",
}
"""What a name that the code does not store stands for: the customary imports, and those of TensorFlow's own code."""

VARIADIC_OR_GENERATOR = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200


def follow(function: Json, arguments: Mapping[str, Json], given: Callable[[int], Value]) -> Value | None:
    """What a stored function returns for `given(rank)`; None where nobody can tell.

    `function` is `[code, defaults, closure]`, or what Keras 3 makes of it; `arguments` are the layer's.
    """
    text, defaults, closure = lambda_code.parts_of(function)
    if text is None:
        return None
    readings = [(code, python) for code in code_objects.read(text) for python in PYTHONS[code.layout]]
    for rank in RANKS:
        results = []
        with suppress(NotFollowed):
            for code, python in readings:
                local = _arguments(code, defaults, arguments, given(rank))
                cells = operations.stored(closure if closure is not None else [])
                with suppress(Impossible):
                    results.append(_Run(python, code, local, cells if isinstance(cells, list) else []).result())
            if results and all(result == results[0] for result in results):
                return results[0]
    return None


def _arguments(code: CodeObject, defaults: Json, arguments: Mapping[str, Json], given: Value) -> dict[str, Value]:
    """The function's locals as it begins: the tensor first, the layer's arguments by name, what has a default."""
    names = code.locals[: code.arguments + code.keyword_only]
    positional = code.locals[: code.arguments]
    values = operations.stored(defaults) if defaults is not None else []
    if code.flags & VARIADIC_OR_GENERATOR or not positional or not isinstance(values, list):
        raise NotFollowed
    local: dict[str, Value] = dict(zip(positional[len(positional) - len(values) :], values, strict=False))
    local |= {name: operations.stored(value) for name, value in arguments.items() if name in names}
    local[positional[0]] = given
    if set(names) != set(local):
        raise NotFollowed
    return local


class _Null:
    """What CPython pushes where a method's object would stand."""


NULL = _Null()


class _Run(ValueStack[Value]):
    """One run of one function's code as one Python means it."""

    def __init__(self, python: Python, code: CodeObject, local: Mapping[str, Value], cells: Sequence[Value]) -> None:
        super().__init__()
        self._python, self._code, self._cells = python, code, cells
        self._local = dict(local)
        self._keywords: tuple[str, ...] = ()
        self._next = 0

    def result(self) -> Value:
        """What the function returns.

        Raises:
            NotFollowed: Where nobody can tell.
            Impossible: This Python's compiler did not write this code.

        """
        if self._code.handlers:
            raise NotFollowed
        self._open()
        for _ in range(MAX_STEPS):
            instruction, self._next = at_offset(self._python, self._code.code, self._next)
            if instruction is None:
                raise NotFollowed
            if instruction.name == "RETURN_CONST":
                return self._constant(instruction.argument)
            if instruction.name == "RETURN_VALUE":
                value = self._pop()
                if self._stack:
                    raise Impossible
                return value
            self._step(instruction)
        raise NotFollowed

    def _open(self) -> None:
        """What every function begins with since 3.11: its captured variables, and RESUME 0."""
        if self._is_new:
            for expected in opening(len(self._code.free)):
                instruction, self._next = at_offset(self._python, self._code.code, self._next)
                if instruction != expected:
                    raise Impossible

    def _step(self, instruction: Instruction) -> None:
        if instruction.symbol:
            right, left = self._pop(), self._pop()
            self._stack.append(operations.binary(instruction.symbol, left, right))
        elif instruction.name in self._STEPS:
            self._STEPS[instruction.name](self, instruction.argument)
        else:
            raise NotFollowed

    # Names and constants

    @property
    def _is_new(self) -> bool:
        return self._code.layout == "3.11"

    def _load_const(self, index: int) -> None:
        self._push(self._constant(index))

    def _constant(self, index: int) -> Value:
        return _value(entry(self._code.constants, index))

    def _name_of_local(self, index: int) -> str:
        return entry(self._code.slots if self._is_new else self._code.locals, index)

    def _load_fast(self, index: int) -> None:
        name = self._name_of_local(index)
        if name not in self._local:
            raise NotFollowed
        self._push(self._local[name])

    def _store_fast(self, index: int) -> None:
        name = self._name_of_local(index)
        if name in self._code.cells:
            raise NotFollowed
        self._local[name] = self._pop()

    def _load_deref(self, index: int) -> None:
        name = entry(self._code.slots, index)
        place = self._code.free.index(name) if name in self._code.free else len(self._cells)
        if place >= len(self._cells):
            raise NotFollowed
        self._push(self._cells[place])

    def _load_global(self, argument: int) -> None:
        name = entry(self._code.names, argument >> 1 if self._is_new else argument)
        if name in {"True", "False"} and self._code.layout == "2":
            self._push(name == "True")
            return
        if name not in MODULES and name not in operations.BUILTINS:
            raise NotFollowed
        self._null_and(argument, Named(MODULES.get(name, name)))

    def _null_and(self, argument: int, value: Value) -> None:
        """Since 3.11 the lowest bit asks for a null: before the value, since 3.13 after it."""
        pair = [NULL, value] if self._is_new and argument & 1 else [value]
        self._stack += reversed(pair) if self._python.version == "3.13" else pair

    def _load_attr(self, argument: int) -> None:
        of = self._pop()
        has_bit = self._python.version in {"3.12", "3.13"}
        value = operations.attribute(of, entry(self._code.names, argument >> 1 if has_bit else argument))
        if has_bit:
            self._null_and(argument, value)
        else:
            self._push(value)

    def _load_method(self, index: int) -> None:
        of = self._pop()
        self._stack += [NULL, operations.attribute(of, entry(self._code.names, index))]

    def _import(self, index: int) -> None:
        wanted, level = self._pop(), self._pop()
        path = entry(self._code.names, index)
        if level not in {0, -1} or path.partition(".")[0] not in {"tensorflow", "keras", "numpy", "math"}:
            raise NotFollowed
        self._push(Named(path if wanted is not None else path.partition(".")[0]))

    def _import_from(self, index: int) -> None:
        self._copy(1)
        self._push(operations.attribute(self._pop(), entry(self._code.names, index)))

    # Building and taking apart

    def _extend(self, depth: int) -> None:
        more, start = self._pop(), self._pop()
        if depth != 1 or not isinstance(start, list) or type(more) is not tuple:
            raise NotFollowed
        self._push([*start, *more])

    def _unpack(self, count: int) -> None:
        values = self._pop()
        if type(values) not in operations.PLAIN_LISTS or not isinstance(values, (list, tuple)) or len(values) != count:
            raise NotFollowed
        self._stack += reversed(values)

    def _slice(self, count: int) -> None:
        self._push(_bounds(self._pop_many(count)))

    def _subscript(self, _: int) -> None:
        of, key = self._pop_many(2)
        self._push(operations.subscript(of, key))

    def _binary_slice(self, _: int) -> None:
        of, start, stop = self._pop_many(3)
        self._push(operations.subscript(of, _bounds([start, stop])))

    def _slice_of_python_2(self, which: int) -> None:
        stop = self._pop() if which & 2 else None
        start = self._pop() if which & 1 else None
        self._push(operations.subscript(self._pop(), _bounds([start, stop])))

    def _negative(self, _: int) -> None:
        self._push(operations.negative(self._pop()))

    def _compare(self, argument: int) -> None:
        symbol = comparison(self._python, argument)
        left, right = self._pop_many(2)
        if symbol is None:
            raise NotFollowed
        self._push(operations.binary(symbol, left, right))

    # Branches

    def _jump_forward(self, argument: int) -> None:
        self._go(self._next + argument * self._unit)

    def _jump_absolute(self, argument: int) -> None:
        self._go(argument * self._unit)

    @property
    def _unit(self) -> int:
        """Bytes that a jump's argument counts: words since 3.10."""
        return 1 if self._python.version in {"2.7", "3.6", "3.7", "3.8", "3.9"} else 2

    def _go(self, offset: int) -> None:
        """Forward alone: what jumps back is a loop, or the code of a Python that counts its jumps otherwise."""
        if not self._next <= offset < len(self._code.code) or (offset % 2 and not self._python.wide):
            raise Impossible
        self._next = offset

    def _jump_if(self, argument: int, *, wanted: bool) -> None:
        if operations.truth(self._pop()) is wanted:
            if self._is_new:
                self._jump_forward(argument)
            else:
                self._jump_absolute(argument)

    def _not(self, _: int) -> None:
        self._push(not operations.truth(self._pop()))

    # Calls

    def _call_function(self, argument: int) -> None:
        """Positional arguments; in Python 2 pairs of name and value after them, counted in the high byte."""
        pairs = self._pop_many(2 * (argument >> 8)) if self._python.wide else []
        positional = self._pop_many(argument & 0xFF if self._python.wide else argument)
        keywords = dict(zip(map(_text, pairs[::2]), pairs[1::2], strict=True))
        self._push(operations.call(self._pop(), positional, keywords))

    def _call_function_kw(self, count: int) -> None:
        names = self._pop()
        self._push(self._called(self._pop_many(count), names, self._pop))

    def _call_method(self, count: int) -> None:
        positional = self._pop_many(count)
        self._push(self._called(positional, (), self._with_null))

    def _call(self, count: int) -> None:
        values, names = self._pop_many(count), self._keywords
        self._keywords = ()
        self._push(self._called(values, names, self._with_null))

    def _call_kw(self, count: int) -> None:
        names = self._pop()
        self._push(self._called(self._pop_many(count), names, self._with_null))

    def _with_null(self) -> Value:
        """The function of a call since 3.11, with the null beside it."""
        pair = self._pop_many(2)
        if sum(value is NULL for value in pair) != 1:
            raise NotFollowed
        return next(value for value in pair if value is not NULL)

    @staticmethod
    def _called(values: list[Value], names: Value, function: Callable[[], Value]) -> Value:
        if type(names) is not tuple or len(names) > len(values):
            raise Impossible
        first = len(values) - len(names)
        keywords = dict(zip(map(_text, names), values[first:], strict=True))
        return operations.call(function(), values[:first], keywords)

    def _kw_names(self, index: int) -> None:
        names = self._constant(index)
        self._keywords = tuple(map(_text, names)) if isinstance(names, tuple) else ()

    def _pair(self, first: Callable[[_Run, int], None], second: Callable[[_Run, int], None], pair: int) -> None:
        first(self, pair >> 4)
        second(self, pair & 15)

    _STEPS: ClassVar[Mapping[str, Callable[[_Run, int], object]]] = {
        "NOP": lambda _self, _: None,
        "PRECALL": lambda _self, _: None,
        "TO_BOOL": lambda _self, _: None,
        "POP_TOP": lambda self, _: self._pop(),
        "ROT_TWO": lambda self, _: self._rotate(2),
        "ROT_THREE": lambda self, _: self._rotate(3),
        "ROT_FOUR": lambda self, _: self._rotate(4),
        "DUP_TOP": lambda self, _: self._copy(1),
        "COPY": lambda self, depth: self._copy(depth),
        "SWAP": lambda self, depth: self._swap(depth),
        "PUSH_NULL": lambda self, _: self._push(NULL),
        "LOAD_CONST": _load_const,
        "LOAD_FAST": _load_fast,
        "STORE_FAST": _store_fast,
        "LOAD_DEREF": _load_deref,
        "LOAD_GLOBAL": _load_global,
        "LOAD_ATTR": _load_attr,
        "LOAD_METHOD": _load_method,
        "IMPORT_NAME": _import,
        "IMPORT_FROM": _import_from,
        "LOAD_FAST_LOAD_FAST": lambda self, pair: self._pair(_Run._load_fast, _Run._load_fast, pair),
        "STORE_FAST_LOAD_FAST": lambda self, pair: self._pair(_Run._store_fast, _Run._load_fast, pair),
        "STORE_FAST_STORE_FAST": lambda self, pair: self._pair(_Run._store_fast, _Run._store_fast, pair),
        "BUILD_TUPLE": lambda self, count: self._push(tuple(self._pop_many(count))),
        "BUILD_LIST": lambda self, count: self._push(self._pop_many(count)),
        "LIST_EXTEND": _extend,
        "UNPACK_SEQUENCE": _unpack,
        "BUILD_SLICE": _slice,
        "BINARY_SLICE": _binary_slice,
        "BINARY_SUBSCR": _subscript,
        "SLICE+0": lambda self, _: self._slice_of_python_2(0),
        "SLICE+1": lambda self, _: self._slice_of_python_2(1),
        "SLICE+2": lambda self, _: self._slice_of_python_2(2),
        "SLICE+3": lambda self, _: self._slice_of_python_2(3),
        "UNARY_NEGATIVE": _negative,
        "UNARY_NOT": _not,
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


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise NotFollowed
    return value


def _bounds(ends: Sequence[Value]) -> slice:
    if any(end is not None and not isinstance(end, int) for end in ends) or ends[2:] == [0]:
        raise NotFollowed
    return slice(*ends)


def _value(constant: Constant) -> Value:
    if isinstance(constant, (CodeObject, code_objects.Opaque)):
        raise NotFollowed
    if isinstance(constant, tuple):
        return tuple(_value(part) for part in constant)
    return constant.decode("ascii", "replace") if isinstance(constant, bytes) else constant
