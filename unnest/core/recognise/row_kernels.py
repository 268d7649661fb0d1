"""Kernels on numbered rows and known numbers: a tensor of rows is the array of their numbers there.

So there is one table of what operations do (`kernels`), for graphs and for stored code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.ops.apply import apply, is_known
from unnest.core.ops.call import OpCall, plain_name
from unnest.core.ops.elements import ELEMENT, NOT_COMPUTED, Array, ByContents
from unnest.core.ops.registry import OPERATIONS
from unnest.core.recognise.row_values import (
    MAX_VALUES,
    PLAIN_LISTS,
    Named,
    Rows,
    Unexplained,
    Value,
    Vector,
    as_entries,
    as_numbers,
    changed,
    computed_with,
    is_number,
    joined,
)

OF_ROWS = frozenset({
    "concat", "concatenate", "split", "gather", "take", "booleanmask", "dynamicpartition", "dynamicstitch", "reverse",
    "identity", "stopgradient",
})  # fmt: skip
"""The kernels that move rows about and leave what is in them as it is, along axis 0."""

LISTS = frozenset({"split", "dynamicpartition"})
"""The kernels that give a list, of one entry too."""

OF_ONE_VALUE = ("ones_like", "zeros_like")
"""How functions' names end that give one value everywhere, whatever the tensor holds."""

OTHER_NAMES = {"pack": "stack"}
"""What TensorFlow before 1.0 calls functions."""


def by_kernel(name: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """What the function of that name gives.

    Raises:
        NotFollowed: For functions that are in no table, and for arguments that they do not take.

    """
    try:
        return _of_kernel(name, positional, keywords)
    except NOT_COMPUTED as error:
        raise NotFollowed from error


def _of_kernel(name: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    kernel = OTHER_NAMES.get(name, plain_name(name))
    if not is_known(OpCall(kernel, (), {})):
        return Unexplained(name)
    if OPERATIONS[kernel].takes_all:
        return _value(_carried_out(OpCall(kernel, [_array(value) for value in positional], {}))[0], None, name)
    given = OPERATIONS[kernel].bind(_in_todays_order(kernel, positional), keywords)
    rows = _rows_in(given.values())
    if rows:
        if kernel not in OF_ROWS:
            return Unexplained(name)
        change = _along_another_axis(kernel, given, rows[0].rank)
        if change:
            return _changed_parts(kernel, given, rows, change)
    try:
        results = _carried_out(OpCall(kernel, (), {key: _array(value) for key, value in given.items()}))
    except ByContents as error:  # a mask, or indices, made of the tensor
        whole = given.get("x")
        if not isinstance(whole, Rows):
            raise NotFollowed from error
        if any(each.change.endswith(OF_ONE_VALUE) for each in rows if each is not whole):
            raise NotFollowed from error  # a mask of numbers that could be known
        how = f"chooses rows by their values (`{name}`)"
        chosen = changed(whole, how)._replace(along=whole.along or how)
        return [chosen] * _few(given.get("num")) if kernel in LISTS else chosen
    whole = joined(rows) if rows else None
    values = [_value(result, whole, name) for result in results]
    return values if kernel in LISTS else values[0]


def _in_todays_order(kernel: str, positional: Sequence[Value]) -> Sequence[Value]:
    """The arguments as TensorFlow has them since 1.0; before, `concat` and `split` had the axis first."""
    if kernel == "concat" and positional and is_number(positional[0]):
        return [*positional[1:2], positional[0], *positional[2:]]
    if kernel == "split" and len(positional) > 2 and isinstance(positional[2], Rows):  # noqa: PLR2004 - axis, number, value
        return [positional[2], positional[1], positional[0]]
    return positional


def _along_another_axis(kernel: str, given: dict[str, Value], rank: int) -> str:
    """What is done along another axis than that of the rows, "" for nothing; else `given` has axis 0 from here on.

    Raises NotFollowed where that is not known.
    """
    last_of_all = -1 if kernel == "concatenate" else 0  # Keras's own default
    axes = [axis for axis in as_numbers(given.get("axis", last_of_all)) if axis not in {0, -rank}]
    if axes and kernel in DOING:
        return f"{DOING[kernel]} axis {axes[0]:g}"
    if axes:
        raise NotFollowed
    if "axis" in given:
        given["axis"] = 0
    return ""


DOING = {
    "gather": "gathers along", "take": "gathers along", "reverse": "reverses", "split": "splits",
    "concat": "joins along", "concatenate": "joins along", "booleanmask": "masks along",
}  # fmt: skip
"""What kernels do that change rows along another axis than theirs."""


def _changed_parts(kernel: str, given: Mapping[str, Value], rows: Sequence[Rows], change: str) -> Value:
    """What a kernel gives that leaves rows in their places. Raises NotFollowed where it puts other rows together."""
    if any(each.numbers != rows[0].numbers for each in rows):
        raise NotFollowed
    whole = computed_with(rows, change)
    if kernel not in LISTS:
        return whole
    parts = given.get("parts")
    return [whole] * (len(as_numbers(parts)) if isinstance(parts, (Vector, list, tuple)) else _few(parts))


def _few(count: Value) -> int:
    if not isinstance(count, int) or not 0 < count <= MAX_VALUES:
        raise NotFollowed
    return count


def _carried_out(what: OpCall) -> tuple[Array, ...]:
    with np.errstate(divide="raise", invalid="raise"):
        return apply(what, _no_tensor)


def _no_tensor(_: object) -> Array:
    raise NotFollowed  # arguments are arrays


def _rows_in(values: Iterable[Value]) -> list[Rows]:
    """The tensors of rows among some arguments, and in lists among them."""
    lists = [as_entries(value) if type(value) in PLAIN_LISTS else (value,) for value in values]
    return [value for each in lists for value in each if isinstance(value, Rows)]


def _array(value: Value) -> object:
    """An argument as kernels take it: rows and vectors are arrays of one axis, types are called by their last name."""
    if isinstance(value, Rows):
        return np.array(value.numbers, np.int32).view(ELEMENT)
    if isinstance(value, Vector):
        return np.asarray(value.values) if value.values else np.zeros(0, np.int64)
    if isinstance(value, Named):
        return value.path.rpartition(".")[2]
    if isinstance(value, (int, float, str, type(None))):
        return value
    return [_array(part) for part in as_entries(value)]


def _value(array: Array, rows: Rows | None, name: str) -> Value:
    """What the kernel of a function gives, as the code goes on with it; `rows` is the tensor that the rows are of."""
    if array.dtype == ELEMENT and rows is not None:
        return rows._replace(numbers=tuple(array["element"].tolist()))
    if array.ndim > 1:
        return Unexplained(name)  # numbers that no cut needs
    return Vector(tuple(array.tolist())) if array.ndim else array.item()
