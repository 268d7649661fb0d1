"""What Python's operators and the functions of TensorFlow do to a tensor of numbered rows.

A `Rows` is a tensor of which nothing is known but the rows it holds, by their numbers, and that all other axes are
whole. The sizes that code asks for are real: of a batch of so many rows. What is done beside cutting rows is kept as
a `change`; everything that is not known for certain raises `NotFollowed`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from unnest.core import json_tree
from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.model import Json, JsonObject

SIZES = (1009, 1013, 1019, 1021)
"""Stand-ins for the sizes of the axes after the batch: what equals none of them is no size that was asked for."""


class Rows(NamedTuple):
    """Rows of the batch by number; `rank` counts all axes. `change`: the first thing done beside cutting rows."""

    numbers: tuple[int, ...]
    rank: int
    change: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """As the code sees it."""
        return (len(self.numbers), *SIZES[: self.rank - 1])


class Vector(NamedTuple):
    """A tensor of one axis, of numbers that are known."""

    values: tuple[float, ...]


class Named(NamedTuple):
    """A module or function by its path: `tensorflow.shape`."""

    path: str


class Method(NamedTuple):
    """An attribute that is only good for a call."""

    of: object
    name: str


Value: TypeAlias = object
"""A `Rows`, `Vector`, `Named`, `Method`; or a Python number, text, None, `...`, slice, tuple, list of values."""

ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "classic /": lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) else a / b,
}
ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
MAX_VALUES = 10_000
MAX_BITS = 2_000
"""Of an integer: more than any float."""

PLAIN_LISTS = (list, tuple)
"""As types: the named tuples of this module are none."""


VALUES_A_STEP = 50
"""Numbers that are handled in the time of one of the machine's steps."""


def size(value: Value) -> int:
    """The work that a value is to handle: one for each entry of lists, and a share of the numbers in it.

    Raises:
        NotFollowed: For long numbers and long lists, what stands in a list twice counted twice.

    """
    numbers, entries, within = 0, 1, [value]
    while within:
        part = within.pop()
        if isinstance(part, Rows):
            numbers += len(part.numbers)
        elif isinstance(part, Vector):
            numbers += len(part.values)
        elif isinstance(part, (list, tuple)) and type(part) in PLAIN_LISTS:
            entries += len(part)
            within += part
        if entries > MAX_VALUES or (isinstance(part, int) and part.bit_length() > MAX_BITS):
            raise NotFollowed("more than anyone's code computes with")
    return entries + numbers // VALUES_A_STEP


def is_number(value: Value) -> bool:
    """Whether it is a Python number, or a tensor of one: the two are not told apart."""
    return isinstance(value, (int, float))


def binary(symbol: str, left: Value, right: Value) -> Value:
    """`left symbol right`.

    Raises:
        NotFollowed: Where neither is a tensor of rows, and the two are not numbers.

    """
    for side in (left, right):
        if isinstance(side, Rows):
            return _changed(side, f"computes with the values (`{symbol.removeprefix('classic ')}`)")
    if symbol == "+" and type(left) is type(right) and type(left) in PLAIN_LISTS:
        joined = (*_entries(left), *_entries(right))
        return joined if type(left) is tuple else list(joined)
    if symbol in {"==", "!="} and isinstance(left, (str, type(None))) and isinstance(right, (str, type(None))):
        return (left == right) is (symbol == "==")
    return _elementwise({**ARITHMETIC, **ORDER}, symbol, left, right)


def _elementwise(table: Mapping[str, Callable[[float, float], float]], name: str, left: Value, right: Value) -> Value:
    if name not in table:
        raise NotFollowed
    if isinstance(left, Vector) or isinstance(right, Vector):
        first, second = _numbers(left), _numbers(right)
        longest = max(len(first), len(second))
        if {len(first), len(second)} - {1, longest} or not longest:
            raise NotFollowed
        pairs = zip(first * (longest // len(first)), second * (longest // len(second)), strict=True)
        return Vector(tuple(_computed(table[name], a, b) for a, b in pairs))
    return _computed(table[name], _number(left), _number(right))


def _computed(function: Callable[[float, float], float], left: float, right: float) -> float:
    try:
        return function(left, right)
    except (ArithmeticError, ValueError) as error:
        raise NotFollowed from error


def negative(value: Value) -> Value:
    """`-value`."""
    if isinstance(value, Rows):
        return _changed(value, "computes with the values (`-`)")
    return -_number(value)


def truth(value: Value) -> bool:
    """What a branch takes it for."""
    if not isinstance(value, (bool, int, float, str, type(None), list)):
        raise NotFollowed
    return bool(value)


def subscript(of: Value, key: Value) -> Value:
    """`of[key]`."""
    if isinstance(of, Rows):
        return _part(of, key)
    if isinstance(of, Vector):
        if isinstance(key, slice):
            return Vector(of.values[key])
        return _entry(of.values, key)
    entries = _entries(of)
    if isinstance(key, slice):
        return entries[key] if type(of) is tuple else list(entries[key])
    return _entry(entries, key)


def _entry(values: Sequence[Value], key: Value) -> Value:
    if not isinstance(key, int) or not -len(values) <= key < len(values):
        raise NotFollowed
    return values[key]


def _part(rows: Rows, key: Value) -> Rows:
    keys = key if type(key) is tuple else (key,)
    first, others = keys[0], keys[1:]
    if first is ...:
        if len(keys) > 1:
            raise NotFollowed
        return rows
    if not isinstance(first, slice):
        raise NotFollowed
    if others and others[-1] is ...:
        others = others[:-1]
    if len(others) >= rows.rank:
        raise NotFollowed
    change = next(filter(None, (_beside(axis, part) for axis, part in enumerate(others, 1))), "")
    cut = rows._replace(numbers=rows.numbers[first])
    return _changed(cut, change) if change else cut


def _beside(axis: int, key: Value) -> str:
    """What a subscript does to an axis that is not the batch; "" for taking all of it."""
    if not isinstance(key, slice):
        raise NotFollowed
    size = SIZES[axis - 1]
    if key.step not in {None, 1}:
        return f"reverses axis {axis}" if key.step == -1 else f"steps by {key.step} along axis {axis}"
    if key.start not in {None, 0} and not (isinstance(key.start, int) and key.start <= -size):
        return f"takes a part of axis {axis}"
    if key.stop not in {None, size}:
        raise NotFollowed  # a literal size may be all of it
    return ""


def _changed(rows: Rows, change: str) -> Rows:
    return rows if rows.change else rows._replace(change=change)


def attribute(of: Value, name: str) -> Value:
    """`of.name`."""
    if isinstance(of, Named):
        return Named(f"{of.path}.{name}")
    if isinstance(of, Rows) and name in {"shape", "_keras_shape"}:
        return _static(of)
    if isinstance(of, Rows) and name == "get_shape":
        return Method(of, name)
    if type(of) is tuple and name == "as_list":
        return Method(of, name)
    raise NotFollowed


def _static(rows: Rows) -> tuple[int | None, ...]:
    """The shape when the model is made: the batch is not known."""
    return (None, *rows.shape[1:])


def call(function: Value, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`function(*positional, **keywords)`.

    Raises:
        NotFollowed: For functions that are not in the table, and for arguments that are not known.

    """
    if isinstance(function, Method) and not positional and not keywords:
        return _static(function.of) if isinstance(function.of, Rows) else list(_entries(function.of))
    if not isinstance(function, Named):
        raise NotFollowed
    room, _, name = function.path.rpartition(".")
    given = [*positional, *keywords.values()]
    rows = [value for value in given if isinstance(value, Rows)]
    if rows and (name in CHANGING or room.rpartition(".")[2] in CHANGING_ROOMS):
        return _changed(rows[0], f"calls {function.path}")
    known = FUNCTIONS.get(name) if room else BUILTINS.get(name)
    if known is None:
        raise NotFollowed
    try:
        return known(*positional, **{k: v for k, v in keywords.items() if k != "name"})
    except (TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise NotFollowed from error


CHANGING = frozenset({
    "abs", "square", "sqrt", "exp", "log", "pow", "sin", "cos", "tanh", "sigmoid", "relu", "softmax", "l2_normalize",
    "negative", "clip", "clip_by_value", "roll", "rot90", "fliplr", "flip_left_right", "flip_up_down", "random_normal",
    "random_uniform", "dropout", "per_image_standardization", "adjust_brightness", "adjust_contrast", "resize_images",
    "random_flip_left_right", "random_crop", "central_crop", "one_hot",
})  # fmt: skip
"""Functions that change the values of the tensor that they are given."""

CHANGING_ROOMS = frozenset({"image", "nn", "random"})
"""Modules all functions of which do."""


def _number(value: Value) -> float:
    if isinstance(value, (int, float)):
        return value
    raise NotFollowed


def _numbers(value: Value) -> tuple[float, ...]:
    """Of a vector, of a list of numbers, or of one number."""
    if isinstance(value, Vector):
        return value.values
    if type(value) in PLAIN_LISTS:
        return tuple(_number(part) for part in _entries(value))
    return (_number(value),)


def _entries(value: Value) -> tuple[Value, ...]:
    if isinstance(value, (list, tuple)) and type(value) in PLAIN_LISTS:
        return tuple(value)
    raise NotFollowed


def _shape(tensor: Value) -> Vector:
    if not isinstance(tensor, Rows):
        raise NotFollowed
    return Vector(tensor.shape)


def _int_shape(tensor: Value) -> tuple[int | None, ...]:
    if not isinstance(tensor, Rows):
        raise NotFollowed
    return _static(tensor)


def _slice(tensor: Value, start: Value, size: Value) -> Rows:
    if not isinstance(tensor, Rows):
        raise NotFollowed
    starts, sizes = _numbers(start), _numbers(size)
    if not len(starts) == len(sizes) == tensor.rank:
        raise NotFollowed
    ends = [None if n == -1 else _whole(a + n) for a, n in zip(starts, sizes, strict=True)]
    return _part(tensor, tuple(slice(_whole(a), end) for a, end in zip(starts, ends, strict=True)))


def _strided_slice(tensor: Value, begin: Value, end: Value, strides: Value = None) -> Rows:
    if not isinstance(tensor, Rows):
        raise NotFollowed
    begins, ends = _numbers(begin), _numbers(end)
    steps = _numbers(strides) if strides is not None else (1,) * len(begins)
    parts = zip(begins, ends, steps, strict=True)
    return _part(tensor, tuple(slice(_whole(a), _whole(b), _whole(step)) for a, b, step in parts))


def _whole(number: float) -> int:
    if number != int(number):
        raise NotFollowed
    return int(number)


def _concatenate(values: Value = None, axis: Value = -1, *, tensors: Value = None, concat_dim: Value = None) -> Value:
    values = tensors if values is None else values
    if is_number(values):  # TensorFlow before 1.0 has the axis first
        values, axis = axis, values
    parts, along = _entries(values), concat_dim if concat_dim is not None else axis
    if all(isinstance(part, Rows) for part in parts):
        return _lined_up([part for part in parts if isinstance(part, Rows)], along)
    return Vector(tuple(number for part in parts for number in _numbers(part)))


def _lined_up(parts: Sequence[Rows], axis: Value) -> Rows:
    if axis != 0 or not parts:
        raise NotFollowed
    change = next((part.change for part in parts if part.change), "")
    return Rows(tuple(number for part in parts for number in part.numbers), parts[0].rank, change)


def _stack(values: Value, axis: Value = 0) -> Vector:
    parts = _entries(values)
    if axis != 0:
        raise NotFollowed
    return Vector(tuple(_number(part) for part in parts))


def _cast(value: Value, dtype: Value = None) -> Value:
    kind = dtype.path.rpartition(".")[2] if isinstance(dtype, Named) else dtype
    if not isinstance(kind, str) or isinstance(value, Rows):
        raise NotFollowed
    to = int if kind.startswith(("int", "uint")) else float
    return Vector(tuple(to(n) for n in value.values)) if isinstance(value, Vector) else to(_number(value))


def _split(value: Value, count: Value, axis: Value = 0) -> list[Rows]:
    if isinstance(axis, Rows):  # TensorFlow before 1.0: axis, number, value
        value, axis = axis, value
    if not isinstance(value, Rows) or axis != 0:
        raise NotFollowed
    if isinstance(count, int):
        size, rest = divmod(len(value.numbers), count)
        if rest or count > MAX_VALUES:
            raise NotFollowed
        sizes: Sequence[int] = [size] * count
    else:
        sizes = [_whole(n) for n in _numbers(count)]
    starts = accumulate(sizes[:-1], initial=0)
    return [_part(value, slice(a, a + n)) for a, n in zip(starts, sizes, strict=True)]


def _gather(value: Value, indices: Value, axis: Value = 0) -> Rows:
    if not isinstance(value, Rows) or axis != 0:
        raise NotFollowed
    return value._replace(numbers=tuple(value.numbers[_whole(n)] for n in _numbers(indices)))


def _masked(value: Value, mask: Value) -> Rows:
    if not isinstance(value, Rows) or not isinstance(mask, Vector) or len(mask.values) != len(value.numbers):
        raise NotFollowed
    return value._replace(numbers=tuple(n for n, keep in zip(value.numbers, mask.values, strict=True) if keep))


def _partition(data: Value, partitions: Value, num_partitions: Value) -> list[Rows]:
    if not isinstance(num_partitions, int) or num_partitions > MAX_VALUES:
        raise NotFollowed
    if not isinstance(data, Rows) or not isinstance(partitions, Vector) or len(partitions.values) != len(data.numbers):
        raise NotFollowed
    parts: dict[float, list[int]] = {part: [] for part in range(num_partitions)}
    for row, part in zip(data.numbers, partitions.values, strict=True):
        if part in parts:
            parts[part].append(row)
    return [data._replace(numbers=tuple(rows)) for rows in parts.values()]


def _range(*bounds: Value) -> Vector:
    numbers = range(*(_whole(_number(bound)) for bound in bounds))
    if len(numbers) > MAX_VALUES:
        raise NotFollowed
    return Vector(tuple(numbers))


def _reverse(value: Value, axis: Value) -> Rows:
    if not isinstance(value, Rows):
        raise NotFollowed
    axes = _numbers(axis)
    turned = value._replace(numbers=value.numbers[::-1]) if 0 in axes else value
    other = next((n for n in axes if n != 0), None)
    return turned if other is None else _changed(turned, f"reverses axis {other:g}")


def _zeros_like(value: Value) -> Vector:
    return Vector((0,) * len(_numbers(value)))


def _constant(value: Value, dtype: Value = None) -> Value:
    made = Vector(_numbers(value)) if not is_number(value) else value
    return made if dtype is None else _cast(made, dtype)


def _identity(value: Value) -> Value:
    return value


def _of_two(symbol: str) -> Callable[[Value, Value], Value]:
    return lambda left, right: binary(symbol, left, right)


def _rounded(function: Callable[[float], float]) -> Callable[[Value], Value]:
    return lambda value: function(_number(value))


def _floor(value: float) -> float:
    return float(value // 1)


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "shape": _shape,
    "int_shape": _int_shape,
    "slice": _slice,
    "strided_slice": _strided_slice,
    "concat": _concatenate,
    "concatenate": _concatenate,
    "stack": _stack,
    "pack": _stack,
    "cast": _cast,
    "to_int32": lambda value: _cast(value, "int32"),
    "to_float": lambda value: _cast(value, "float32"),
    "split": _split,
    "gather": _gather,
    "boolean_mask": _masked,
    "dynamic_partition": _partition,
    "range": _range,
    "arange": _range,
    "reverse": _reverse,
    "zeros_like": _zeros_like,
    "constant": _constant,
    "convert_to_tensor": _constant,
    "identity": _identity,
    "stop_gradient": _identity,
    "floor": _rounded(_floor),
    "ceil": _rounded(lambda value: -_floor(-value)),
    "add": _of_two("+"),
    "subtract": _of_two("-"),
    "multiply": _of_two("*"),
    "divide": _of_two("/"),
    "truediv": _of_two("/"),
    "floordiv": _of_two("//"),
    "floor_div": _of_two("//"),
    "mod": _of_two("%"),
    "floormod": _of_two("%"),
    "equal": _of_two("=="),
    "not_equal": _of_two("!="),
    "less": _of_two("<"),
    "less_equal": _of_two("<="),
    "greater": _of_two(">"),
    "greater_equal": _of_two(">="),
    "logical_not": lambda value: binary("==", value, 0),
    "minimum": lambda left, right: min(_number(left), _number(right)),
    "maximum": lambda left, right: max(_number(left), _number(right)),
}
"""By their last name: the modules of TensorFlow and Keras call the same by the same."""


def _slice_of(*ends: Value) -> slice:
    bounds = [None if end is None else _whole(_number(end)) for end in ends]
    if bounds[2:] == [0]:
        raise NotFollowed
    return slice(*bounds)


BUILTINS: Mapping[str, Callable[..., Value]] = {
    "int": lambda value: int(_number(value)),
    "float": lambda value: float(_number(value)),
    "len": lambda value: len(_entries(value)),
    "min": lambda left, right: min(_number(left), _number(right)),
    "max": lambda left, right: max(_number(left), _number(right)),
    "slice": _slice_of,
    "list": lambda value: list(_entries(value)),
    "tuple": lambda value: tuple(_entries(value)),
}


def stored(value: Json) -> Value:
    """A value that is stored beside the code: an argument, a default, a cell."""

    def held(holder: Sequence[Json] | JsonObject, parts: list[Value]) -> Value:
        if not isinstance(holder, Mapping):
            return parts
        if holder.get("class_name") == "__tuple__":
            return dict(zip(holder, parts, strict=True)).get("items")
        raise NotFollowed

    return json_tree.fold(value, lambda leaf: leaf, held)
