"""Instructions that jump, loop, and enter or leave blocks (`for`, `while`, `with`, `try`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Literal

from unnest.core.byte_code.frame import Block, BlockKind, Frame
from unnest.core.byte_code.instruction_decoder import Instruction
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible, spend_on
from unnest.core.byte_code.runtime_values import (
    Entrance,
    Exit,
    Internal,
    Iteration,
    Null,
    StackValue,
)
from unnest.core.byte_code.value_domain import DomainValue
from unnest.core.model import Unknown

COUNTS_BYTES = frozenset({"2.7", "3.5", "3.6", "3.7", "3.8", "3.9"})
"""Pythons whose jumps count bytes; later ones count words of two."""

WITHOUT_EXCEPTION = ("type", "value", "traceback")
"""Arguments of a `with` block's exit if no exception was raised."""

ENTER, LEAVE = 0, 1
"""The argument of LOAD_SPECIAL for `__enter__` and `__exit__`."""

AFTER_LOOPS = {
    "3.12": (Instruction("END_FOR"),),
    "3.13": (Instruction("END_FOR"), Instruction("POP_TOP")),
    "3.14": (Instruction("END_FOR"), Instruction("POP_ITER")),
}
"""Python -> the instructions that its FOR_ITER jumps to at the end of a loop; FOR_ITER has done their work itself."""


class _Ended(Enum):
    """Returned by an iteration after its last value."""

    ENDED = "ended"


class JumpsAndLoops(Frame[DomainValue]):
    """A frame that jumps and loops, and that passes by the handlers of its blocks."""

    # Branches

    def _not(self) -> None:
        self._stack.push(self._domain.constant(not self._domain.truth(self._stack.pop())))

    def _jump_forward(self, argument: int) -> None:
        self._go_to(self._next + argument * self._unit)

    def _jump_backward(self, argument: int) -> None:
        self._go_to(self._next - argument * self._unit)

    def _jump_absolute(self, argument: int) -> None:
        self._go_to(argument * self._unit)

    def _jump_if(self, argument: int, *, wanted: bool, back: bool = False) -> None:
        distance = argument * self._unit
        offset = self._target(
            (self._next - distance if back else self._next + distance)
            if self._since_311
            else distance
        )
        if self._domain.truth(self._stack.pop()) is wanted:
            self._go_to(offset)

    def _jump_if_none(self, argument: int, *, wanted: bool, back: bool = False) -> None:
        nothing = self._domain.constant(None)
        self._stack.push(self._domain.compare("is", self._stack.pop(), nothing))
        self._jump_if(argument, wanted=wanted, back=back)

    def _jump_or_pop(self, argument: int, *, wanted: bool) -> None:
        """Jump and keep the tested value, or pop it: `and`, `or`."""
        offset = self._target(argument * self._unit + (self._next if self._since_311 else 0))
        value = self._stack.pop()
        if self._domain.truth(value) is wanted:
            self._stack.push(value)
            self._go_to(offset)

    @property
    def _unit(self) -> int:
        return 1 if self._python.version in COUNTS_BYTES else 2

    def _target(self, offset: int) -> int:
        """Return the target of a jump, taken or not: an instruction of this code. Raises Impossible."""
        if not 0 <= offset < len(self._code.code) or (offset % 2 and not self._python.wide):
            raise Impossible
        return offset

    def _go_to(self, offset: int) -> None:
        self._target(offset)
        if offset < self._next:
            if offset not in self._depths or (self._stack and not self._stack.may_repeat):
                raise Impossible
            spend_on(self._next - offset)
        self._next = offset

    # Loops

    def _get_iter(self) -> None:
        self._stack.push(Iteration(self._domain.iterator(self._stack.pop())))

    def _for_iter(self, argument: int) -> None:
        """Push the next value of the iteration on top; 3.14 begins that of a generator here. Raises Impossible."""
        if self._stack.iteration is None and self._python.release >= (3, 14):
            self._get_iter()
        iteration = self._stack.iteration
        if iteration is None:
            raise Impossible
        after = self._target(self._next + argument * self._unit)
        value: DomainValue | Literal[_Ended.ENDED] = next(iteration.values, _Ended.ENDED)
        if not isinstance(value, _Ended):
            self._stack.push(value)
            return
        self._stack.take(1)
        self._next = after
        for expected in AFTER_LOOPS.get(self._python.version, ()):
            if self._instruction() != expected:
                raise Impossible

    def _pop_iter(self) -> None:
        if self._stack.iteration is None:
            raise Impossible
        self._stack.take(1)

    def _append(self, depth: int) -> None:
        """Append the top of the stack to a comprehension's list further down."""

        def longer(parts: DomainValue, more: DomainValue) -> DomainValue:
            return self._domain.extended(parts, self._domain.sequence("tuple", [more]))

        self._stack.extend_new_list(depth, longer)

    def _extend(self, depth: int) -> None:
        """Extend a list by unpacked parts, or (since 3.9) by constants, if nothing else refers to it.

        Raises Unknown.
        """
        if depth != 1:
            raise Unknown("a list that grows")
        self._stack.extend_new_list(depth, self._domain.extended)

    # Blocks: of loops up to 3.7, of `with` and `try` up to 3.10

    def _setup_loop(self, argument: int) -> None:
        self._blocks.append(Block(self._next + argument, len(self._stack), BlockKind.LOOP))

    def _setup_try(self, argument: int, kind: BlockKind) -> None:
        """Enter a `try`. Its handlers are not followed: nothing in it may raise an exception."""
        handler = self._target(self._next + argument * self._unit)
        self._blocks.append(Block(handler, len(self._stack), kind))
        self._work.has_handlers = True

    def _pop_block(self) -> None:
        """With what is about to be returned on top, where a `with` or `try` of 3.8 on is left so."""
        block = self._blocks.pop() if self._blocks else None
        if block is None or len(self._stack) - block.depth not in (
            (0,) if block.kind is BlockKind.LOOP else (0, 1)
        ):
            raise Impossible

    def _break_loop(self) -> None:
        if not self._blocks:
            raise Impossible
        after, depth, kind = self._blocks.pop()
        if kind is not BlockKind.LOOP:
            raise Unknown("a break that leaves a with or try block")
        self._stack.take(len(self._stack) - depth)
        self._go_to(after)

    def _setup_with(self, argument: int) -> None:
        handler = self._target(self._next + argument * self._unit)
        self._enter()
        self._blocks.append(Block(handler, len(self._stack) - 1, BlockKind.WITH))

    def _enter(self) -> None:
        """Enter a `with` block: push its exit, and above it the value that it binds."""
        self._stack.push(Exit.EXIT, self._domain.entered(self._stack.pop()))

    def _load_special(self, method: int) -> None:
        """Push a method of a `with` block's value and its object, as 3.14 does before it enters the block.

        Raises Unknown.
        """
        value = self._stack.pop()
        if method == ENTER:
            self._stack.push(Entrance(value), Null.NULL)
        elif method == LEAVE:
            self._stack.push(Exit.EXIT, Exit.EXIT)
        else:
            raise Unknown("a coroutine")

    def _clean_up(self, more: int) -> None:
        """Skip the call of a `with` block's exit below None or null on top; push `more` times None.

        Raises Impossible.
        """
        leaving, why = self._stack.take(2)
        if leaving is not Exit.EXIT or not self._is_nothing(why):
            raise Impossible
        self._stack.push(why, *[self._domain.constant(None)] * more)

    def _end_finally(self, keeps: int = 0) -> None:
        """End a `finally` block that nothing was raised in. Raises Unknown if `keeps` values are left by a handler."""
        (why,) = self._stack.take(1)
        if keeps or not self._is_nothing(why):
            raise Unknown("a handler of exceptions")

    def _is_nothing(self, why: StackValue[DomainValue]) -> bool:
        """Return True if no exception led here."""
        return why is Null.NULL or (
            not isinstance(why, Internal) and self._domain.plain(why) is None
        )

    def _skip_exit(self, held: Sequence[StackValue[DomainValue]]) -> None:
        """Skip the call of a `with` block's exit, since 3.9 an ordinary call with None three times.

        Raises Impossible.
        """
        if len(held) != len(WITHOUT_EXCEPTION) or not all(map(self._is_nothing, held)):
            raise Impossible
        self._stack.push(self._domain.constant(None))

    CONTROL: ClassVar[Mapping[str, Callable[[JumpsAndLoops[Any], int], object]]] = {
        "UNARY_NOT": lambda self, _: self._not(),
        "JUMP_FORWARD": _jump_forward,
        "JUMP_BACKWARD": _jump_backward,
        "JUMP_ABSOLUTE": _jump_absolute,
        "POP_JUMP_IF_FALSE": lambda self, argument: self._jump_if(argument, wanted=False),
        "POP_JUMP_IF_TRUE": lambda self, argument: self._jump_if(argument, wanted=True),
        "JUMP_IF_FALSE_OR_POP": lambda self, argument: self._jump_or_pop(argument, wanted=False),
        "JUMP_IF_TRUE_OR_POP": lambda self, argument: self._jump_or_pop(argument, wanted=True),
        "POP_JUMP_BACKWARD_IF_FALSE": lambda self, argument: self._jump_if(
            argument, wanted=False, back=True
        ),
        "POP_JUMP_BACKWARD_IF_TRUE": lambda self, argument: self._jump_if(
            argument, wanted=True, back=True
        ),
        "POP_JUMP_IF_NONE": lambda self, argument: self._jump_if_none(argument, wanted=True),
        "POP_JUMP_IF_NOT_NONE": lambda self, argument: self._jump_if_none(argument, wanted=False),
        "POP_JUMP_BACKWARD_IF_NONE": lambda self, argument: self._jump_if_none(
            argument, wanted=True, back=True
        ),
        "POP_JUMP_BACKWARD_IF_NOT_NONE": lambda self, argument: self._jump_if_none(
            argument, wanted=False, back=True
        ),
        "GET_ITER": lambda self, _: self._get_iter(),
        "FOR_ITER": _for_iter,
        "POP_ITER": lambda self, _: self._pop_iter(),
        "LIST_APPEND": _append,
        "LIST_EXTEND": _extend,
        "SETUP_LOOP": _setup_loop,
        "SETUP_EXCEPT": lambda self, argument: self._setup_try(argument, BlockKind.EXCEPT),
        "SETUP_FINALLY": lambda self, argument: self._setup_try(argument, BlockKind.FINALLY),
        "POP_BLOCK": lambda self, _: self._pop_block(),
        "BREAK_LOOP": lambda self, _: self._break_loop(),
        "GEN_START": lambda _self, _: None,
        "NOT_TAKEN": lambda _self, _: None,
        "SETUP_WITH": _setup_with,
        "BEFORE_WITH": lambda self, _: self._enter(),
        "LOAD_SPECIAL": _load_special,
        "BEGIN_FINALLY": lambda self, _: self._stack.push(Null.NULL),
        "WITH_CLEANUP": lambda self, _: self._clean_up(0),
        "WITH_CLEANUP_START": lambda self, _: self._clean_up(2),
        "WITH_CLEANUP_FINISH": lambda self, _: self._stack.take(2),
        "END_FINALLY": lambda self, _: self._end_finally(),
        "POP_FINALLY": _end_finally,
    }
    """Instructions that jump, loop or leave a block, by name -> the method that carries them out."""
