"""Whole numbers and axes out of arguments (scalars, arrays or lists), and quotients rounded as TensorFlow rounds."""

from __future__ import annotations

import numpy as np

from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import ELEMENT, arrays_in

MOST = 1 << 63
"""Whole numbers of NumPy are smaller: it holds them in 64 bits, one of them for the sign."""


def whole_number(value: Value) -> int:
    """Return one whole number out of a scalar, an array or a list of one. Raises DataDependent, Unknown."""
    if type(value) is int and abs(value) < MOST:
        return value
    if any(a.dtype == ELEMENT for a in arrays_in(value)):
        raise DataDependent
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "iu":
        raise Unknown("a whole number")
    return int(array.reshape(-1)[0])


def whole_numbers(value: Value) -> list[int]:
    """Return the whole numbers of a list, or of an array of one axis. Raises DataDependent, Unknown."""
    if isinstance(value, (list, tuple)):
        return [whole_number(part) for part in value]
    return [whole_number(part) for part in np.atleast_1d(value)]


def axis_number(value: Value) -> int:
    """Return the axis that an argument names, 0 if it is None."""
    return 0 if value is None else whole_number(value)
