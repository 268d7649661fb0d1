"""The arguments of one call by name, each read as what a function takes: a tensor, a number, an axis, a dtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from unnest.core.model import Json, Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    FLOAT,
    WHOLE_NUMBERS,
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
    constant,
    entries_of,
    holds_fractions,
    items,
    kind,
    nested_numbers,
    number,
    sizes_of,
)

CAST_DTYPES = ("float32", "int32", "int64", "uint8", "bool")
"""Those that a cast gives the same numbers in on all backends."""

SIZE_OF_NO_TENSOR = "a size that no tensor of known shape shows"

CHANNELS_COME_LAST = {"channels_last": True, "tf": True, "channels_first": False, "th": False}
"""Keras's words, of Keras 2 and of Keras 1 -> whether the channels come last."""

ARRAY_KINDS: Mapping[str, ArrayKind] = {
    "float32": "float32", "np.float32": "float32", "tf.float32": "float32", "float64": "float64",
    "np.float64": "float64", "float": "float64",
}  # fmt: skip
"""NumPy's dtypes of floats."""


@dataclass(frozen=True, slots=True)
class FunctionArguments:
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

    def numbers(self, name: str) -> SymbolicTensor:
        """Return an argument that is a tensor of floats or of whole numbers. Raises Unknown for anything else."""
        return self.tensor(name) if self.holds_whole_numbers(name) else self.floats(name)

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

    def whole_number(self, name: str) -> int:
        """Return an argument that is a whole number, though it may be written as a float. Raises Unknown."""
        value = self.number(name)
        if value != int(value):
            raise Unknown("a number in an integer's place")
        return int(value)

    def integers(self, name: str) -> list[int]:
        """Return an argument that is a list of integers, or a shape with all sizes known. Raises Unknown."""
        sizes = self.sizes(name)
        integers = [each for each in sizes if isinstance(each, int)]
        if len(integers) != len(sizes):
            raise Unknown(f"{kind(self[name])} that should hold integers alone")
        return integers

    def sizes(self, name: str) -> list[int | Size]:
        """Return an argument that is a list of integers and unknown sizes, or any shape. Raises Unknown.

        A whole number that was calculated of sizes counts as an unknown size.
        """
        value = self[name]
        if not isinstance(value, Items | ShapeTuple):
            raise Unknown(f"{kind(value)} that should hold integers alone")
        parts = entries_of(
            replace(value, kind="list") if isinstance(value, ShapeTuple) else value
        ).items
        numbers = [_size(each) or number(each) for each in parts]
        sizes = [each for each in numbers if isinstance(each, (int, Size))]
        if len(sizes) != len(numbers):
            raise Unknown(f"{kind(value)} that should hold integers alone")
        return sizes

    def size(self, name: str) -> Size | None:
        """Return an argument that is a size which is not known; None for anything else."""
        value = self[name]
        return value if isinstance(value, Size) else None

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

    def holds_tensors_alone(self, name: str) -> bool:
        """True for a list of tensors, and nothing beside them."""
        value = self[name]
        return isinstance(value, Items) and all(
            isinstance(each, SymbolicTensor) for each in value.items
        )

    def sizes_if_known(self, name: str) -> list[int] | None:
        """Return the sizes of a shape that is a tensor, if all are known; None for anything else."""
        sizes = self.sizes(name) if self.is_shape_tensor(name) else []
        known = [size for size in sizes if isinstance(size, int)]
        return known if known and len(known) == len(sizes) else None

    def sizes_of_list(self, name: str) -> Items | None:
        """Return the sizes in a list of shapes, and of lists of sizes, as one list; None for anything else."""
        value = self[name]
        joined = list[SymbolicValue]()
        for part in value.items if isinstance(value, Items) else ():
            if not isinstance(part, ShapeTuple | Items):
                return None
            joined += sizes_of(part) if isinstance(part, ShapeTuple) else part.items
        if not joined or not all(isinstance(size, Size | Const) for size in joined):
            return None
        return items("stored", joined)

    def stored_sizes(self, name: str) -> Items:
        """Return a list of sizes as JSON stores it, which has no tuples, lists and arrays apart. Raises Unknown."""
        sizes = self.sizes(name)
        return items(
            "stored", [constant(size) if isinstance(size, int) else size for size in sizes]
        )

    def is_tensor(self, name: str) -> bool:
        """True for a tensor that depends on the inputs."""
        return isinstance(self[name], SymbolicTensor)

    def holds_whole_numbers(self, name: str) -> bool:
        """True for a tensor of whole numbers that Keras 3 calculates with as TensorFlow does."""
        value = self[name]
        if isinstance(value, Size):
            return value.number is None or value.number.dtype in WHOLE_NUMBERS
        return isinstance(value, SymbolicTensor) and value.dtype in WHOLE_NUMBERS

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

    def function_name(self, name: str) -> str | None:
        """Return the last part of a TensorFlow or NumPy name (`tf.image.ResizeMethod.BILINEAR`); None for a value."""
        value = self[name]
        return value.path.rpartition(".")[2] if isinstance(value, LibraryName) else None


def _holds_floats(value: SymbolicValue) -> bool:
    if isinstance(value, Items):
        return any(_holds_floats(item) for item in value.items)
    return isinstance(value, ConstantArray) or (
        isinstance(value, Const) and isinstance(value.value, float)
    )


def _size(value: SymbolicValue) -> Size | None:
    """Return an unknown size, or a scalar of whole numbers as one; None for anything else."""
    if isinstance(value, SymbolicTensor) and value.shape == () and value.dtype in WHOLE_NUMBERS:
        return Size(value.text, number=value)
    return value if isinstance(value, Size) else None
