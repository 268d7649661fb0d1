"""Arrays of numbered elements of a wrapper's source: their dtype, their limits, and what may be done to them.

Elements can be moved about, and nothing else: there is no arithmetic on them, and where one of them would decide what
is moved where, `DataDependent` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from unnest.core.model import DataDependent, Unknown

Array: TypeAlias = "np.ndarray[Any, Any]"
ELEMENT = np.dtype([("element", np.int32)])
"""The type of a source's elements. It is a structure, so that NumPy itself refuses to calculate with it."""

ZERO = -1
"""The number of an element that is no element of the source but a zero."""

MAX_RESULT_ELEMENTS = 4_000_000
"""Of one result: small files may ask for large ones."""


class TooLarge(Unknown):
    """An array that no memory holds."""


MISFITS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""The ways in which NumPy, and arguments of a form not met before, say that something does not fit."""

NOT_COMPUTED = (DataDependent, Unknown, *MISFITS)
"""All that is raised where a tensor cannot be computed."""


def arrays_in(value: object) -> Iterator[Array]:
    """Yield every array in lists and tuples of any depth."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from arrays_in(part)


def check_size(elements: int) -> None:
    """Raise TooLarge for an array that no memory holds, as small files may ask for."""
    if elements > MAX_RESULT_ELEMENTS:
        raise TooLarge("an array that no memory holds")


def check_copy(*arrays: Array) -> None:
    """Raise TooLarge for views whose copies no memory holds: a view may stand for more numbers than it keeps."""
    check_size(sum(array.size for array in arrays if not array.flags.c_contiguous))


def sum_of_scattered(arrays: Sequence[Array]) -> Array:
    """Return the sum of scattered rows: each array is zero wherever another is not. Raises DataDependent otherwise."""
    if any(a.dtype != ELEMENT or a.shape != arrays[0].shape for a in arrays):
        raise DataDependent
    elements = [np.atleast_1d(a["element"]) for a in arrays]
    # Most sums are of whole tensors: their first elements tell, and nothing has to be copied.
    for parts in ([part[..., :1] for part in elements], elements):
        check_copy(*parts)
        numbers = np.stack(parts)
        if np.any(np.sum(numbers != ZERO, axis=0) > 1):
            raise DataDependent
    return np.asarray(numbers.max(axis=0).view(ELEMENT).reshape(arrays[0].shape))


def same_contents(xs: Iterable[Any]) -> list[Array]:
    """Return arrays that are to be one with one kind of content: elements (zeros among them), or plain numbers."""
    arrays = [np.asarray(x) for x in xs]
    check_size(sum(a.size for a in arrays))
    if len({a.dtype == ELEMENT for a in arrays}) > 1:
        return [a if a.dtype == ELEMENT else _zero_rows(a) for a in arrays]
    return arrays


def _zero_rows(array: Array) -> Array:
    """Return an array of zeros as elements. Raises Unknown for other numbers, which are not the source's."""
    if np.any(array):
        raise Unknown("numbers that are not the source's")
    return no_rows(array.shape)


def no_rows(shape: Sequence[int]) -> Array:
    """Return zeros of `shape` as elements, over which rows may be put."""
    return np.full(shape, ZERO, np.int32).view(ELEMENT).reshape(shape)
