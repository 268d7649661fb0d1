"""The state of a function that is running: its variables, its stack, its blocks, and its next instruction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Generic, NamedTuple

from unnest.budget import memoize
from unnest.core.byte_code.instruction_decoder import Instruction, at_offset
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible, RunCost
from unnest.core.byte_code.opcode_tables import BRANCHES, Python
from unnest.core.byte_code.operand_stack import OperandStack
from unnest.core.byte_code.read_code_objects import CodeObject
from unnest.core.byte_code.runtime_values import Cell, CommonConstant, InnerFunction, StackValue
from unnest.core.byte_code.value_domain import BEYOND_EXPRESSIONS, DomainValue, ValueDomain
from unnest.core.byte_code.variables import Variables
from unnest.core.model import Unknown


class BlockKind(Enum):
    """The statement that a block is of."""

    LOOP = "for and while, up to 3.7"
    WITH = "with"
    EXCEPT = "try with except, up to 3.7"
    FINALLY = "try with finally; of both kinds since 3.8"


class Block(NamedTuple):
    """A part of a function that something follows: where that is, and how many values are on the stack around it."""

    after: int
    depth: int
    kind: BlockKind


def _no_instructions(
    _python: Python, _code: CodeObject
) -> dict[int, tuple[Instruction | None, int]]:
    return {}


class Frame(ABC, Generic[DomainValue]):
    """One function on its way through its code, as one Python interprets it.

    A compiler has as many values on the stack at an instruction whichever way leads there, and jumps back only to code
    that it came through, with nothing on top but the iterator of the loop. A reading that does otherwise is of another
    Python, the jumps of which are counted otherwise.

    `local`: the arguments by name. `free`: the values that the function captured, in order. `work`: counts what it
    does; given by the function around it, which counts with it.
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
        self._python = python
        self._code = code
        self._domain = domain
        self._work = work or RunCost()
        self._since_311 = code.layout == "3.11"
        self._since_313 = python.release >= (3, 13)
        self._stack = OperandStack(code.stack, domain.size, self._work, self._function_value)
        self._variables = Variables(python, code, domain, local, free)
        #: Names for the last arguments of the call that comes next.
        self._keywords: tuple[str, ...] = ()
        self._next = 0
        self._depths: dict[int, int] = {}
        self._blocks: list[Block] = []
        #: What `at_offset` gave, in any run of this code.
        self._instructions: dict[int, tuple[Instruction | None, int]] = memoize(
            _no_instructions, python, code
        )

    @abstractmethod
    def _function_value(self, function: InnerFunction[DomainValue]) -> DomainValue:
        """Return an inner function as a value. Raises Unknown."""

    @property
    def values(self) -> list[DomainValue]:
        """The values on the stack, the last on top."""
        return self._stack.values

    def _instruction(self) -> Instruction:
        known = self._instructions.get(self._next)
        if known is None:
            known = self._instructions[self._next] = at_offset(
                self._python, self._code.code, self._next
            )
        instruction, self._next = known
        if instruction is None or (instruction.name in BRANCHES and not self._domain.branches):
            raise Unknown(BEYOND_EXPRESSIONS)
        return instruction

    def _next_instruction(self) -> Instruction:
        """Return the instruction that is executed now, counted. Raises Impossible."""
        self._work.step()
        if self._depths.setdefault(self._next, len(self._stack)) != len(self._stack):
            raise Impossible
        return self._instruction()

    # Used by several families of instructions

    def _entries(self, value: DomainValue) -> Sequence[DomainValue]:
        """The entries of a list or tuple."""
        return [*self._domain.iterator(value)]

    def _as_tuple(self, values: DomainValue) -> DomainValue:
        """Return `tuple(values)`. Raises Unknown."""
        to_tuple = self._domain.global_value(CommonConstant.TUPLE.value)
        return self._domain.call(to_tuple, [values], {})
