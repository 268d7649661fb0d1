"""One call of a function that is known: its arguments by name, and the nodes of Keras 3 to compute it with.

How nodes are made is left to a subclass, which knows the shapes of their results
(`core/keras3/lambdas/names_and_calls.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    Libraries,
    LibraryName,
    ShapeTuple,
    Size,
    SymbolicTensor,
    SymbolicValue,
    as_floats,
    constant,
    entries_of,
    fits_32_bits,
    holds_fractions,
    items,
    kind,
    nested_numbers,
    nested_sizes,
    number,
    part,
)

CAST_DTYPES = ("float32", "int32", "int64", "uint8", "bool")
"""Those that a cast gives the same numbers in on all backends."""

ROWS_OF_NO_TENSOR = "a number of rows that no tensor of known shape shows"

CHANNELS_COME_LAST = {"channels_last": True, "tf": True, "channels_first": False, "th": False}
"""Keras's words, of Keras 2 and of Keras 1 -> whether the channels come last."""

Argument: TypeAlias = "SymbolicTensor | Sequence[SymbolicTensor] | Json"
"""What an operation of Keras 3 is called on: a tensor, a list of tensors, or a constant."""

Key: TypeAlias = "slice | int | EllipsisType | None"
"""One part of a subscript."""


@dataclass(frozen=True, slots=True)
class FunctionCall(ABC):
    """The arguments of one call by their first names in the signature. Methods raise Unknown."""

    values: Mapping[str, SymbolicValue]
    dialect: Libraries

    def __getitem__(self, name: str) -> SymbolicValue:
        return self.values[name]

    def tensor(self, name: str) -> SymbolicTensor:
        """Return an argument that is a tensor of any dtype. Raises Unknown for anything else."""
        value = self[name]
        if not isinstance(value, SymbolicTensor):
            raise Unknown(f"{kind(value)} in a tensor's place")
        return value

    def floats(self, name: str) -> SymbolicTensor:
        """Return an argument that is a tensor of floats. Raises Unknown for anything else."""
        value = self.tensor(name)
        if value.dtype != FLOAT:
            raise Unknown(f"arithmetic on {value.dtype}")
        return value

    def tensors(self, name: str) -> list[SymbolicTensor]:
        """Return an argument that is a list of tensors of one dtype. Raises Unknown for anything else."""
        value = self[name]
        if not isinstance(value, Items) or not value.items:
            raise Unknown(f"{kind(value)} in the place of a list of tensors")
        parts = [part for part in value.items if isinstance(part, SymbolicTensor)]
        if len(parts) != len(value.items) or len({part.dtype for part in parts}) > 1:
            raise Unknown("a list that holds more than tensors of one kind")
        return parts

    def number(self, name: str) -> int | float:
        """Return an argument that is a plain number. Raises Unknown for anything else."""
        value = number(self[name])
        if value is None:
            raise Unknown(f"{kind(self[name])} in a number's place")
        return value

    def integer(self, name: str) -> int:
        """Return an argument that is a plain integer. Raises Unknown for anything else."""
        value = self.number(name)
        if not isinstance(value, int):
            raise Unknown("a number in an integer's place")
        return value

    def integers(self, name: str) -> list[int]:
        """Return an argument that is a list of integers, or a shape with all sizes known. Raises Unknown."""
        sizes = self.sizes(name)
        integers = [each for each in sizes if isinstance(each, int)]
        if len(integers) != len(sizes):
            raise Unknown(f"{kind(self[name])} that should hold integers alone")
        return integers

    def sizes(self, name: str) -> list[int | Size]:
        """Return an argument that is a list of integers and unknown sizes, or any shape. Raises Unknown."""
        value = self[name]
        if not isinstance(value, Items | ShapeTuple):
            raise Unknown(f"{kind(value)} that should hold integers alone")
        parts = entries_of(
            replace(value, kind="list") if isinstance(value, ShapeTuple) else value
        ).items
        numbers = [each if isinstance(each, Size) else number(each) for each in parts]
        sizes = [each for each in numbers if isinstance(each, (int, Size))]
        if len(sizes) != len(numbers):
            raise Unknown(f"{kind(value)} that should hold integers alone")
        return sizes

    def plain_values(self, name: str) -> list[object]:
        """Return an argument that is a list of plain values. Raises Unknown."""
        value = self[name]
        parts = value.items if isinstance(value, Items) else ()
        plain_parts: list[object] = [part.value for part in parts if isinstance(part, Const)]
        if not isinstance(value, Items) or len(plain_parts) != len(parts):
            raise Unknown(f"{kind(value)} that should hold plain values alone")
        return plain_parts

    def axis(self, name: str = "axis") -> Json:
        """Return an axis argument: one axis, several, or None for all. Raises Unknown."""
        value = self[name]
        if isinstance(value, Const) and value.value is None:
            return None
        return self.integers(name) if isinstance(value, Items) else self.integer(name)

    def flag(self, name: str) -> bool:
        """Return a boolean argument; None counts as False, as TensorFlow's old defaults have it. Raises Unknown."""
        value = self[name]
        if not isinstance(value, Const) or not (
            value.value is None or isinstance(value.value, bool)
        ):
            raise Unknown(f"{kind(value)} in the place of a truth value")
        return bool(value.value)

    def text(self, name: str) -> str:
        """Return a string argument. Raises Unknown."""
        value = self[name]
        if not isinstance(value, Const) or not isinstance(value.value, str):
            raise Unknown(f"{kind(value)} in the place of text")
        return value.value

    def dtype(self, name: str) -> str:
        """Return a dtype argument, a string or a name of TensorFlow's or NumPy's. Raises Unknown."""
        value = self[name]
        text = value.path.rpartition(".")[2] if isinstance(value, LibraryName) else self.text(name)
        if text not in CAST_DTYPES:
            raise Unknown(f"dtype {text}")
        return text

    def is_channels_last(self, name: str) -> bool:
        """Return True if channels come last: by the argument, or as in the model's layers. Raises Unknown."""
        value = self[name]
        told = value.value if isinstance(value, Const) else None
        if told in {None, "default"}:
            told = self.dialect.data_format
            if told is not None:
                self.dialect.taken["the data format"] = f"{told}, as the layers say"
        if not isinstance(told, str) or told not in CHANNELS_COME_LAST:
            raise Unknown("the data format")
        return CHANNELS_COME_LAST[told]

    def only(self, **expected: Json) -> None:
        """Refuse where an argument has another value than the one that is understood."""
        for name, value in expected.items():
            given = self[name]
            if (
                not isinstance(given, Const)
                or given.value != value
                or isinstance(given.value, bool) != isinstance(value, bool)
            ):
                raise Unknown(f"`{name}={given.text}`")

    # What an argument is

    def is_omitted(self, name: str) -> bool:
        """Return True if an argument is None."""
        value = self[name]
        return isinstance(value, Const) and value.value is None

    def is_plain(self, name: str) -> bool:
        """True for a number, text, truth value, or None."""
        return isinstance(self[name], Const)

    def is_number(self, name: str) -> bool:
        """True for a number of Python's."""
        return number(self[name]) is not None

    def is_integer(self, name: str) -> bool:
        """True for a whole number of Python's, and for a truth value."""
        value = self[name]
        return isinstance(value, Const) and isinstance(value.value, int)

    def is_list(self, name: str) -> bool:
        """True for a list or tuple, of tensors too."""
        return isinstance(self[name], Items)

    def holds_tensors(self, name: str) -> bool:
        """True for a list with a tensor among its items."""
        value = self[name]
        return isinstance(value, Items) and any(
            isinstance(each, SymbolicTensor) for each in value.items
        )

    def as_stored_list(self, name: str) -> Items:
        """Return a list as JSON stores it: tuples, lists and arrays cannot be told apart in it."""
        value = self[name]
        assert isinstance(value, Items)
        return replace(value, kind="stored")

    def is_tensor(self, name: str) -> bool:
        """True for a tensor that depends on the inputs."""
        return isinstance(self[name], SymbolicTensor)

    def is_array(self, name: str) -> bool:
        """True for a constant array of NumPy's or TensorFlow's."""
        return isinstance(self[name], ConstantArray)

    def constant_tensor(self, name: str) -> ConstantArray | None:
        """Return an argument that is a TensorFlow constant; None for anything else."""
        value = self[name]
        return value if isinstance(value, ConstantArray) and value.numbers == "tensor" else None

    def whole_numbers(self, name: str) -> ConstantArray | None:
        """Return an argument that is an array of whole numbers; None for anything else."""
        value = self[name]
        if not isinstance(value, ConstantArray) or value.numbers is not None:
            return None
        return None if holds_fractions(value.value) else value

    def is_numpy_array(self, name: str) -> bool:
        """True for an array of NumPy's, whose dtype is known."""
        value = self[name]
        return isinstance(value, ConstantArray) and value.numbers not in {None, "tensor"}

    def has_float32(self, name: str) -> bool:
        """True for an array of 32 bits."""
        value = self[name]
        return isinstance(value, ConstantArray) and value.numbers in {"float32", "tensor"}

    def holds_floats(self, name: str) -> bool:
        """True for a float, a list with one in it, and an array."""
        return _holds_floats(self[name])

    def numpy_dtype(self, name: str) -> ArrayKind | None:
        """Return the float dtype that the call names; None if it names none of them. Raises Unknown."""
        value = self[name]
        spelt = (
            value.path
            if isinstance(value, LibraryName)
            else value.value
            if isinstance(value, Const)
            else ""
        )
        if not (spelt is None or spelt in ARRAY_KINDS):
            raise Unknown("an array of another dtype than floats")
        return None if spelt is None else ARRAY_KINDS[str(spelt)]

    def nested(self, name: str) -> Json:
        """Return the numbers of a constant array, or of nested lists, as nested lists; None for anything else."""
        return nested_numbers(self[name])

    def length(self, name: str) -> int:
        """Return the length of a list, or of a shape, which Python takes for a list. Raises Unknown."""
        value = self[name]
        if isinstance(value, ShapeTuple) and value.kind != "tensor":
            return len(value.dimensions)
        if not isinstance(value, Items):
            raise Unknown(f"the length of {kind(value)}")
        return len(value.items)

    def is_shape_tensor(self, name: str) -> bool:
        """True for a shape that is itself a tensor (`tf.shape`)."""
        value = self[name]
        return isinstance(value, ShapeTuple) and value.kind == "tensor"

    def axis_size(self, tensor: SymbolicTensor, axis: int) -> int | None:
        """Return the size of an axis; None if unknown."""
        shape = tensor.shape
        return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None

    def function_name(self, name: str) -> str | None:
        """Return the last part of a TensorFlow or NumPy name (`tf.image.ResizeMethod.BILINEAR`); None for a value."""
        value = self[name]
        return value.path.rpartition(".")[2] if isinstance(value, LibraryName) else None

    # Nodes

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

    def each_number(
        self, class_name: str, x: SymbolicTensor | None = None, **config: Json
    ) -> SymbolicTensor:
        """Return an elementwise operation on `x`, by default the argument of that name, which must hold floats."""
        x = self.floats("x") if x is None else x
        return replace(self.op(class_name, x, **config), shape=x.shape, rows=x.rows)

    def zeros_of_rows(self, rows: Size, rank: int) -> SymbolicTensor:
        """Return float32 zeros of shape (rows, 1, ..., 1), for as many rows as a size counts. Raises Unknown."""
        if rows.rows is None:
            raise Unknown(ROWS_OF_NO_TENSOR)
        zeros = self._zero_of_each_row(rows.rows)
        return self.op("Reshape", zeros, newshape=[-1, *[1] * (rank - 1)]) if rank > 1 else zeros

    def array_as_tensor(self, array: ConstantArray) -> SymbolicTensor:
        """Return a constant array as a tensor, of int32 if all its numbers are whole. Raises Unknown."""
        zero = self.op("Sum", self._zero_of_each_row(None), axis=None, keepdims=False)
        numbers = array.value
        if array.numbers is not None or holds_fractions(numbers):
            return self.calculate("Add", zero, array)
        return self.integers_added(zero, array)

    def integers_added(self, zeros: SymbolicTensor, array: ConstantArray) -> SymbolicTensor:
        """Return an int32 tensor of float zeros and the whole numbers of an array."""
        stored: Json = {
            "class_name": "__numpy__", "config": {"value": array.value, "dtype": "int32"},
        }  # fmt: skip
        whole = self.op("Add", self.op("Cast", zeros, dtype="int32"), stored)
        return replace(whole, dtype="int32")

    def _zero_of_each_row(self, rows: int | None) -> SymbolicTensor:
        """Return a float32 zero for each row of the tensors with these `rows`, or of any. Raises Unknown."""
        x = self.dialect.tensor_with_rows(rows)
        if x is None or not x.shape or x.dtype not in CAST_DTYPES:
            raise Unknown(ROWS_OF_NO_TENSOR)
        if any(size not in (1, None) for size in x.shape[1:]):
            firsts = [slice(None, None if size is None else 1) for size in x.shape[1:]]
            x = self.subscript(x, slice(None), *firsts)
        zeros = self.op("ZerosLike", x)
        if x.dtype != FLOAT:
            zeros = replace(self.op("Cast", zeros, dtype=FLOAT), dtype=FLOAT)
        axes: Json = [*range(1, len(x.shape or ()))]
        return self.op("Sum", zeros, axis=axes, keepdims=False) if axes else zeros

    def repeated(self, x: SymbolicTensor, counts: Sequence[int | Size]) -> SymbolicTensor:
        """Return a tensor that is repeated along the axes behind the first. Raises Unknown for an unknown count."""
        repeats = [count for count in counts if isinstance(count, int) and count > 0]
        if len(repeats) < len(counts):
            raise Unknown("a shape with several unknown sizes")
        return (
            x if all(count == 1 for count in repeats) else self.op("Tile", x, repeats=[1, *repeats])
        )

    def array_sizes(self, array: ConstantArray) -> tuple[int, ...]:
        """Return the sizes of a constant array. Raises Unknown for lists of different lengths."""
        return nested_sizes(array.value)

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


ARRAY_KINDS: Mapping[str, ArrayKind] = {
    "float32": "float32", "np.float32": "float32", "tf.float32": "float32", "float64": "float64",
    "np.float64": "float64", "float": "float64",
}  # fmt: skip
"""NumPy's dtypes of floats."""


def _holds_floats(value: SymbolicValue) -> bool:
    if isinstance(value, Items):
        return any(_holds_floats(item) for item in value.items)
    return isinstance(value, ConstantArray) or (
        isinstance(value, Const) and isinstance(value.value, float)
    )


def shape_of(tensor: SymbolicTensor) -> ShapeTuple:
    """Return the sizes of a tensor as Python sees them, the batch unknown.

    Raises:
        Unknown: Where not even their number is known.

    """
    if tensor.shape is None:
        raise Unknown("a shape that is not known")
    return ShapeTuple(tensor.shape, "shape", "", tensor.rows)
