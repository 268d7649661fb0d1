"""Operations on the shape and the dtype of a tensor: its sizes, its number of axes, casts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import ELEMENT, Array
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_entry import Theano
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.read_whole_numbers import whole_numbers
from unnest.core.ops.registry import operation

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import (
        Const,
        ConstantArray,
        ShapeTuple,
        Size,
        SymbolicTensor,
    )
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall


FLOAT = "float32"


@operation("shape", "x", Kind.SIZE)
def shape(x: Value) -> Array:
    """Return the sizes of all axes."""
    return np.array(np.shape(x), np.int64)


@keras3("K.int_shape", "x", theano=Theano.SAME)
def int_shape_nodes(call: FunctionCall) -> ShapeTuple:
    """The sizes as Python numbers (`K.int_shape`), None for those that only a run knows."""
    return replace(call.shape(call.tensor("x")), kind="tuple")


@keras3("K.shape", "x")
def backend_shape_nodes(call: FunctionCall) -> ShapeTuple:
    """The sizes as a tensor (`K.shape`)."""
    return replace(call.shape(call.tensor("x")), kind="tensor")


@keras3("tf.shape", 'x|input out_type="int32"')
def shape_nodes(call: FunctionCall) -> ShapeTuple:
    """The sizes as a tensor (`tf.shape`). Raises Unknown."""
    if call.dtype("out_type") not in {"int32", "int64"}:
        raise Unknown("a shape of another dtype")
    return replace(call.shape(call.tensor("x")), kind="tensor")


@operation("shape_n", "xs", Kind.CONTROL, nodes={"ShapeN": "*xs"})
def shape_n(xs: Value) -> list[Array]:
    """Return the sizes of several arrays."""
    return [shape(x) for x in xs]


@operation("size", "x", Kind.SIZE)
def size(x: Value) -> Array:
    """Return the number of elements."""
    return np.array(np.size(x))


@operation("rank ndim", "x", Kind.CONTROL)
def rank(x: Value) -> Array:
    """Return the number of axes."""
    return np.array(np.ndim(x))


@keras3("K.ndim", "x", theano=Theano.SAME)
def ndim_nodes(call: FunctionCall) -> Const:
    """Return the number of axes as a Python number."""
    return call.constant(len(call.shape(call.tensor("x")).dimensions))


@operation("cast", "x dtype", Kind.MAP, nodes={"Cast": "x @DstT:dtype"})
def cast(x: Value, dtype: Value = None) -> Array:
    """Return the numbers in another dtype. Raises DataDependent for elements, whose values may change, and Unknown."""
    array, name = np.asarray(x), str(dtype).lower().removeprefix("dt_")
    if array.dtype == ELEMENT:
        raise DataDependent
    known = {
        "bool": np.bool_,
        "half": np.float16,
        "float16": np.float16,
        "double": np.float64,
        "float64": np.float64,
    }
    if name in known:
        return array.astype(known[name])
    if name in ("float", "float32", "bfloat16"):
        return array.astype(np.float32)
    if "int" in name:
        return array.astype(np.int64)
    raise Unknown(f"the dtype {dtype}")


@keras3("K.cast tf.cast", "x|value dtype", theano=Theano.USUALLY)
def cast_nodes(call: FunctionCall) -> SymbolicTensor | ConstantArray | Const | Size:
    """Nodes of a cast of a tensor, of one size of a shape, or of a constant array."""
    dtype = call.dtype("dtype")
    size = call.size("x")
    if size is not None and dtype in {"int32", FLOAT}:
        number = replace(call.op("Cast", call.tensor("x"), dtype=dtype), dtype=dtype)
        return (
            size
            if dtype == "int32" and call.holds_whole_numbers("x")
            else replace(size, number=number)
        )
    known = call.sizes_if_known("x")
    if known is not None and dtype == FLOAT:
        return call.rounded(known, "tensor")
    if call.is_integer("x") and dtype == FLOAT:
        return call.constant(float(call.number("x")))
    if call.is_array("x") and dtype == FLOAT:
        return call.rounded(call.nested("x"), "tensor")
    return replace(call.op("Cast", call.tensor("x"), dtype=dtype), dtype=dtype)


@keras3("tf.to_float", "x")
def to_float_nodes(call: FunctionCall) -> SymbolicTensor:
    """Return the node of TensorFlow 1's cast to float32."""
    return replace(call.op("Cast", call.tensor("x"), dtype=FLOAT), dtype=FLOAT)


@keras3("K.cast_to_floatx", "x")
def cast_to_floatx_nodes(call: FunctionCall) -> ConstantArray:
    """The argument as a NumPy array (`K.cast_to_floatx`). Raises Unknown."""
    if not call.is_numpy_array("x"):
        raise Unknown("what may not be an array of NumPy's")
    return call.array("x", "float32")


@operation("broadcast_args", "x y", Kind.NUMBERS)
def broadcast_args(x: Value, y: Value) -> Array:
    """Return the shape to which two shapes are broadcast."""
    return np.array(np.broadcast_shapes(whole_numbers(x), whole_numbers(y)))
