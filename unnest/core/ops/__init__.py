"""Operations: what TensorFlow's functions, Keras's and NumPy's do to tensors, each defined once (`registry`)."""

from __future__ import annotations

from unnest.core.ops import elementwise, fills, joining, opaque, products, reductions, reshaping, slicing, windows
from unnest.core.ops.registry import NODES, OPERATIONS, Kind, Operation

__all__ = [
    "NODES", "OPERATIONS", "Kind", "Operation",
    "elementwise", "fills", "joining", "opaque", "products", "reductions", "reshaping", "slicing", "windows",
]  # fmt: skip
