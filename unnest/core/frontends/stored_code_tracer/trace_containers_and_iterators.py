"""Lists, tuples, dictionaries, slices, iterators and truth values of stored code that is traced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

from unnest.core.frontends import python_containers
from unnest.core.frontends.python_values import (
    UNKNOWN,
    Once,
    PythonValue,
    UnknownValue,
)
from unnest.core.frontends.stored_code_tracer.tracer_base import TracerBase
from unnest.core.interpreters.trace import (
    TracedTensor,
)
from unnest.core.model import Unknown


class ContainersAndIterators(TracerBase):
    """Python's own objects, made and taken apart; a tensor is taken apart into tensors."""

    def sequence(self, kind: Literal["list", "tuple"], parts: Sequence[PythonValue]) -> PythonValue:
        """Return a Python list or tuple of the values."""
        return tuple(parts) if kind == "tuple" else list(parts)

    def mapping(
        self, entries: Sequence[tuple[PythonValue, PythonValue]], onto: PythonValue = None
    ) -> PythonValue:
        """Return a Python dictionary. Raises Unknown for keys that are no plain values."""
        if not all(isinstance(key, (bool, int, float, str, type(None))) for key, _ in entries):
            raise Unknown("a dictionary with keys that are not known")
        return {**(onto or {}), **dict(entries)}

    def extended(self, parts: PythonValue, more: PythonValue) -> PythonValue:
        """Return a new list with the items at its end."""
        return [*self.iterator(parts), *self.iterator(more)]

    def unpacked(self, value: PythonValue, count: int) -> Sequence[PythonValue]:
        """Return the `count` entries of a list, or results of an operation that may have any number of them.

        Raises Unknown.
        """
        if value is UNKNOWN:
            return [value] * count
        if isinstance(value, TracedTensor) and not value.arrays:
            return [self.subscript(value, number) for number in range(count)]
        parts = list(islice(self.iterator(value), count + 1))
        if len(parts) != count:
            raise Unknown("another number of values")
        return parts

    def slice_of(self, ends: Sequence[PythonValue]) -> PythonValue:
        """Return a Python slice of numbers, tensors and unknown values. Raises Unknown."""
        if any(
            not isinstance(end, (int, TracedTensor, UnknownValue, type(None))) for end in ends
        ) or ends[2:] == [0]:
            raise Unknown("a slice of other values than numbers")
        return slice(*ends)

    def truth(self, value: PythonValue) -> bool:
        """Return the truth of a plain value, or of a tensor of one number. Raises Unknown for others."""
        if isinstance(value, TracedTensor):
            value = self.number(value)
        if not isinstance(value, (bool, int, float, str, type(None), list)):
            raise Unknown("a branch on an unknown value")
        return bool(value)

    def iterator(self, value: PythonValue) -> Iterator[PythonValue]:
        """Return an iterator over a list, a tuple or an iterator. Raises Unknown for tensors."""
        return value.begin() if isinstance(value, Once) else python_containers.iterator(value)

    def generator(self, values: Iterator[PythonValue]) -> PythonValue:
        """Return an iterator over values, which can be read once."""
        return Once(values)
