"""Instructions that build lists, tuples, dictionaries and slices, take them apart, and subscribe values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from unnest.core.byte_code.frame import Frame
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible
from unnest.core.byte_code.runtime_values import Cell, Cells
from unnest.core.byte_code.value_domain import (
    DomainValue,
)
from unnest.core.model import Unknown


class ContainerInstructions(Frame[DomainValue]):
    """A frame that builds containers and takes them apart."""

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

    CONTAINERS: ClassVar[Mapping[str, Callable[[ContainerInstructions[Any], int], object]]] = {
        "BUILD_TUPLE": _build_tuple,
        "BUILD_LIST": _build_list,
        "BUILD_MAP": _build_map,
        "STORE_MAP": lambda self, _: self._store_map(),
        "BUILD_CONST_KEY_MAP": _build_const_key_map,
        "BUILD_LIST_UNPACK": lambda self, count: self._join_sequences(count, "list"),
        "BUILD_TUPLE_UNPACK": lambda self, count: self._join_sequences(count, "tuple"),
        "BUILD_TUPLE_UNPACK_WITH_CALL": lambda self, count: self._join_sequences(count, "tuple"),
        "UNPACK_SEQUENCE": _unpack,
        "UNPACK_EX": _unpack_with_rest,
        "BUILD_SLICE": _build_slice,
        "BINARY_SLICE": lambda self, _: self._binary_slice(),
        "BINARY_SUBSCR": lambda self, _: self._subscript(),
        "STORE_SUBSCR": lambda self, _: self._store_subscript(),
        "SLICE+0": lambda self, _: self._slice_of_python_2(0),
        "SLICE+1": lambda self, _: self._slice_of_python_2(1),
        "SLICE+2": lambda self, _: self._slice_of_python_2(2),
        "SLICE+3": lambda self, _: self._slice_of_python_2(3),
    }
    """Instructions on containers and subscripts, by name -> the method that carries them out."""
