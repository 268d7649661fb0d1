"""Operations: what TensorFlow's functions, Keras's and NumPy's do to tensors, each defined once (`registry`)."""

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
from unnest.core.ops.functions import FUNCTIONS
from unnest.core.ops.registry import CLASSES, NODES, OPERATIONS, SYMBOLS, Kind, Operation

__all__ = [
    "CLASSES", "FUNCTIONS", "NODES", "OPERATIONS", "SYMBOLS", "Kind", "Operation", "arithmetic", "elementwise", "fills",
    "images", "joining", "opaque", "plain_functions", "products", "reductions", "reshaping", "sequences", "slicing",
    "windows",
]  # fmt: skip
