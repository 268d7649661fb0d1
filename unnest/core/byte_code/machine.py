"""An abstract machine for CPython's byte code, from 2.7 to 3.14: computes with whatever values it is given.

Here a function runs from its first instruction to its result, and inner functions and generators with it. What single
instructions do is in `instructions/`, a module for each family; the state that they change is a `Frame`.

Most effects are not understood: such code stops it. Exceptions are not followed into their handlers: in a function
that has some, whatever may raise one stops it for good. So does code that no compiler of the Python in question writes:
then the bytes are of another Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from unnest.core.byte_code.argument_binding import bind
from unnest.core.byte_code.frame import BlockKind
from unnest.core.byte_code.instruction_decoder import (
    Instruction,
    at_offset,
    catches,
    may_have_written,
    opening,
)
from unnest.core.byte_code.instructions.calls_and_functions import CallInstructions
from unnest.core.byte_code.instructions.containers_and_subscripts import ContainerInstructions
from unnest.core.byte_code.instructions.jumps_and_loops import JumpsAndLoops
from unnest.core.byte_code.instructions.operators_and_texts import OperatorInstructions
from unnest.core.byte_code.instructions.variables_and_modules import VariableInstructions
from unnest.core.byte_code.machine_errors_and_run_cost import (
    Impossible,
    MayBeCaught,
    Stopped,
    spend_on,
)
from unnest.core.byte_code.opcode_tables import BRANCHES
from unnest.core.byte_code.read_code_objects import GENERATOR
from unnest.core.byte_code.runtime_values import InnerFunction, Null, StackValue
from unnest.core.byte_code.value_domain import (
    BEYOND_EXPRESSIONS,
    DomainValue,
)
from unnest.core.model import Unknown

AFTER_YIELD = 3, 1
"""The bits of RESUME's argument for its position, and their value after YIELD_VALUE."""


class Machine(
    VariableInstructions[DomainValue],
    ContainerInstructions[DomainValue],
    OperatorInstructions[DomainValue],
    CallInstructions[DomainValue],
):
    """One run of one function's code as one Python means it.

    `free` are the values that it captured, in order; an inner function shares its cells with the one around it, and
    the work is counted for both together.
    """

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

    def _pop_top(self) -> None:
        (held,) = self._stack.take(1)
        if isinstance(held, Null):
            raise Impossible

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

    _STEPS: ClassVar[Mapping[str, Callable[[Machine[Any], int], object]]] = {
        **JumpsAndLoops.CONTROL,
        **VariableInstructions.VARIABLES,
        **ContainerInstructions.CONTAINERS,
        **OperatorInstructions.OPERATORS,
        **CallInstructions.CALLS,
        "NOP": lambda _self, _: None,
        "TO_BOOL": lambda _self, _: None,
        "POP_TOP": lambda self, _: self._pop_top(),
        "PRINT_ITEM": lambda self, _: self._pop_top(),
        "PRINT_NEWLINE": lambda _self, _: None,
        "ROT_TWO": lambda self, _: self._stack.rotate(2),
        "ROT_THREE": lambda self, _: self._stack.rotate(3),
        "ROT_FOUR": lambda self, _: self._stack.rotate(4),
        "DUP_TOP": lambda self, _: self._stack.copy(1),
        "COPY": lambda self, depth: self._stack.copy(depth),
        "SWAP": lambda self, depth: self._stack.swap(depth),
        "PUSH_NULL": lambda self, _: self._stack.push(Null.NULL),
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
