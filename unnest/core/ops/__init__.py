"""Operations: what TensorFlow's functions, Keras's and NumPy's do to tensors, each defined once (`registry`).

The families are imported here, so that the registry is full whichever module of the package is asked.
"""

from __future__ import annotations

from unnest.core.ops import (
    arithmetic,
    elementwise,
    fills,
    images,
    joining,
    opaque,
    plain_functions,
    products,
    reductions,
    reshaping,
    sequences,
    slicing,
    windows,
)

__all__ = [
    "arithmetic", "elementwise", "fills", "images", "joining", "opaque", "plain_functions", "products", "reductions",
    "reshaping", "sequences", "slicing", "windows",
]  # fmt: skip
