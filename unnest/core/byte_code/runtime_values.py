"""Values that only the machine sees: iterations, inner functions, cells, what is no value on the stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias

from unnest.core.byte_code.read_code_objects import CodeObject
from unnest.core.byte_code.value_domain import DomainValue


class Internal:
    """Base of what stack and locals hold beside values; value domains never see it."""


class Null(Internal, Enum):
    """A place without a value."""

    NULL = "where a method's object would stand"
    UNSET = "what a variable has before it has a value"


class Exit(Internal, Enum):
    """The exit of a `with` block, on the stack below the values that are computed in it; since 3.14 its object, too."""

    EXIT = "what leaves a with block"


@dataclass(eq=False, repr=False)
class Entrance(Internal, Generic[DomainValue]):
    """The method that enters a `with` block, before it is called."""

    value: DomainValue


class CommonConstant(Internal, Enum):
    """A builtin that 3.14 has at hand, to see whether a name still means it."""

    TUPLE = "tuple"
    ALL = "all"
    ANY = "any"


@dataclass(eq=False, repr=False)
class Iteration(Internal, Generic[DomainValue]):
    """The result of GET_ITER: the values still to come."""

    values: Iterator[DomainValue]


@dataclass(eq=False, repr=False)
class InnerCode(Internal):
    """The code of an inner function, before it is one."""

    code: CodeObject


@dataclass(eq=False, repr=False)
class Cell(Internal, Generic[DomainValue]):
    """A variable that a function shares with those inside of it."""

    held: StackValue[DomainValue]


@dataclass(eq=False, repr=False)
class Cells(Internal, Generic[DomainValue]):
    """The cells that an inner function captures, in its order."""

    cells: tuple[Cell[DomainValue], ...] = ()


@dataclass(eq=False, repr=False)
class InnerFunction(Internal, Generic[DomainValue]):
    """An inner function: its code, the cells that it captured, and the defaults of its last arguments."""

    code: CodeObject
    captured: tuple[Cell[DomainValue], ...]
    defaults: tuple[DomainValue, ...] = ()


StackValue: TypeAlias = "DomainValue | Internal"
