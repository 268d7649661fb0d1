"""How a known function takes its arguments: its signature, and one call's arguments under its names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from unnest.core.keras3.lambdas.operators import FLOAT, kind, listed
from unnest.core.keras3.lambdas.values import (
    Const,
    Dialect,
    Items,
    Name,
    NotUnderstood,
    Shape,
    Size,
    SymbolicTensor,
    Value,
    constant,
    number,
    operation,
)
from unnest.core.model import Json

PAIR = 2

DTYPES = ("float32", "int32", "int64", "uint8", "bool")
"""Those that a cast gives the same numbers in on all backends."""


DATA_FORMATS = {"channels_last": True, "tf": True, "channels_first": False, "th": False}
"""Keras's words, of Keras 2 and of Keras 1 -> whether the channels come last."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of one call by their first names in the signature."""

    values: Mapping[str, Value]
    dialect: Dialect

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def tensor(self, name: str) -> SymbolicTensor:
        """A tensor of whatever dtype."""
        value = self[name]
        if not isinstance(value, SymbolicTensor):
            raise NotUnderstood(f"{kind(value)} in a tensor's place")
        return value

    def floats(self, name: str) -> SymbolicTensor:
        """A tensor of floats."""
        value = self.tensor(name)
        if value.dtype != FLOAT:
            raise NotUnderstood(f"arithmetic on {value.dtype}")
        return value

    def tensors(self, name: str) -> list[SymbolicTensor]:
        """A list of tensors of one dtype."""
        value = self[name]
        if not isinstance(value, Items) or not value.items:
            raise NotUnderstood(f"{kind(value)} in the place of a list of tensors")
        parts = [part for part in value.items if isinstance(part, SymbolicTensor)]
        if len(parts) != len(value.items) or len({part.dtype for part in parts}) > 1:
            raise NotUnderstood("a list that holds more than tensors of one kind")
        return parts

    def number(self, name: str) -> int | float:
        """A plain number."""
        value = number(self[name])
        if value is None:
            raise NotUnderstood(f"{kind(self[name])} in a number's place")
        return value

    def integer(self, name: str) -> int:
        """A plain integer."""
        value = self.number(name)
        if not isinstance(value, int):
            raise NotUnderstood("a number in an integer's place")
        return value

    def integers(self, name: str) -> list[int]:
        """A list of plain integers, or a shape of which every size is known."""
        sizes = self.sizes(name)
        integers = [each for each in sizes if isinstance(each, int)]
        if len(integers) != len(sizes):
            raise NotUnderstood(f"{kind(self[name])} that should hold integers alone")
        return integers

    def sizes(self, name: str) -> list[int | Size]:
        """A list of plain integers and of sizes that are not known, or a shape of whatever kind."""
        value = self[name]
        if not isinstance(value, Items | Shape):
            raise NotUnderstood(f"{kind(value)} that should hold integers alone")
        parts = listed(replace(value, kind="list") if isinstance(value, Shape) else value).items
        numbers = [each if isinstance(each, Size) else number(each) for each in parts]
        sizes = [each for each in numbers if isinstance(each, (int, Size))]
        if len(sizes) != len(numbers):
            raise NotUnderstood(f"{kind(value)} that should hold integers alone")
        return sizes

    def axis(self, name: str = "axis") -> Json:
        """One axis, several, or all (null)."""
        value = self[name]
        if isinstance(value, Const) and value.value is None:
            return None
        return self.integers(name) if isinstance(value, Items) else self.integer(name)

    def flag(self, name: str) -> bool:
        """A truth value; None counts as false, as TensorFlow's old defaults have it."""
        value = self[name]
        if not isinstance(value, Const) or not (value.value is None or isinstance(value.value, bool)):
            raise NotUnderstood(f"{kind(value)} in the place of a truth value")
        return bool(value.value)

    def text(self, name: str) -> str:
        """A text."""
        value = self[name]
        if not isinstance(value, Const) or not isinstance(value.value, str):
            raise NotUnderstood(f"{kind(value)} in the place of text")
        return value.value

    def dtype(self, name: str) -> str:
        """A dtype by text or as a name of TensorFlow's or NumPy's."""
        value = self[name]
        text = value.path.rpartition(".")[2] if isinstance(value, Name) else self.text(name)
        if text not in DTYPES:
            raise NotUnderstood(f"dtype {text}")
        return text

    def is_channels_last(self, name: str) -> bool:
        """The order of an image's axes: as told, or as the model's layers have it."""
        value = self[name]
        told = value.value if isinstance(value, Const) else None
        if told in {None, "default"}:
            told = self.dialect.data_format
            if told is not None:
                self.dialect.taken["the data format"] = f"{told}, as the layers say"
        if not isinstance(told, str) or told not in DATA_FORMATS:
            raise NotUnderstood("the data format")
        return DATA_FORMATS[told]

    def only(self, **expected: Json) -> None:
        """Refuse where an argument has another value than the one that is understood."""
        for name, value in expected.items():
            given = self[name]
            if (
                not isinstance(given, Const)
                or given.value != value
                or isinstance(given.value, bool) != isinstance(value, bool)
            ):
                raise NotUnderstood(f"`{name}={given.text}`")


Handler = Callable[[Bound], Value]


@dataclass(frozen=True, slots=True)
class KnownFunction:
    """A known function: its arguments, each with all its names, their defaults, and what it computes."""

    parameters: tuple[tuple[str, ...], ...]
    positional: int
    defaults: Mapping[str, Const]
    compute: Handler


class Table(dict[str, KnownFunction]):
    """Functions by the names they are known under here."""

    def known(self, names: str, signature: str) -> Callable[[Handler], Handler]:
        """Enter a function under names apart by spaces."""
        parameters, defaults = [], {}
        positional, _, by_name = signature.partition(" * ")
        for parameter in (*positional.split(), *by_name.split()):
            spelt, _, default = parameter.partition("=")
            parameters.append(tuple(spelt.split("|")))
            if default:
                defaults[parameters[-1][0]] = constant(json.loads(default))

        def enter(compute: Handler) -> Handler:
            for name in names.split():
                assert name not in self, name
                self[name] = KnownFunction(tuple(parameters), len(positional.split()), defaults, compute)
            return compute

        return enter


def shape_of(tensor: SymbolicTensor) -> Shape:
    """The sizes of a tensor as Python sees them, the batch unknown.

    Raises:
        NotUnderstood: Where not even their number is known.

    """
    if tensor.shape is None:
        raise NotUnderstood("a shape that is not known")
    return Shape(tensor.shape, "shape", "", tensor.rows)


def op(module: str, class_name: str, *tensors: SymbolicTensor, **config: Json) -> SymbolicTensor:
    """An operation of Keras 3 on tensors alone, with these arguments of its class."""
    return operation(module, class_name, config, [tensor.operand for tensor in tensors], tensors)
