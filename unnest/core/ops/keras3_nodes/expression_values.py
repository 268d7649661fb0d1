"""Values of stored code that becomes nodes of Keras 3: symbolic tensors, and plain Python values.

A symbolic tensor is an expression of nodes (`keras3_op_node`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import EllipsisType
from typing import Any, Literal, TypeAlias

import numpy as np

from unnest.core.keras3_op_node import Operand, OpNode, Part
from unnest.core.model import Json, Unknown

NUMPY, CORE = (f"keras.src.ops.{room}" for room in ("numpy", "core"))
LAYERS = "keras.layers"
FLOAT = "float32"

MAX_NODES = 150
"""Operations in one expression, shared ones counted each time; real lambdas stay below fifty.

No expression is deeper, so what walks one may recurse: Python ends at a thousand frames."""

MAX_CONSTANT_ELEMENTS = 10_000
"""Numbers in one array constant."""

MAX_LIST_DEPTH = 32
"""Lists in lists; NumPy's arrays have so many axes."""

MAX_TEXT = 4_000
"""Characters of an expression; it is for people to read."""

MAX_INTEGER = 2**31 - 1
"""Above, an integer is written as the float that it becomes beside a tensor of floats."""

WHOLE_NUMBERS = frozenset({"int32", "int64"})
"""Dtypes of whole numbers that Keras 3 calculates with as TensorFlow does: both wrap at their ends."""

MAX_FLOAT = 3e38
"""Nearly the largest of 32 bits."""

ATOM, UNARY, COMPARISON = 10, 8, 1
PRECEDENCE = {
    "|": 2,
    "^": 3,
    "&": 4,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "//": 7,
    "%": 7,
    "@": 7,
    "**": 9,
}
"""How tightly an operator binds, for the parentheses of the text."""


@dataclass(frozen=True, slots=True)
class SymbolicTensor:
    """A tensor: how Keras 3 computes it, its dtype and (where known) shape, and the Python text that it came from.

    Tensors with the same number for `rows` have equally many rows; None where that is not known.
    """

    operand: Operand
    dtype: str
    text: str
    precedence: int = ATOM
    shape: tuple[int | None, ...] | None = None
    nodes: int = 1
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Const:
    """A Python value of one of the plain types."""

    value: bool | int | float | str | EllipsisType | None
    text: str
    precedence: int = ATOM


@dataclass(frozen=True, slots=True)
class Items:
    """A Python list or tuple, or a list read from JSON, which may have been an array.

    `size` counts all that is in it, `depth` how deep lists stand in lists; `spelt` is what a function that gives a
    list was called with, `fields` the names of the items of a named tuple.
    """

    kind: Literal["list", "tuple", "stored"]
    items: tuple[SymbolicValue, ...]
    size: int
    depth: int = 1
    precedence: int = ATOM
    spelt: str = ""
    fields: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the source text as Python writes it."""
        if self.spelt:
            return self.spelt
        inner = ", ".join(item.text for item in self.items)
        return (
            f"({inner}{',' if len(self.items) == 1 else ''})"
            if self.kind == "tuple"
            else f"[{inner}]"
        )


ArrayKind: TypeAlias = Literal["float64", "float32", "int64", "tensor"]
"""What a constant array is: one of NumPy's, by its dtype, or a tensor of `float32`."""

NUMPY_DTYPES: Mapping[ArrayKind, np.dtype[Any]] = {
    "float64": np.dtype(np.float64),
    "float32": np.dtype(np.float32),
    "int64": np.dtype(np.int64),
    "tensor": np.dtype(np.float32),
}


@dataclass(frozen=True, slots=True)
class ConstantArray:
    """A constant array of numbers (nested lists of one shape); `numbers` is None where its dtype is not stored."""

    value: Json
    text: str
    precedence: int = ATOM
    numbers: ArrayKind | None = None


@dataclass(frozen=True, slots=True)
class SliceOf:
    """A slice with constant ends."""

    ends: tuple[int | None, int | None, int | None]
    precedence: int = ATOM

    @property
    def text(self) -> str:
        """The slice as source text, as it stands between brackets."""
        start, stop, step = ("" if end is None else str(end) for end in self.ends)
        return f"{start}:{stop}" + (f":{step}" if step else "")


@dataclass(frozen=True, slots=True)
class LibraryName:
    """A module or function by the name that it is known under here (`K.mean`), and as the code has it."""

    path: str
    text: str
    precedence: int = ATOM


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """An attribute of a value that is only good for a call."""

    of: SymbolicTensor | ShapeTuple | ConstantArray
    name: str
    text: str
    precedence: int = ATOM


@dataclass(frozen=True, slots=True)
class ShapeTuple:
    """The shape of a tensor, or a part of it, as Python sees it.

    `kind` is what holds it: TensorFlow's own `shape`, a `list`, a `tuple`, or itself a `tensor` (`tf.shape`).
    """

    sizes: tuple[int | Size, ...]
    kind: Literal["shape", "list", "tuple", "tensor"]
    text: str
    precedence: int = ATOM

    @property
    def dimensions(self) -> tuple[int | None, ...]:
        """Return the sizes, None for each that is not known."""
        return tuple(size if isinstance(size, int) else None for size in self.sizes)


@dataclass(frozen=True, slots=True)
class Size:
    """A size that is not known until the model runs: that of `tensor` along `axis`; None if no tensor has it.

    `number` is a size that was calculated, as an int32 scalar.
    """

    text: str
    tensor: SymbolicTensor | None = None
    axis: int = 0
    number: SymbolicTensor | None = None
    precedence: int = ATOM

    @property
    def rows(self) -> int | None:
        """Return the `rows` of the tensors whose rows it counts; None if it counts none."""
        return None if self.tensor is None or self.axis else self.tensor.rows


SymbolicValue: TypeAlias = (
    SymbolicTensor
    | Const
    | Items
    | ConstantArray
    | SliceOf
    | LibraryName
    | BoundMethod
    | ShapeTuple
    | Size
)


@dataclass(slots=True)
class Libraries:
    """The libraries whose functions the code called.

    `tensorflow` is its first number if the file stores it, `release` the numbers of Keras's version, `data_format` the
    order of axes if the model's layers show it; `taken` fills with what bare names were taken for. `tensor_with_rows`
    gives a tensor of the graph by its `rows`, or any (None).
    """

    backend: str | None = None
    tensorflow: Literal["1", "2"] | None = None
    keras_3: bool = False
    release: tuple[int, ...] = ()
    data_format: str | None = None
    taken: dict[str, str] = field(default_factory=dict)
    tensor_with_rows: Callable[[int | None], SymbolicTensor | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class CallArguments:
    """The arguments of one call, in the order of the code."""

    positional: tuple[SymbolicValue, ...]
    keywords: Mapping[str, SymbolicValue]

    @property
    def text(self) -> str:
        """Return the arguments' text between the parentheses."""
        keywords = (f"{name}={value.text}" for name, value in self.keywords.items())
        return ", ".join([*(value.text for value in self.positional), *keywords])


def constant(value: bool | float | str | EllipsisType | None) -> Const:
    """Return a plain value as a constant, written as Python writes it."""
    text = "..." if value is ... else repr(value)
    negative = (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.copysign(1, value) < 0
    )
    return Const(value, text, UNARY if negative else ATOM)


def items(kind: Literal["list", "tuple", "stored"], values: Sequence[SymbolicValue]) -> Items:
    """Return a list or tuple of values.

    Raises:
        Unknown: Where it holds more than anyone writes.

    """
    size = 1 + sum(value.size if isinstance(value, Items) else 1 for value in values)
    depth = 1 + max((value.depth for value in values if isinstance(value, Items)), default=0)
    if size > MAX_CONSTANT_ELEMENTS or depth > MAX_LIST_DEPTH:
        raise Unknown("a long list" if size > MAX_CONSTANT_ELEMENTS else "lists in lists")
    return Items(kind, tuple(values), size, depth)


def of_readable_length(text: str) -> str:
    """Return a text unchanged. Raises Unknown for one that is too long to be read."""
    if len(text) > MAX_TEXT:
        raise Unknown("the expression is too long")
    return text


def in_parentheses(value: SymbolicValue, precedence: int) -> str:
    """Return a value's text, in parentheses if it binds less than `precedence`."""
    return value.text if value.precedence >= precedence else f"({value.text})"


def part(tensor: SymbolicTensor, index: int) -> SymbolicTensor:
    """Return output `index` of an operation with several outputs."""
    assert isinstance(tensor.operand, OpNode)
    return replace(tensor, operand=Part(tensor.operand, index), shape=None)


def number(value: SymbolicValue) -> int | float | None:
    """Return the number of a constant that a 32-bit tensor holds; None for any other value."""
    if (
        not isinstance(value, Const)
        or isinstance(value.value, bool)
        or not isinstance(value.value, (int, float))
    ):
        return None
    return value.value if fits_32_bits(value.value) else None


def fits_32_bits(value: float) -> bool:
    """Return True if a tensor of 32 bits holds a number."""
    return abs(value) <= (2**63 - 1 if isinstance(value, int) else MAX_FLOAT)


def nested_numbers(value: SymbolicValue) -> Json | None:
    """Return a constant array as a nested list; None if it is ragged, empty, or not of numbers."""
    if isinstance(value, ConstantArray):
        return value.value
    if not isinstance(value, Items):
        return None
    nested = _nested(value)
    return nested if nested is not None and _shape(nested) is not None else None


def _nested(value: SymbolicValue) -> Json | None:
    if isinstance(value, Items):
        parts = [_nested(item) for item in value.items]
        return None if None in parts else parts
    return number(value)


def nested_sizes(nested: Json) -> tuple[int, ...]:
    """Return the shape of nested lists of numbers. Raises Unknown for ragged ones."""
    shape = _shape(nested)
    if shape is None:
        raise Unknown("lists of different lengths")
    return shape


def _shape(nested: Json) -> tuple[int, ...] | None:
    if not isinstance(nested, list):
        return ()
    shapes = {_shape(item) for item in nested}
    inner = shapes.pop() if len(shapes) == 1 else None
    return None if inner is None else (len(nested), *inner)


def as_floats(nested: Json) -> Json:
    """Return a constant array as Keras 3 stores it in JSON, float32."""
    return {"class_name": "__numpy__", "config": {"value": _floats(nested), "dtype": "float32"}}


def as_integers(nested: Json, dtype: str = "int32") -> Json:
    """Return a constant array of whole numbers as Keras 3 stores it in JSON."""
    return {"class_name": "__numpy__", "config": {"value": nested, "dtype": dtype}}


def _floats(nested: Json) -> Json:
    if isinstance(nested, list):
        return [_floats(item) for item in nested]
    assert isinstance(nested, (int, float))
    return float(nested)


def holds_fractions(nested: Json) -> bool:
    """Return True if there is a float among nested numbers."""
    if isinstance(nested, list):
        return any(map(holds_fractions, nested))
    return isinstance(nested, float)


def entries_of(value: SymbolicValue) -> Items:
    """Return the entries of a list, a tuple, or a shape, which Python takes for a list.

    Raises:
        Unknown: For anything else, a shape that is itself a tensor among it.

    """
    if isinstance(value, ShapeTuple) and value.kind != "tensor":
        return replace(
            items("tuple" if value.kind == "tuple" else "list", sizes_of(value)), spelt=value.text
        )
    if not isinstance(value, Items):
        raise Unknown(f"{kind(value)} taken apart")
    return value


def sizes_of(shape: ShapeTuple) -> list[Const | Size]:
    """Return each size of a shape as a value."""
    texts = [f"{shape.text}[{place}]" for place in range(len(shape.sizes))]
    return [
        replace(size, text=text) if isinstance(size, Size) else Const(size, text)
        for size, text in zip(shape.sizes, texts, strict=True)
    ]


def kind(value: SymbolicValue) -> str:
    """Describe a value, for a reason."""
    if isinstance(value, Const):
        names = {
            bool: "a truth value",
            int: "an integer",
            float: "a number",
            str: "text",
            type(None): "None",
        }
        return names.get(type(value.value), "`...`")
    if isinstance(value, Items):
        return "a stored list" if value.kind == "stored" else f"a {value.kind}"
    if isinstance(value, (LibraryName, BoundMethod)):
        return f"`{value.text}`"
    names_of_kinds = {
        SymbolicTensor: "a tensor",
        ConstantArray: "an array",
        SliceOf: "a slice",
        ShapeTuple: "a shape",
        Size: "a size that is not known",
    }
    return names_of_kinds.get(type(value), "nothing")
