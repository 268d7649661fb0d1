"""Operations: what TensorFlow's functions, Keras's and NumPy's do to tensors, each defined once (`registry`).

The families are imported here, so that the registry is full whichever module of the package is asked.
"""

from __future__ import annotations

from unnest.core.ops import (
    arithmetic,
    axis_operations,
    constant_functions,
    control_flow_and_claimed_rows,
    convolution_and_pooling,
    ctc_loss,
    elementwise,
    images,
    joining,
    padding_and_scatter,
    products,
    reshaping,
    shape_and_dtype,
    slicing,
    tensor_creation,
)

__all__ = [
    "arithmetic", "axis_operations", "constant_functions", "control_flow_and_claimed_rows", "convolution_and_pooling",
    "ctc_loss", "elementwise", "images", "joining", "padding_and_scatter", "products", "reshaping", "shape_and_dtype",
    "slicing", "tensor_creation",
]  # fmt: skip
