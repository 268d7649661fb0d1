"""What the functions of TensorFlow, Keras and Python do to numbered rows and numbers, by their last name.

What is done to numbers, and what moves rows about, is a kernel (`row_kernels`). What is not known for certain raises
`NotFollowed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.interpreters.product_axes import MATRIX
from unnest.core.ops.call import plain_name
from unnest.core.ops.registry import IN_PLACE, OPERATIONS, ROW_BY_ROW, Kind
from unnest.core.recognise import row_operations
from unnest.core.recognise.row_kernels import OF_ONE_VALUE, by_kernel
from unnest.core.recognise.row_operations import part_of
from unnest.core.recognise.row_values import (
    MAX_VALUES,
    PLAIN_LISTS,
    ListMethod,
    Named,
    Once,
    Rows,
    ShapeMethod,
    Stacked,
    Unexplained,
    Value,
    Vector,
    as_entries,
    as_number,
    as_numbers,
    as_one_row,
    changed,
    combined,
    computed_with,
    each,
    joined,
    rows_in,
    static_shape,
)


def call(function: Value, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`function(*positional, **keywords)`.

    Raises:
        NotFollowed: For functions that are not known, and for arguments that they do not take.

    """
    if isinstance(function, ShapeMethod) and not positional and not keywords:
        return static_shape(function.of) if isinstance(function.of, Rows) else list(as_entries(function.of))
    if isinstance(function, ListMethod):
        _change_list(function.of, function.name, *positional, *keywords.values())
        return None
    if isinstance(function, Unexplained):
        return function
    if not isinstance(function, Named):
        raise NotFollowed
    room, _, name = function.path.rpartition(".")
    rows = [value for value in (*positional, *keywords.values()) if isinstance(value, Rows)]
    given = {key: value for key, value in keywords.items() if key != "name"}
    computed = _shaped(function.path, positional, given) if room else None
    if room and rows and computed is None:
        computed = _computed(function.path, rows, positional, given)
    if computed is not None:
        return computed
    own = OF_SHAPES.get(name) if room else BUILTINS.get(name)
    if own is None:
        return by_kernel(name, positional, given)
    try:
        return own(*positional, **given)
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        raise NotFollowed from error


def _shaped(path: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """What is made of all rows, with other axes: a batch of one row, unless it is to be a number."""
    kind, tensors = plain_name(path), rows_in([*positional, *keywords.values()])
    if kind not in SHAPING or not tensors or not all(each.along and len(each.numbers) <= 1 for each in tensors):
        return None
    whole = computed_with(tensors, f"calls {path}")
    shape = keywords.get("shape", positional[-1] if positional else None)
    return whole if kind == "reshape" and shape in ([], ()) else as_one_row(whole)


SHAPING = frozenset({"reshape", "expanddims", "stack", "pack", "broadcastto", "fill", "flatten", "batchflatten"})
"""Functions that may give a tensor more axes than it has."""


def _change_list(of: list[Value], name: str, *arguments: Value) -> None:
    """One of `LIST_METHODS`."""
    match name, arguments:
        case "append", (value,):
            of.append(value)
        case "insert", (int() as place, value):
            of.insert(place, value)
        case "extend", (values,):
            row_operations.extend(of, values)
        case "reverse", ():
            of.reverse()
        case _:
            raise NotFollowed


def _computed(
    path: str, rows: Sequence[Rows], positional: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    """What a function computes of the values of tensors; None where it does not, for all that is known."""
    room, _, name = path.rpartition(".")
    kind = plain_name(name)
    operation = OPERATIONS.get(kind)
    sort = None if operation is None else operation.kind
    if sort in (Kind.REDUCTION, Kind.ALONG, Kind.FOLD):
        computed = _along(path, positional, keywords)
        return [computed] * 2 if kind == "topk" else computed
    if kind in ("matmul", "batchmatmulv2", "dot"):
        return _product(path, rows, [*positional, *keywords.values()])
    if kind in REARRANGING and REARRANGING[kind](*positional, **keywords):
        return computed_with(rows, f"calls {path}")._replace(along=f"calls {path} along the rows")
    if name in OF_ONE_VALUE:  # what was done before is no longer seen
        return computed_with(rows, "")._replace(change=f"calls {path}", along="", is_alike=True)
    if (
        name not in CHANGING
        and not (operation is not None and operation.takes_all and operation.compute)
        and room.rpartition(".")[2] not in CHANGING_ROOMS
    ):
        return None
    compute = combined if sort in IN_PLACE else computed_with
    computed = compute(rows, f"calls {path}", [*positional, *keywords.values()])
    return computed if sort in ROW_BY_ROW else computed._replace(may_have_moved=True)


CHANGING = frozenset({
    "abs", "square", "sqrt", "exp", "log", "pow", "sin", "cos", "tanh", "sigmoid", "relu", "softmax", "l2_normalize",
    "negative", "clip", "clip_by_value", "roll", "rot90", "fliplr", "flip_left_right", "flip_up_down", "random_normal",
    "random_uniform", "dropout", "per_image_standardization", "adjust_brightness", "adjust_contrast", "resize_images",
    "random_flip_left_right", "random_crop", "central_crop", "one_hot", "sort", "argsort", "top_k", "unique",
    "unique_with_counts", "shuffle", "random_shuffle", "where", "repeat", "repeat_elements", "tile", "zeros_like",
    "ones_like", "temporal_padding", "spatial_2d_padding", "spatial_3d_padding", "transpose", "permute_dimensions",
    "power", "pool2d", "pool3d", "conv1d", "conv2d",
})  # fmt: skip
"""Functions that change the values of the tensor that they are given, choose by them, or repeat them."""


def _is_along(_: Value, __: Value = None, axis: Value = None, **others: Value) -> bool:
    """Whether the third argument, an axis, is that of the rows, or missing."""
    axis = others.get("dim", axis)
    return axis is None or 0 in as_numbers(axis)


REARRANGING: Mapping[str, Callable[..., bool]] = {
    "roll": _is_along,
    "repeat": _is_along,
    "repeatelements": _is_along,
    "tile": lambda _, multiples=1, **__: as_numbers(multiples)[0] != 1,
    "shuffle": lambda *_, **__: True,
    "randomshuffle": lambda *_, **__: True,
    "unique": lambda *_, **__: True,
}
"""Functions that may move or repeat the rows -> whether they do, by their arguments."""

CHANGING_ROOMS = frozenset({"image", "nn", "random"})
"""Modules all functions of which do."""


OTHER_ARGUMENTS = frozenset({"norm", "normalize"}) | {
    name for name, each in OPERATIONS.items() if each.kind in (Kind.ALONG, Kind.FOLD) and each.position("axis") != 1
}
"""Functions along an axis, or all, whose second argument is how many, or which norm."""


def _along(path: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Rows:
    """A tensor reduced, or weighed, along some axes: of all where a reduction names none."""
    tensor, *others = positional
    if not isinstance(tensor, Rows):
        raise NotFollowed
    kernel = plain_name(path)
    named = next((keywords[name] for name in ("axis", "axes", "reduction_indices", "dim") if name in keywords), None)
    if kernel in OTHER_ARGUMENTS:  # of which the second is no axis
        others = []
    axis = named if named is not None else others[0] if others else OPERATIONS[kernel].axis
    axes = {int(number) % tensor.rank for number in as_numbers(axis)} if axis is not None else {*range(tensor.rank)}
    done = changed(tensor, f"calls {path}")
    if 0 in axes:
        done = done._replace(along=done.along or f"calls {path} along the rows")
    if OPERATIONS[kernel].kind is not Kind.REDUCTION:
        return done
    if keywords.get("keepdims") or keywords.get("keep_dims") or others[1:]:
        return done._replace(numbers=(0,)) if 0 in axes else done
    sizes = tuple(size for at, size in enumerate(tensor.sizes, 1) if at not in axes)
    return done._replace(numbers=() if 0 in axes else done.numbers, rank=tensor.rank - len(axes), sizes=sizes)


def _product(path: str, rows: Sequence[Rows], factors: Sequence[Value]) -> Rows:
    """Of matrices; one of rows with rows is made of all of them, and so is `dot` of more axes."""
    product = computed_with(rows, f"calls {path}", factors)
    is_of_all = len(rows) > 1 and (rows[0].rank == MATRIX or plain_name(path) == "dot")
    return product._replace(along=product.along or f"calls {path} along the rows") if is_of_all else product


def _shape(tensor: Value) -> Vector:
    if not isinstance(tensor, Rows) or tensor.is_reduced:
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
    if min(starts) < 0 or starts[0] < len(tensor.numbers) < starts[0] + sizes[0]:
        raise NotFollowed  # there are not as many rows, or none before the first, which TensorFlow does not take
    ends = [None if n == -1 else _whole(a + n) for a, n in zip(starts, sizes, strict=True)]
    return part_of(tensor, tuple(slice(_whole(a), end) for a, end in zip(starts, ends, strict=True)))


def _strided_slice(tensor: Value, begin: Value, end: Value, strides: Value = None) -> Rows:
    if not isinstance(tensor, Rows):
        raise NotFollowed
    begins, ends = as_numbers(begin), as_numbers(end)
    steps = as_numbers(strides) if strides is not None else (1,) * len(begins)
    parts = zip(begins, ends, steps, strict=True)
    return part_of(tensor, tuple(slice(_whole(a), _whole(b), _whole(step)) for a, b, step in parts))


def _stack(values: Value, axis: Value = 0) -> Value:
    parts = tuple(part for part in as_entries(values) if isinstance(part, Rows))
    if not parts:
        return by_kernel("stack", [values, axis], {})
    if len(parts) < len(as_entries(values)) or len({part.shape for part in parts}) > 1 or axis not in {0, 1}:
        raise NotFollowed
    return Stacked(parts, _whole(as_number(axis)))


def _reshape(tensor: Value, shape: Value) -> Value:
    if not isinstance(tensor, (Rows, Stacked)):
        return by_kernel("reshape", [tensor, shape], {})
    first, *sizes = as_numbers(shape)
    row = tuple(map(_whole, sizes))
    if isinstance(tensor, Rows):
        if first in {-1, len(tensor.numbers)} and row == tensor.shape[1:]:
            return tensor
        if row[1:] == tensor.shape[1:]:
            return _in_parts(tensor, _whole(first), row[0])
        if not tensor.has_true_sizes or first not in {-1, len(tensor.numbers)} or prod(row) != prod(tensor.sizes):
            raise NotFollowed
        return changed(tensor._replace(rank=1 + len(row), sizes=row), "reshapes its rows")
    return _together(tensor, first, row)


def _together(tensor: Stacked, first: float, row: tuple[int, ...]) -> Rows:
    """The parts of a stack as rows of that shape; `first` is their number, or -1."""
    parts = tensor.parts
    in_turn = zip(*(part.numbers for part in parts), strict=True) if tensor.axis else (part.numbers for part in parts)
    numbers = tuple(number for some in in_turn for number in some)
    if first not in {-1, len(numbers)}:
        raise NotFollowed
    whole = joined(parts)
    together = whole._replace(numbers=numbers)
    if row == whole.shape[1:]:
        return together
    if not whole.has_true_sizes:
        return together._replace(is_partly=True)  # literal sizes may be others than a row's
    return changed(together._replace(may_have_moved=True), "reshapes its rows")


def _in_parts(tensor: Rows, first: int, second: int) -> Stacked:
    """Rows as `(-1, parts, ...)`, which deals them out, or as `(parts, -1, ...)`, which cuts them."""
    count = len(tensor.numbers)
    number = first if first > 0 else second
    if number < 1 or count % number or -1 not in {first, second} or {first, second} == {-1}:
        raise NotFollowed
    rows = tensor.numbers
    if first == -1:
        parts = [rows[k::number] for k in range(number)]
    else:
        share = count // number
        parts = [rows[k * share : (k + 1) * share] for k in range(number)]
    return Stacked(tuple(tensor._replace(numbers=part) for part in parts), int(first == -1))


def _pad(tensor: Value, paddings: Value, *_: Value, **__: Value) -> Value:
    """As it is where nothing is added."""
    if not isinstance(tensor, Rows):
        return by_kernel("pad", [tensor, paddings], {})
    amounts = [as_numbers(each) for each in as_entries(paddings)]
    if not amounts or any(amounts[0]):
        raise NotFollowed
    return changed(tensor, "pads the rows") if any(map(any, amounts)) else tensor


def _unstack(tensor: Value, *arguments: Value, **named: Value) -> Value:
    if isinstance(tensor, Stacked) and not arguments[1:] and named.get("axis", 0) == tensor.axis:
        return list(tensor.parts)
    return by_kernel("unstack", [tensor, *arguments], named)


def _whole(number: float) -> int:
    if number != int(number):
        raise NotFollowed
    return int(number)


def _cast(value: Value, dtype: Value = None) -> Value:
    kind = dtype.path.rpartition(".")[2] if isinstance(dtype, Named) else dtype
    if not isinstance(value, Rows):
        return by_kernel("cast", [value, kind], {})
    if kind not in COARSE and not value.change:
        raise NotFollowed
    return changed(value, f"casts the values to {kind}")


COARSE = frozenset({"float16", "half", "bfloat16", "bool"})
"""Types that hold less than what nearly every batch is made of; another type may be the batch's own."""

OF_SHAPES: Mapping[str, Callable[..., Value]] = {
    "shape": _shape,
    "int_shape": _int_shape,
    "slice": _slice,
    "strided_slice": _strided_slice,
    "stack": _stack,
    "reshape": _reshape,
    "pad": _pad,
    "unstack": _unstack,
    "cast": _cast,
    "to_int32": lambda value: _cast(value, "int32"),
    "to_float": lambda value: _cast(value, "float32"),
}
"""Functions that see more of a tensor than its rows."""


def _range(*bounds: Value) -> tuple[int, ...]:
    numbers = range(*(_whole(as_number(bound)) for bound in bounds))
    if len(numbers) > MAX_VALUES:
        raise NotFollowed
    return tuple(numbers)


def _slice_of(*ends: Value) -> slice:
    bounds = [None if end is None else _whole(as_number(end)) for end in ends]
    if bounds[2:] == [0]:
        raise NotFollowed
    return slice(*bounds)


def _least_or_most(choose: Callable[..., float]) -> Callable[..., Value]:
    """`min` or `max`, of numbers, or of those in one list."""

    def chosen(*values: Value) -> float:
        return choose(map(as_number, values if len(values) > 1 else each(*values)))

    return chosen


def _reversed(values: Value) -> Once:
    if not isinstance(values, (list, tuple)) or type(values) not in PLAIN_LISTS:
        raise NotFollowed
    return Once(reversed(values))


def _sum(values: Value, start: Value = 0) -> Value:
    return reduce(lambda so_far, value: row_operations.binary("+", so_far, value), each(values), start)


BUILTINS: Mapping[str, Callable[..., Value]] = {
    "int": lambda value: int(as_number(value)),
    "float": lambda value: float(as_number(value)),
    "len": lambda value: len(as_entries(value)),
    "min": _least_or_most(min),
    "max": _least_or_most(max),
    "slice": _slice_of,
    "range": _range,
    "xrange": _range,
    "list": lambda value=(): list(each(value)),
    "tuple": lambda value=(): tuple(each(value)),
    "enumerate": lambda values, start=0: Once(enumerate(each(values), _whole(as_number(start)))),
    "zip": lambda *values: Once(zip(*map(each, values), strict=False)),
    "reversed": _reversed,
    "sorted": lambda values, reverse=False: sorted(map(as_number, each(values)), reverse=bool(as_number(reverse))),
    "sum": _sum,
}
