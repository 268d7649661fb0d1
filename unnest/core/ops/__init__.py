"""Operations: what TensorFlow's functions, Keras's and NumPy's do to tensors, each defined once.

Start at `registry`: every entry (`operation_entry`) stands in a module of `families`. They are imported here, so that
the registry is full whichever module of the package is asked.
"""

from __future__ import annotations

from unnest.core.ops.families import (
    activations_and_unary_math,
    arithmetic_comparisons_and_where,
    convolution_and_pooling,
    ctc_loss,
    images,
    joining,
    opaque_ops_and_claimed_rows,
    padding_and_scatter,
    products,
    python_and_math_functions,
    reductions_scans_and_sorts,
    reshaping,
    reversing_and_repeating,
    shape_and_dtype,
    slicing,
    tensor_creation,
)

__all__ = [
    "activations_and_unary_math", "arithmetic_comparisons_and_where", "convolution_and_pooling", "ctc_loss",
    "images", "joining", "opaque_ops_and_claimed_rows", "padding_and_scatter", "products",
    "python_and_math_functions", "reductions_scans_and_sorts", "reshaping", "reversing_and_repeating",
    "shape_and_dtype", "slicing", "tensor_creation",
]  # fmt: skip
