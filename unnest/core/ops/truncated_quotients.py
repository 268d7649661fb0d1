"""Quotients of numbers, rounded as TensorFlow rounds."""

from __future__ import annotations

import numpy as np

from unnest.core.ops.element_dtype_and_checks import (
    Array,
)


def truncated_quotient(x: Array, y: Array) -> Array:
    """Return x / y; of whole numbers towards zero."""
    return (
        np.trunc(x / y).astype(np.int64) if x.dtype.kind in "iu" and y.dtype.kind in "iu" else x / y
    )


def whole_quotient(x: Array, y: Array) -> Array:
    """Return x / y towards zero, of fractions too."""
    quotient = np.trunc(x / y)
    return quotient.astype(np.int64) if x.dtype.kind in "iu" and y.dtype.kind in "iu" else quotient
