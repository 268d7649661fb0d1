"""The variables and constants of a function, by the numbers that its instructions have for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic

from unnest.core.byte_code.machine_errors_and_run_cost import Impossible, entry
from unnest.core.byte_code.opcode_tables import Python
from unnest.core.byte_code.read_code_objects import CodeObject, CodeSlice, Constant
from unnest.core.byte_code.runtime_values import (
    Cell,
    InnerCode,
    InnerFunction,
    Internal,
    Null,
    StackValue,
)
from unnest.core.byte_code.value_domain import INNER_FUNCTION, DomainValue, ValueDomain
from unnest.core.model import Unknown

PYTHON_2_NAMES = {"True": True, "False": False}
"""What became constants with Python 3."""


class Variables(Generic[DomainValue]):
    """The variables of one running function.

    `local`: its arguments; `free`: the values that it captured, in order; a cell is shared with the function around it.
    Methods raise Impossible for numbers that the code does not have, and for variables without a value: the function
    has run, or the model could not have been made.
    """

    def __init__(
        self,
        python: Python,
        code: CodeObject,
        domain: ValueDomain[DomainValue],
        local: Mapping[str, StackValue[DomainValue]],
        free: Sequence[DomainValue | Cell[DomainValue]],
    ) -> None:
        self._code = code
        self._domain = domain
        self._local: dict[str, StackValue[DomainValue]] = dict(local)
        if domain.branches:
            self._local |= {name: Cell(self._local.get(name, Null.UNSET)) for name in code.cells}
        captured = (value if isinstance(value, Cell) else Cell(value) for value in free)
        self._local |= dict(zip(code.free, captured, strict=False))
        self._constants: dict[int, DomainValue] = {}
        self._slots = code.slots if code.layout == "3.11" else code.locals
        self._loads_cells = python.release >= (3, 13) and domain.branches

    # Locals

    def name(self, index: int) -> str:
        """Return the name of a local variable."""
        return entry(self._slots, index)

    def local(self, index: int) -> StackValue[DomainValue]:
        """Return the content of a local variable; since 3.13 that may be a cell, for a function that captures it.

        Raises Impossible, Unknown.
        """
        name = self.name(index)
        held = self._local.get(name, Null.UNSET)
        if isinstance(held, Null) or (isinstance(held, Cell) and not self._loads_cells):
            if name in self._code.cells:
                raise Unknown("a cell")
            raise Impossible
        return held

    def store(self, name: str, held: StackValue[DomainValue]) -> None:
        """Set a local variable; its old value is dropped. Raises Impossible, Unknown."""
        if held is Null.UNSET:
            self._local.pop(name, None)
            return
        if not isinstance(held, Cell) and self._is_shared(name):
            raise Unknown("a cell")
        if isinstance(held, Internal) and not isinstance(held, (Cell, InnerFunction)):
            raise Impossible
        self._local[name] = held

    def _is_shared(self, name: str) -> bool:
        """Return True if a variable has a cell that is not hidden by a comprehension's variable of that name."""
        if self._domain.branches and name in self._code.cells:
            return isinstance(self._local.get(name), Cell)
        return name not in self._code.locals or name in self._code.cells

    def hide_local(self, index: int) -> StackValue[DomainValue]:
        """Hide a variable while a comprehension has one of its name, and return its content."""
        return self._local.pop(self.name(index), Null.UNSET)

    # Cells

    def make_cell(self, index: int) -> None:
        """Turn a variable into a cell, which inner functions share."""
        name = entry(self._code.slots, index)
        self._local[name] = Cell(self._local.get(name, Null.UNSET))

    def cell(self, index: int) -> Cell[DomainValue]:
        """Return the cell of a variable that functions share. Raises Impossible, Unknown."""
        name = entry(self._code.slots, index)
        held = self._local.get(name)
        if isinstance(held, Cell):
            return held
        if name in self._code.free:
            raise Unknown(f"`{name}`, whose value is not stored")
        if not self._domain.branches:
            raise Unknown("a variable that inner functions share")
        raise Impossible

    def own_cell(self, index: int) -> Cell[DomainValue]:
        """Return a cell of this function, to be assigned. Raises Unknown for a variable of an enclosing function."""
        cell = self.cell(index)
        if entry(self._code.slots, index) not in self._code.cells:
            raise Unknown("a variable of the function around it")
        return cell

    # Globals and constants

    def global_at(self, index: int) -> DomainValue:
        """Return a global or builtin by the index of its name."""
        name = entry(self._code.names, index)
        if self._code.layout == "2" and name in PYTHON_2_NAMES:
            return self._domain.constant(PYTHON_2_NAMES[name])
        return self._domain.global_value(name)

    def constant(self, index: int) -> DomainValue:
        """Return a constant, the same object each time."""
        if index not in self._constants:
            self._constants[index] = self._value(entry(self._code.constants, index))
        return self._constants[index]

    def constant_or_code(self, index: int) -> DomainValue | InnerCode:
        """Return a constant, or an inner function's code if inner functions are followed."""
        stored = entry(self._code.constants, index)
        if isinstance(stored, CodeObject) and self._domain.branches:
            return InnerCode(stored)
        return self.constant(index)

    def _value(self, constant: Constant) -> DomainValue:
        """Return a stored constant as a value of the domain. Raises Unknown for others."""
        if isinstance(constant, tuple):
            return self._domain.sequence("tuple", [self._value(part) for part in constant])
        if isinstance(constant, CodeSlice):
            ends = [
                constant.start,
                constant.stop,
                *([] if constant.step is None else [constant.step]),
            ]
            return self._domain.slice_of([self._value(end) for end in ends])
        if isinstance(constant, bytes) and self._code.layout == "2" and constant.isascii():
            return self._domain.constant(constant.decode("ascii"))
        if constant is None or constant is ... or isinstance(constant, (bool, int, float, str)):
            return self._domain.constant(constant)
        raise Unknown(
            INNER_FUNCTION if isinstance(constant, CodeObject) else "a constant of another kind"
        )
