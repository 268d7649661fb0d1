"""Operations that join tensors: concatenation along an axis, and stacks along a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnest.core.model import Shape
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import ELEMENT, Array, same_contents
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_entry import Theano
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.read_whole_numbers import axis_number
from unnest.core.ops.registry import operation, shape_rule
from unnest.core.ops.shape_arithmetic import (
    axis_of,
    concatenated_shape,
    shapes_of,
    stacked,
)

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import Items, SymbolicTensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall


@operation(
    "concat concatenate",
    "xs axis",
    Kind.CONCATENATE,
    nodes={"ConcatV2": "*xs axis", "Concat": "axis *xs"},
)
def concat(xs: Value, axis: Value = 0) -> Array:
    """Return arrays concatenated along an axis; one array that is in no list is returned unchanged."""
    arrays = same_contents(xs if isinstance(xs, (list, tuple)) else [xs])
    is_of_elements = bool(arrays) and arrays[0].dtype == ELEMENT
    # Else NumPy would look for a structure that holds all of these, which takes longer than to join them.
    return np.concatenate(arrays, axis_number(axis), dtype=ELEMENT if is_of_elements else None)


@shape_rule("concat")
def concat_shape(xs: Value, axis: Value = 0) -> Shape:
    """Shape of a concatenation: the sum of the sizes along the axis."""
    shapes = shapes_of(xs)
    return concatenated_shape(shapes, axis_of(axis, len(shapes[0])))


@keras3("K.concatenate keras.layers.concatenate", "tensors|inputs axis=-1", theano=Theano.SAME)
def concatenate_nodes(call: FunctionCall) -> SymbolicTensor | Items:
    """Nodes of a concatenation, along the last axis by default."""
    return concat_nodes(call)


@keras3("tf.concat", "tensors|values axis|concat_dim")
def concat_nodes(call: FunctionCall) -> SymbolicTensor | Items:
    """Return the join of tensors, which must be of one dtype; of shapes their sizes."""
    sizes = call.sizes_of_list("tensors")
    if sizes is not None:
        return sizes
    return call.op("Concatenate", call.tensors("tensors"), axis=call.integer("axis"))


@keras3("tf.nn.crelu", "x|features * axis=-1")
def crelu_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a CReLU: the positive part, and behind it the negative part with its sign changed."""
    x = call.floats("x")
    parts = [call.op("Relu", x), call.op("Relu", call.calculate("Negative", x))]
    return call.op("Concatenate", parts, axis=call.integer("axis"))


@operation("vstack row_stack", "xs", Kind.CONCATENATE)
def vstack(xs: Value) -> Array:
    """Return arrays concatenated along axis 0."""
    return concat(xs)


@operation("hstack", "xs", Kind.CONCATENATE)
def hstack(xs: Value) -> Array:
    """Return arrays concatenated along axis 1, vectors along axis 0."""
    arrays = same_contents(xs)
    return np.concatenate(arrays, min(1, arrays[0].ndim - 1))


@shape_rule("hstack")
def hstack_shape(xs: Value) -> Shape:
    """Shape of an hstack: the sum of the sizes along the axis."""
    shapes = shapes_of(xs)
    return concatenated_shape(shapes, axis_of(min(1, len(shapes[0]) - 1), len(shapes[0])))


@operation("stack pack", "xs axis", Kind.STACK, nodes={"Pack": "*xs @axis"})
def stack(xs: Value, axis: Value = 0) -> Array:
    """Return arrays stacked along a new axis."""
    return np.stack(same_contents(xs), axis_number(axis))


@shape_rule("stack")
def stack_shape(xs: Value, axis: Value = 0) -> Shape:
    """Shape of a stack: a new axis with an entry for each tensor."""
    shapes = shapes_of(xs)
    shape = stacked(shapes)
    place = axis_of(axis, len(shape) + 1)
    return (*shape[:place], len(shapes), *shape[place:])


@keras3("K.stack tf.stack", "tensors|x|values axis=0", theano=Theano.SAME)
def stack_nodes(call: FunctionCall) -> SymbolicTensor | Items:
    """Nodes of a stack along a new axis. A stack of sizes is a list of sizes still: one way to write a shape."""
    if call.is_list("tensors") and not call.holds_tensors_alone("tensors"):
        call.only(axis=0)
        return call.stored_sizes("tensors")
    return call.op("Stack", call.tensors("tensors"), axis=call.integer("axis"))


@operation("append", "x|x1 updates|x2|values axis", Kind.CONCATENATE)
def append(x: Array, updates: Value, axis: Value = None) -> Array:
    """Return one tensor behind another along an axis; both flattened if no axis is named."""
    arrays = same_contents([x, updates])
    return np.concatenate(
        [a.reshape(-1) for a in arrays] if axis is None else arrays, axis_number(axis)
    )
