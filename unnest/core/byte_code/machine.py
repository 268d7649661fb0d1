"""An abstract machine for CPython's byte code, from 2.7 to 3.14: computes with whatever values it is given.

Most effects are not understood: such code stops it. Exceptions are not followed into their handlers: in a function
that has some, whatever may raise one stops it for good. So does code that no compiler of the Python in question writes:
then the bytes are of another Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

from unnest.core.byte_code.argument_binding import bind
from unnest.core.byte_code.calls import Calls
from unnest.core.byte_code.frame import BlockKind, Frame
from unnest.core.byte_code.instruction_decoder import (
    Instruction,
    at_offset,
    catches,
    comparison,
    entry,
    may_have_written,
    opening,
)
from unnest.core.byte_code.opcode_tables import BRANCHES, Python
from unnest.core.byte_code.read_code_objects import GENERATOR, CodeObject
from unnest.core.byte_code.runtime_values import (
    Cell,
    Cells,
    Impossible,
    InnerFunction,
    Internal,
    MayBeCaught,
    Null,
    RunCost,
    StackValue,
    Stopped,
    spend_on,
)
from unnest.core.byte_code.value_domain import (
    BEYOND_EXPRESSIONS,
    DomainValue,
    TextConversion,
    ValueDomain,
)
from unnest.core.byte_code.variables import Variables
from unnest.core.model import Unknown

PACKAGES = frozenset({"tensorflow", "keras", "numpy", "math", "functools"})
"""What code may import."""

TO_BOOL = 0x10
"""Bit of COMPARE_OP's argument since 3.13: the result becomes a truth value for a jump."""

TEXT_CONVERSIONS: Sequence[TextConversion] = ("", "s", "r", "a")
"""How a value is written before it is formatted, by CPython's number."""

WITH_SPEC = 4
"""Bit of FORMAT_VALUE's argument: a spec is on top."""

SMALL_INTEGERS = 256
"""The integers that 3.14 keeps in an instruction: those below."""

AFTER_YIELD = 3, 1
"""The bits of RESUME's argument for its position, and their value after YIELD_VALUE."""


class Machine(Calls[DomainValue]):
    """One run of one function's code as one Python means it.

    `free` are the values that it captured, in order; an inner function shares its cells with the one around it, and
    the work is counted for both together.
    """

    def __init__(
        self,
        python: Python,
        code: CodeObject,
        domain: ValueDomain[DomainValue],
        local: Mapping[str, StackValue[DomainValue]],
        free: Sequence[DomainValue | Cell[DomainValue]],
        work: RunCost | None = None,
    ) -> None:
        super().__init__(python, code, domain, work or RunCost())
        self._variables = Variables(python, code, domain, local, free)

    def run(self) -> DomainValue:
        """Return the function's result.

        Raises:
            Unknown: the effect of the code is unknown; with the reason.
            MayBeCaught: the same, where an exception may have been handled.
            Impossible: this Python's compiler did not write this code.

        """
        value, is_last = self.resume()
        if not is_last:
            raise Impossible
        return value

    def resume(self) -> tuple[DomainValue, bool]:
        """Return the next value, and True if the function returns it; a generator goes on after yielding one.

        Raises as `run` does.
        """
        self._work.enter()
        try:
            return self._until_a_value()
        except Stopped:
            raise
        except Unknown as error:
            if self._work.has_handlers:
                raise MayBeCaught(str(error)) from error
            raise
        finally:
            self._work.leave()

    def _until_a_value(self) -> tuple[DomainValue, bool]:
        """Execute instructions up to the next value: (value, True if it is returned, False if it is yielded).

        Raises Impossible.
        """
        if not self._next:
            self._open()
        before = Instruction("")
        while True:
            instruction = self._next_instruction()
            if instruction.name in {"RETURN_VALUE", "RETURN_CONST"}:
                is_constant = instruction.name == "RETURN_CONST"
                value = (
                    self._variables.constant(instruction.argument)
                    if is_constant
                    else self._stack.pop()
                )
                if self._stack and not self._blocks:
                    raise Impossible
                if any(block.kind is BlockKind.FINALLY for block in self._blocks):
                    raise Unknown("a return that leaves a finally block")
                return value, True
            if instruction.name == "YIELD_VALUE":
                return self._yielded(instruction.argument), False
            self._step(instruction, before)
            before = instruction

    def _open(self) -> None:
        if self._code.handlers and not self._domain.branches:
            raise Unknown("a handler of exceptions")
        for expected in opening(self._code) if self._since_311 else ():
            instruction, self._next = at_offset(self._python, self._code.code, self._next)
            if instruction != expected:
                raise Impossible
            if expected.name in BRANCHES and not self._domain.branches:
                raise Unknown(BEYOND_EXPRESSIONS)
        if self._since_311 and catches(self._python, self._code):
            self._work.has_handlers = True

    def _yielded(self, handlers: int) -> DomainValue:
        """Yield the value on top; None takes its place when the function goes on. 3.12 counts handlers around it.

        Raises Impossible, Unknown.
        """
        if not self._code.flags & GENERATOR:
            raise Impossible
        if handlers != (self._python.version == "3.12"):
            raise Unknown("a handler of exceptions")
        value = self._stack.pop()
        self._stack.push(self._domain.constant(None))
        if self._since_311:
            resume, (bits, after_yield) = self._instruction(), AFTER_YIELD
            if resume.name != "RESUME" or resume.argument & bits != after_yield:
                raise Impossible
        return value

    def _step(self, instruction: Instruction, before: Instruction) -> None:
        """Execute one instruction. Raises Impossible for a sequence that no compiler writes."""
        if instruction.name in self._STEPS:
            self._STEPS[instruction.name](self, instruction.argument)
        elif instruction.symbol:
            left, right = self._stack.pop_many(2)
            compute = (
                self._domain.in_place if instruction.name == "INPLACE" else self._domain.binary
            )
            self._stack.push(compute(instruction.symbol, left, right))
        else:
            raise Impossible  # an opening once more
        if self._keywords and instruction.name not in {"KW_NAMES", "PRECALL"}:
            raise Impossible
        if before.name == "PRECALL" and instruction != Instruction("CALL", before.argument):
            raise Impossible

    # Variables, attributes and modules

    def _load_const(self, index: int) -> None:
        self._stack.push(self._variables.constant_or_code(index))

    def _load_small_integer(self, value: int) -> None:
        if value >= SMALL_INTEGERS:
            raise Impossible
        self._stack.push(self._domain.constant(value))

    def _load_fast(self, index: int) -> None:
        self._stack.push(self._variables.local(index))

    def _store_fast(self, index: int) -> None:
        name = self._variables.name(index)
        (held,) = self._stack.take(1)
        self._variables.store(name, held)

    def _load_deref(self, index: int) -> None:
        held = self._variables.cell(index).held
        if held is Null.UNSET:
            raise Impossible
        self._stack.push(held)

    def _store_deref(self, index: int) -> None:
        cell = self._variables.own_cell(index)
        (held,) = self._stack.take(1)
        if isinstance(held, Internal) and not isinstance(held, InnerFunction):
            raise Impossible
        cell.held = held

    def _load_global(self, argument: int) -> None:
        self._with_null(argument, self._variables.global_at)

    def _with_null(self, argument: int, value: Callable[[int], DomainValue]) -> None:
        """Push a value, and a NULL if the argument's lowest bit asks for it (3.11 on): under it, since 3.13 over it."""
        if not self._since_311:
            self._stack.push(value(argument))
            return
        pair = [Null.NULL, value(argument >> 1)] if argument & 1 else [value(argument >> 1)]
        self._stack.push(*(reversed(pair) if self._since_313 else pair))

    def _attribute(self, of: DomainValue, index: int) -> DomainValue:
        return self._domain.attribute(of, entry(self._code.names, index))

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
        level, names = (self._domain.plain(value) for value in self._stack.pop_many(2))
        path = entry(self._code.names, index)
        package = path.partition(".")[0]
        if level not in (0, -1) or package not in PACKAGES:
            raise Unknown("an import of a module that is not known")
        self._stack.push(self._domain.module(package if names is None else path))

    def _import_from(self, index: int) -> None:
        module = self._stack.pop()
        self._stack.push(module, self._attribute(module, index))

    # Building and taking apart

    def _pop_top(self) -> None:
        (held,) = self._stack.take(1)
        if isinstance(held, Null):
            raise Impossible

    def _build_tuple(self, count: int) -> None:
        """Push a tuple of values, or of the cells that an inner function captures."""
        held = self._stack.take(count)
        cells = tuple(each for each in held if isinstance(each, Cell))
        if cells and len(cells) == count:
            self._stack.push(Cells(cells))
        else:
            self._stack.push(self._domain.sequence("tuple", self._stack.only_values(held)))

    def _build_list(self, count: int) -> None:
        self._stack.push_new_list(self._domain.sequence("list", self._stack.pop_many(count)))

    def _unpack(self, count: int) -> None:
        self._stack.push(*reversed(self._domain.unpacked(self._stack.pop(), count)))

    def _unpack_with_rest(self, counts: int) -> None:
        """`a, *rest, b = value`; `counts` has the parts before the rest, and in the high byte those behind it."""
        before, behind = counts & 0xFF, counts >> 8
        parts = self._entries(self._stack.pop())
        end = len(parts) - behind
        if end < before:
            raise Unknown("another number of values")
        rest = self._domain.sequence("list", parts[before:end])
        self._stack.push(*reversed([*parts[:before], rest, *parts[end:]]))

    def _store_subscript(self) -> None:
        value, of, key = self._stack.pop_many(3)
        self._domain.store_subscript(of, key, value)

    def _build_slice(self, count: int) -> None:
        if count not in {2, 3}:
            raise Impossible
        self._stack.push(self._domain.slice_of(self._stack.pop_many(count)))

    def _subscript(self) -> None:
        self._stack.push(self._domain.subscript(*self._stack.pop_many(2)))

    def _binary_slice(self) -> None:
        of, start, stop = self._stack.pop_many(3)
        self._stack.push(self._domain.subscript(of, self._domain.slice_of([start, stop])))

    def _slice_of_python_2(self, which: int) -> None:
        """Push `of[start:stop]`; bit 1 of `which` means that there is a start, bit 2 a stop."""
        stop = self._stack.pop() if which & 2 else self._domain.constant(None)
        start = self._stack.pop() if which & 1 else self._domain.constant(None)
        self._stack.push(
            self._domain.subscript(self._stack.pop(), self._domain.slice_of([start, stop]))
        )

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

    def _build_map(self, count: int) -> None:
        """Push a dictionary of keys and values in turn; up to 2.7 an empty one, which entries are stored in."""
        held = [] if self._code.layout == "2" else self._stack.pop_many(2 * count)
        entries = zip(held[::2], held[1::2], strict=True)
        self._stack.push(self._domain.mapping([*entries]))

    def _store_map(self) -> None:
        """Store the value below the top in the new dictionary below it, under the key on top; of Python 2.7."""
        of, value, key = self._stack.pop_many(3)
        self._stack.push(self._domain.mapping([(key, value)], of))

    def _build_const_key_map(self, count: int) -> None:
        keys = self._stack.pop()
        values = self._stack.pop_many(count)
        entries = zip(self._domain.unpacked(keys, count), values, strict=True)
        self._stack.push(self._domain.mapping([*entries]))

    def _join_sequences(self, count: int, kind: Literal["list", "tuple"]) -> None:
        """Push `[*a, *b]` or `(*a, *b)`, up to 3.8."""
        whole = self._domain.sequence("list", [])
        for part in self._stack.pop_many(count):
            whole = self._domain.extended(whole, part)
        self._stack.push(self._as_tuple(whole) if kind == "tuple" else whole)

    # Inner functions

    def _packed(self, values: Sequence[StackValue[DomainValue]]) -> StackValue[DomainValue]:
        """The tuple of an inner function's `*args`."""
        return self._domain.sequence("tuple", self._stack.only_values(values))

    def _function_value(self, function: InnerFunction[DomainValue]) -> DomainValue:
        return self._domain.function(partial(self._inner, function))

    def _inner(
        self,
        function: InnerFunction[DomainValue],
        positional: Sequence[StackValue[DomainValue]],
        keywords: Mapping[str, StackValue[DomainValue]],
    ) -> DomainValue:
        """Return the value of a call of an inner function. Raises Impossible, Unknown."""
        code = function.code
        local = bind(code, function.defaults, positional, keywords, self._packed)
        if code.layout != self._code.layout or not may_have_written(self._python, code):
            raise Impossible
        if len(function.captured) != len(code.free):
            raise Impossible
        spend_on(len(code.code))
        machine = Machine(self._python, code, self._domain, local, function.captured, self._work)
        return (
            self._domain.generator(_Generator(machine)) if code.flags & GENERATOR else machine.run()
        )

    # Instructions that come in pairs since 3.13

    def _pair(self, first: Callable[[int], None], second: Callable[[int], None], pair: int) -> None:
        first(pair >> 4)
        second(pair & 15)

    _STEPS: ClassVar[Mapping[str, Callable[[Machine[Any], int], object]]] = {
        **Frame.CONTROL,
        **Calls.CALLS,
        "NOP": lambda _self, _: None,
        "TO_BOOL": lambda _self, _: None,
        "POP_TOP": lambda self, _: self._pop_top(),
        "ROT_TWO": lambda self, _: self._stack.rotate(2),
        "ROT_THREE": lambda self, _: self._stack.rotate(3),
        "ROT_FOUR": lambda self, _: self._stack.rotate(4),
        "DUP_TOP": lambda self, _: self._stack.copy(1),
        "COPY": lambda self, depth: self._stack.copy(depth),
        "SWAP": lambda self, depth: self._stack.swap(depth),
        "PUSH_NULL": lambda self, _: self._stack.push(Null.NULL),
        "LOAD_CONST": _load_const,
        "LOAD_SMALL_INT": _load_small_integer,
        "LOAD_FAST": _load_fast,
        "LOAD_FAST_CHECK": _load_fast,
        "LOAD_FAST_BORROW": _load_fast,
        "LOAD_FAST_AND_CLEAR": lambda self, index: self._stack.push(
            self._variables.hide_local(index)
        ),
        "STORE_FAST": _store_fast,
        "LOAD_FAST_LOAD_FAST": lambda self, pair: self._pair(
            self._load_fast, self._load_fast, pair
        ),
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW": lambda self, pair: self._pair(
            self._load_fast, self._load_fast, pair
        ),
        "STORE_FAST_LOAD_FAST": lambda self, pair: self._pair(
            self._store_fast, self._load_fast, pair
        ),
        "STORE_FAST_STORE_FAST": lambda self, pair: self._pair(
            self._store_fast, self._store_fast, pair
        ),
        "LOAD_DEREF": _load_deref,
        "STORE_DEREF": _store_deref,
        "LOAD_CLOSURE": lambda self, index: self._stack.push(self._variables.cell(index)),
        "MAKE_CELL": lambda self, index: self._variables.make_cell(index),
        "LOAD_GLOBAL": _load_global,
        "LOAD_ATTR": _load_attr,
        "LOAD_METHOD": _load_method,
        "IMPORT_NAME": _import_name,
        "IMPORT_FROM": _import_from,
        "BUILD_TUPLE": _build_tuple,
        "BUILD_LIST": _build_list,
        "BUILD_MAP": _build_map,
        "STORE_MAP": lambda self, _: self._store_map(),
        "BUILD_CONST_KEY_MAP": _build_const_key_map,
        "BUILD_LIST_UNPACK": lambda self, count: self._join_sequences(count, "list"),
        "BUILD_TUPLE_UNPACK": lambda self, count: self._join_sequences(count, "tuple"),
        "BUILD_TUPLE_UNPACK_WITH_CALL": lambda self, count: self._join_sequences(count, "tuple"),
        "UNPACK_SEQUENCE": _unpack,
        "BUILD_SLICE": _build_slice,
        "FORMAT_VALUE": _format_value,
        "FORMAT_SIMPLE": lambda self, _: self._format_value(0),
        "FORMAT_WITH_SPEC": lambda self, _: self._format_value(WITH_SPEC),
        "CONVERT_VALUE": _convert_value,
        "BUILD_STRING": _build_string,
        "BINARY_SLICE": lambda self, _: self._binary_slice(),
        "BINARY_SUBSCR": lambda self, _: self._subscript(),
        "SLICE+0": lambda self, _: self._slice_of_python_2(0),
        "SLICE+1": lambda self, _: self._slice_of_python_2(1),
        "SLICE+2": lambda self, _: self._slice_of_python_2(2),
        "SLICE+3": lambda self, _: self._slice_of_python_2(3),
        "UNARY_POSITIVE": lambda self, _: self._unary("+"),
        "UNARY_NEGATIVE": lambda self, _: self._unary("-"),
        "UNARY_INVERT": lambda self, _: self._unary("~"),
        "COMPARE_OP": _compare,
        "CONTAINS_OP": _contains,
        "STORE_SUBSCR": lambda self, _: self._store_subscript(),
        "UNPACK_EX": _unpack_with_rest,
    }


class _Generator(Iterator[DomainValue]):
    """The values of a generator, each computed when it is asked for."""

    def __init__(self, machine: Machine[DomainValue]) -> None:
        self._machine = machine
        self._is_running = self._is_done = False

    def __next__(self) -> DomainValue:
        if self._is_done:
            raise StopIteration
        if self._is_running:
            raise Unknown("a generator that draws from itself")
        self._is_running = True
        value, self._is_done = self._machine.resume()
        self._is_running = False
        if self._is_done:
            raise StopIteration
        return value
