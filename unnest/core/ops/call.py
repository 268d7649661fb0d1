"""The call of an operation, whichever file format stores it: a name, and its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from unnest.core.model import Ref

Value: TypeAlias = Any
"""An argument: a Ref for a tensor, an array, a number, text, None, a slice, or a list or object of such."""


class OpCall(NamedTuple):
    """The plain name of a function (`plain_name`), and its arguments: tensors as they are stored, or Refs."""

    name: str
    args: Sequence[Value]
    kwargs: Mapping[str, Value]


def plain_name(name: str) -> str:
    """Return the last part of a function's name in one spelling: `tf.strided_slice` and `StridedSlice` are one."""
    if name.endswith("linalg.normalize"):
        return "normalizewhole"  # by the norm of all, where Keras's `normalize` takes that of the last axis
    return name.rpartition(".")[2].replace("_", "").lower()


def refs_in(values: Iterable[Value]) -> Iterator[Ref]:
    """Yield the tensors among arguments, and in lists and slices among them."""
    for value in values:
        if isinstance(value, Ref):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from refs_in(value)
        elif isinstance(value, slice):
            yield from refs_in((value.start, value.stop, value.step))
