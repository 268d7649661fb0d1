"""One call of a function that is known, and the nodes of Keras 3 to compute it with.

How nodes are made is left to a subclass, which knows the shapes of their results
(`core/keras3/lambdas/names_and_calls.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from types import EllipsisType
from typing import TypeAlias

from unnest.core.keras3_op_node import OpNode
from unnest.core.model import Json, Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    FLOAT,
    ArrayKind,
    Const,
    ConstantArray,
    Items,
    ShapeTuple,
    Size,
    SymbolicTensor,
    SymbolicValue,
    as_floats,
    as_integers,
    constant,
    fits_32_bits,
    holds_fractions,
    items,
    kind,
    nested_sizes,
    part,
)
from unnest.core.ops.keras3_nodes.function_arguments import SIZE_OF_NO_TENSOR, FunctionArguments

Argument: TypeAlias = "SymbolicTensor | Sequence[SymbolicTensor] | Json"
"""What an operation of Keras 3 is called on: a tensor, a list of tensors, or a constant."""

Key: TypeAlias = "slice | int | EllipsisType | None"
"""One part of a subscript."""


class FunctionCall(FunctionArguments, ABC):
    """One call: its arguments, and the nodes to compute it with. Methods raise Unknown."""

    __slots__ = ()

    @abstractmethod
    def op(self, class_name: str, *args: Argument, **config: Json) -> SymbolicTensor:
        """Return a call of a Keras 3 operation with these constructor arguments; its dtype is the first tensor's."""

    @abstractmethod
    def layer(self, class_name: str, x: SymbolicTensor, **config: Json) -> SymbolicTensor:
        """Return a call of a Keras 3 layer in place of an operation."""

    @abstractmethod
    def calculate(self, class_name: str, *sides: SymbolicValue | float) -> SymbolicTensor:
        """Return an elementwise operation on tensors of one dtype, numbers and constant arrays."""

    @abstractmethod
    def subscript(self, x: SymbolicTensor, *keys: Key) -> SymbolicTensor:
        """Return `x[keys]`."""

    @abstractmethod
    def zeros_along(self, x: SymbolicTensor, axis: int) -> SymbolicTensor:
        """Return a vector of float32 zeros, as long as an axis of a tensor. Raises Unknown."""

    @abstractmethod
    def number_of(self, size: Size) -> SymbolicTensor:
        """Return a size as an int32 scalar. Raises Unknown."""

    @abstractmethod
    def sum(self, name: str) -> SymbolicValue:
        """Return the sum of a list's items."""

    @abstractmethod
    def rounded(self, nested: object, array_kind: ArrayKind) -> ConstantArray:
        """Return an array of known numbers, rounded as its dtype rounds them."""

    @abstractmethod
    def array(self, name: str, array_kind: ArrayKind | None = None) -> ConstantArray:
        """Return a list or array of numbers as an array; if no dtype is named, NumPy's choice."""

    @abstractmethod
    def array_reshaped(self, made: ConstantArray, shape: Sequence[int]) -> ConstantArray:
        """Return the numbers of an array, in row-major order, in another shape."""

    @abstractmethod
    def array_with_axis(self, made: ConstantArray, axis: int) -> ConstantArray:
        """Return an array with one more axis, of size 1."""

    def tensor(self, name: str) -> SymbolicTensor:
        """Return an argument that is a tensor of any dtype, or a size, or sizes, as one. Raises Unknown otherwise."""
        value = self[name]
        if isinstance(value, Size):
            return self.number_of(value)
        is_list = isinstance(value, Items) and value.kind == "stored"
        if is_list or self.is_shape_tensor(name):
            sizes = self.sizes(name)
            unknown = next((size for size in sizes if isinstance(size, Size)), None)
            if unknown is not None:
                return self._tensor_of_sizes(sizes, self.number_of(unknown))
        return super().tensor(name)

    def _tensor_of_sizes(
        self, sizes: Sequence[int | Size], number: SymbolicTensor
    ) -> SymbolicTensor:
        """Return an int32 vector of sizes; `number` is one of those that are not known. Raises Unknown."""
        zero = self.calculate("Multiply", number, 0)
        numbers = [
            self.number_of(size) if isinstance(size, Size) else self.calculate("Add", zero, size)
            for size in sizes
        ]
        return self.op("Stack", numbers, axis=0)

    def each_number(
        self, class_name: str, x: SymbolicTensor | None = None, **config: Json
    ) -> SymbolicTensor:
        """Return an elementwise operation on `x`, by default the argument of that name, which must hold floats."""
        x = self.floats("x") if x is None else x
        return replace(self.op(class_name, x, **config), shape=x.shape, rows=x.rows)

    def zeros_of_sizes(
        self, sizes: Sequence[int | Size], dtype: str = FLOAT
    ) -> SymbolicTensor | None:
        """Return zeros with one entry along each axis of a known size; None if all are known. Raises Unknown."""
        made: SymbolicTensor | None = None
        for axis, size in enumerate(sizes):
            if isinstance(size, Size):
                zeros = self._zeros_of_size(size)
                if len(sizes) > 1:
                    newshape: Json = [-1 if k == axis else 1 for k in range(len(sizes))]
                    zeros = self.op("Reshape", zeros, newshape=newshape)
                made = zeros if made is None else self.calculate("Add", made, zeros)
        if made is None or dtype == FLOAT:
            return made
        return replace(self.op("Cast", made, dtype=dtype), dtype=dtype)

    def _zeros_of_size(self, size: Size) -> SymbolicTensor:
        """Return a vector of float32 zeros, as long as a size of a tensor. Raises Unknown."""
        like = None if size.rows is None else self.dialect.tensor_with_rows(size.rows)
        x = size.tensor if like is None else like
        if x is None:
            raise Unknown(SIZE_OF_NO_TENSOR)
        return self.zeros_along(x, size.axis)

    def whole_numbers_below(self, size: Size) -> SymbolicTensor:
        """Return the int32 vector of the whole numbers from 0 up to and without a size. Raises Unknown."""
        zeros = replace(self.op("Cast", self._zeros_of_size(size), dtype="int32"), dtype="int32")
        return self.calculate(
            "Subtract", self.op("Cumsum", self.calculate("Add", zeros, 1), axis=0), 1
        )

    def array_as_tensor(self, array: ConstantArray) -> SymbolicTensor:
        """Return a constant array as a tensor, of int32 if all its numbers are whole. Raises Unknown."""
        like = self.dialect.tensor_with_rows(None)
        if like is None:
            raise Unknown(SIZE_OF_NO_TENSOR)
        zero = self.op("Sum", self.zeros_along(like, 0), axis=None, keepdims=False)
        numbers = array.value
        if array.numbers is not None or holds_fractions(numbers):
            return self.calculate("Add", zero, array)
        return self.integers_added(zero, array)

    def integers_added(self, zeros: SymbolicTensor, array: ConstantArray) -> SymbolicTensor:
        """Return an int32 tensor of float zeros and the whole numbers of an array."""
        whole = self.op("Add", self.op("Cast", zeros, dtype="int32"), as_integers(array.value))
        return replace(whole, dtype="int32")

    def repeated(self, x: SymbolicTensor, counts: Sequence[int | Size]) -> SymbolicTensor:
        """Return a tensor repeated along each axis with a known count; the others have their size. Raises Unknown."""
        repeats = [count if isinstance(count, int) else 1 for count in counts]
        if min(repeats) < 1:
            raise Unknown("a tensor without entries")
        return x if all(count == 1 for count in repeats) else self.op("Tile", x, repeats=repeats)

    def added_to_zeros(self, name: str, sizes: Sequence[int | Size]) -> SymbolicTensor:
        """Return an argument with as many entries along axes as sizes say that are not known. Raises Unknown.

        The argument is a tensor or a constant array; a sum with zeros broadcasts it.
        """
        if self.is_tensor(name):
            x = self.numbers(name)
            zeros = self.zeros_of_sizes(sizes, x.dtype)
            if zeros is not None:
                return self.calculate("Add", x, zeros)
            axes = len(sizes) - len(x.shape or ())
            return self.subscript(x, *[None] * axes, ...) if axes else x
        zeros, whole = self.zeros_of_sizes(sizes), self.whole_numbers(name)
        if zeros is None:
            raise Unknown("a constant that is repeated as often as is known")
        if whole is None:
            return self.calculate("Add", zeros, self.float_array(name))
        return self.integers_added(zeros, whole)

    def array_sizes(self, name: str) -> tuple[int, ...]:
        """Return the sizes of a constant array. Raises Unknown for lists of different lengths, and anything else."""
        nested = self.nested(name)
        if nested is None:
            raise Unknown(f"{kind(self[name])} in a tensor's place")
        return nested_sizes(nested)

    def float_array(self, name: str) -> ConstantArray:
        """Return an argument that TensorFlow makes a float32 tensor of. Raises Unknown for anything else."""
        value = self[name]
        if isinstance(value, ConstantArray) and value.numbers not in {"float32", "tensor"}:
            raise Unknown("a tensor of 64 bits, or of integers")
        if not self.holds_floats(name):
            raise Unknown("a tensor of integers")
        return self.array(name, "tensor")

    def output(self, whole: SymbolicTensor, index: int) -> SymbolicTensor:
        """Return output `index` of an operation with several outputs."""
        return part(whole, index)

    def padded(self, x: SymbolicTensor, widths: Json, value: Json) -> SymbolicTensor:
        """Return a tensor padded by a value; `widths` has (before, behind) for each axis.

        The value is an argument of Keras 3's call, and not of its class.
        """
        made = self.op("Pad", x, pad_width=widths, mode="constant")
        assert isinstance(made.operand, OpNode)
        return replace(made, operand=replace(made.operand, kwargs={"constant_values": value}))

    def axis_size(self, tensor: SymbolicTensor, axis: int) -> int | None:
        """Return the size of an axis; None if unknown."""
        shape = tensor.shape
        return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None

    def shape(self, x: SymbolicTensor) -> ShapeTuple:
        """Return the sizes of a tensor."""
        return shape_of(x)

    def constant(self, value: float | str) -> Const:
        """Return a Python number or string as a value."""
        return constant(value)

    def constant_of_32_bits(self, value: float) -> Const:
        """Return a number that a 32-bit tensor holds as a value. Raises Unknown for others."""
        if not fits_32_bits(value):
            raise Unknown("a number beyond 32 bits")
        return constant(value)

    def list_of(self, values: Sequence[SymbolicValue]) -> Items:
        """Return a list of tensors, the value of a function with several results."""
        return items("list", values)

    # Constant arrays

    def constant_array(self, nested: Json, array_kind: ArrayKind | None = None) -> ConstantArray:
        """Return an array of known numbers."""
        return ConstantArray(nested, "", numbers=array_kind)

    def stored_floats(self, nested: Json) -> Json:
        """Return a constant array as Keras 3 stores it in JSON, float32."""
        return as_floats(nested)


def shape_of(tensor: SymbolicTensor) -> ShapeTuple:
    """Return the sizes of a tensor as Python sees them, the batch unknown.

    Raises:
        Unknown: Where not even their number is known.

    """
    if tensor.shape is None:
        raise Unknown("a shape that is not known")
    sizes = [
        Size("", tensor, axis) if size is None else size for axis, size in enumerate(tensor.shape)
    ]
    return ShapeTuple(tuple(sizes), "shape", "")
