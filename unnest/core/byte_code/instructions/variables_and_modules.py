"""Instructions that load and store variables, and load constants, globals, attributes and modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from unnest.core.byte_code.frame import Frame
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible, entry
from unnest.core.byte_code.runtime_values import InnerFunction, Internal, Null
from unnest.core.byte_code.value_domain import (
    DomainValue,
)
from unnest.core.model import Unknown

PACKAGES = frozenset({"tensorflow", "keras", "numpy", "math", "functools"})
"""Packages that code may import; code that imports another is not followed."""

SMALL_INTEGERS = 256
"""The integers that 3.14 keeps in an instruction: those below."""


class VariableInstructions(Frame[DomainValue]):
    """A frame that loads and stores variables; two instructions in one (3.13 on) have two indices in their argument."""

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

    def _pair(self, first: Callable[[int], None], second: Callable[[int], None], pair: int) -> None:
        first(pair >> 4)
        second(pair & 15)

    VARIABLES: ClassVar[Mapping[str, Callable[[VariableInstructions[Any], int], object]]] = {
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
    }
    """Instructions on variables, attributes and modules, by name -> the method that carries them out."""
