"""What the functions of TensorFlow, Keras and Python do to numbered rows and numbers, by their last name.

What is not known for certain raises `NotFollowed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.recognise.row_operations import binary, part_of
from unnest.core.recognise.row_values import (
    MAX_VALUES,
    Method,
    Named,
    Rows,
    Value,
    Vector,
    as_entries,
    as_number,
    as_numbers,
    changed,
    is_number,
    static_shape,
)


def call(function: Value, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`function(*positional, **keywords)`.

    Raises:
        NotFollowed: For functions that are not in the table, and for arguments that are not known.

    """
    if isinstance(function, Method) and not positional and not keywords:
        return static_shape(function.of) if isinstance(function.of, Rows) else list(as_entries(function.of))
    if not isinstance(function, Named):
        raise NotFollowed
    room, _, name = function.path.rpartition(".")
    given = [*positional, *keywords.values()]
    rows = [value for value in given if isinstance(value, Rows)]
    if rows and (name in CHANGING or room.rpartition(".")[2] in CHANGING_ROOMS):
        return changed(rows[0], f"calls {function.path}")
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
    "random_flip_left_right", "random_crop", "central_crop", "one_hot", "sort", "argsort", "top_k", "unique",
    "unique_with_counts", "shuffle", "random_shuffle", "where", "repeat", "repeat_elements", "tile",
})  # fmt: skip
"""Functions that change the values of the tensor that they are given, choose by them, or repeat them."""

CHANGING_ROOMS = frozenset({"image", "nn", "random"})
"""Modules all functions of which do."""


def _shape(tensor: Value) -> Vector:
    if not isinstance(tensor, Rows):
        raise NotFollowed
    return Vector(tensor.shape)


def _int_shape(tensor: Value) -> tuple[int | None, ...]:
    if not isinstance(tensor, Rows):
        raise NotFollowed
    return static_shape(tensor)


def _slice(tensor: Value, start: Value, size: Value) -> Rows:
    if not isinstance(tensor, Rows):
        raise NotFollowed
    starts, sizes = as_numbers(start), as_numbers(size)
    if not len(starts) == len(sizes) == tensor.rank:
        raise NotFollowed
    ends = [None if n == -1 else _whole(a + n) for a, n in zip(starts, sizes, strict=True)]
    return part_of(tensor, tuple(slice(_whole(a), end) for a, end in zip(starts, ends, strict=True)))


def _strided_slice(tensor: Value, begin: Value, end: Value, strides: Value = None) -> Rows:
    if not isinstance(tensor, Rows):
        raise NotFollowed
    begins, ends = as_numbers(begin), as_numbers(end)
    steps = as_numbers(strides) if strides is not None else (1,) * len(begins)
    parts = zip(begins, ends, steps, strict=True)
    return part_of(tensor, tuple(slice(_whole(a), _whole(b), _whole(step)) for a, b, step in parts))


def _whole(number: float) -> int:
    if number != int(number):
        raise NotFollowed
    return int(number)


def _concatenate(values: Value = None, axis: Value = -1, *, tensors: Value = None, concat_dim: Value = None) -> Value:
    values = tensors if values is None else values
    if is_number(values):  # TensorFlow before 1.0 has the axis first
        values, axis = axis, values
    parts, along = as_entries(values), concat_dim if concat_dim is not None else axis
    if all(isinstance(part, Rows) for part in parts):
        return _lined_up([part for part in parts if isinstance(part, Rows)], along)
    return Vector(tuple(number for part in parts for number in as_numbers(part)))


def _lined_up(parts: Sequence[Rows], axis: Value) -> Rows:
    if axis != 0 or not parts:
        raise NotFollowed
    change = next((part.change for part in parts if part.change), "")
    return Rows(tuple(number for part in parts for number in part.numbers), parts[0].rank, change)


def _stack(values: Value, axis: Value = 0) -> Vector:
    parts = as_entries(values)
    if axis != 0:
        raise NotFollowed
    return Vector(tuple(as_number(part) for part in parts))


def _cast(value: Value, dtype: Value = None) -> Value:
    kind = dtype.path.rpartition(".")[2] if isinstance(dtype, Named) else dtype
    if isinstance(value, Rows) and kind in COARSE:
        return changed(value, f"casts the values to {kind}")
    if not isinstance(kind, str) or isinstance(value, Rows):
        raise NotFollowed
    to = int if kind.startswith(("int", "uint")) else float
    return Vector(tuple(to(n) for n in value.values)) if isinstance(value, Vector) else to(as_number(value))


COARSE = frozenset({"float16", "half", "bfloat16", "bool"})
"""Types that hold less than what nearly every batch is made of; another type may be the batch's own."""


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
        sizes = [_whole(n) for n in as_numbers(count)]
    starts = accumulate(sizes[:-1], initial=0)
    return [part_of(value, slice(a, a + n)) for a, n in zip(starts, sizes, strict=True)]


def _gather(value: Value, indices: Value, axis: Value = 0) -> Rows:
    if not isinstance(value, Rows) or not isinstance(axis, int):
        raise NotFollowed
    if axis not in {0, -value.rank}:
        return changed(value, f"gathers along axis {axis}")
    return value._replace(numbers=tuple(value.numbers[_whole(n)] for n in as_numbers(indices)))


def _masked(value: Value, mask: Value) -> Rows:
    if not isinstance(value, Rows) or not isinstance(mask, Vector) or len(mask.values) != len(value.numbers):
        raise NotFollowed
    return value._replace(numbers=tuple(n for n, keep in zip(value.numbers, mask.values, strict=True) if keep))


def _partition(data: Value, partitions: Value, num_partitions: Value) -> list[Value]:
    if not isinstance(num_partitions, int) or num_partitions > MAX_VALUES:
        raise NotFollowed
    held = data.numbers if isinstance(data, Rows) else as_numbers(data)
    if not isinstance(partitions, Vector) or len(partitions.values) != len(held):
        raise NotFollowed
    parts: dict[float, list[float]] = {part: [] for part in range(num_partitions)}
    for one, part in zip(held, partitions.values, strict=True):
        if part in parts:
            parts[part].append(one)
    return [_holding(data, part) for part in parts.values()]


def _holding(data: Value, part: Sequence[float]) -> Value:
    """Some of what a tensor holds."""
    return data._replace(numbers=tuple(map(_whole, part))) if isinstance(data, Rows) else Vector(tuple(part))


def _stitched(indices: Value, data: Value) -> Rows:
    """The rows of several tensors, each at its place; every place is taken once."""
    parts = [part for part in as_entries(data) if isinstance(part, Rows)]
    places = [_whole(place) for vector in as_entries(indices) for place in as_numbers(vector)]
    numbers = [number for part in parts for number in part.numbers]
    lengths = [len(as_numbers(vector)) for vector in as_entries(indices)]
    if lengths != [len(part.numbers) for part in parts] or sorted(places) != [*range(len(numbers))]:
        raise NotFollowed
    by_place = dict(zip(places, numbers, strict=True))
    change = next((part.change for part in parts if part.change), "")
    return Rows(tuple(by_place[place] for place in range(len(numbers))), parts[0].rank, change)


def _range(*bounds: Value) -> Vector:
    numbers = range(*(_whole(as_number(bound)) for bound in bounds))
    if len(numbers) > MAX_VALUES:
        raise NotFollowed
    return Vector(tuple(numbers))


def _reverse(value: Value, axis: Value) -> Rows:
    if not isinstance(value, Rows):
        raise NotFollowed
    axes = as_numbers(axis)
    turned = value._replace(numbers=value.numbers[::-1]) if 0 in axes else value
    other = next((n for n in axes if n != 0), None)
    return turned if other is None else changed(turned, f"reverses axis {other:g}")


def _zeros_like(value: Value) -> Vector:
    return Vector((0,) * len(as_numbers(value)))


def _constant(value: Value, dtype: Value = None) -> Value:
    made = Vector(as_numbers(value)) if not is_number(value) else value
    return made if dtype is None else _cast(made, dtype)


def _identity(value: Value) -> Value:
    return value


def _of_two(symbol: str) -> Callable[[Value, Value], Value]:
    return lambda left, right: binary(symbol, left, right)


def _rounded(function: Callable[[float], float]) -> Callable[[Value], Value]:
    return lambda value: function(as_number(value))


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
    "dynamic_stitch": _stitched,
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
    "minimum": lambda left, right: min(as_number(left), as_number(right)),
    "maximum": lambda left, right: max(as_number(left), as_number(right)),
}
"""By their last name: the modules of TensorFlow and Keras call the same by the same."""


def _slice_of(*ends: Value) -> slice:
    bounds = [None if end is None else _whole(as_number(end)) for end in ends]
    if bounds[2:] == [0]:
        raise NotFollowed
    return slice(*bounds)


BUILTINS: Mapping[str, Callable[..., Value]] = {
    "int": lambda value: int(as_number(value)),
    "float": lambda value: float(as_number(value)),
    "len": lambda value: len(as_entries(value)),
    "min": lambda left, right: min(as_number(left), as_number(right)),
    "max": lambda left, right: max(as_number(left), as_number(right)),
    "slice": _slice_of,
    "range": lambda *bounds: _range(*bounds).values,
    "list": lambda value: list(as_entries(value)),
    "tuple": lambda value: tuple(as_entries(value)),
}
