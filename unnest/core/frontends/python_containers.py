"""Lists, tuples and dictionaries of stored code that is followed: their methods, operators and entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableSequence, Sequence

from unnest.core.frontends.python_values import (
    MAX_ENTRIES,
    UNKNOWN,
    Evaluator,
    PythonValue,
    flat,
)
from unnest.core.interpreters.trace import TracedTensor
from unnest.core.model import Unknown


def extend(evaluator: Evaluator, of: list[PythonValue], values: PythonValue) -> None:
    """Extend a list. Raises Unknown if list and values depend on each other, or for too many values."""
    count, more = len(of), tuple(evaluator.iterator(values))
    if len(of) != count or count + len(more) > MAX_ENTRIES:
        raise Unknown("a list that grows")
    of.extend(more)


def _append(_: Evaluator, of: list[PythonValue], value: PythonValue) -> None:
    of.append(value)


def _insert(
    evaluator: Evaluator, of: list[PythonValue], place: PythonValue, value: PythonValue
) -> None:
    of.insert(evaluator.whole(place), value)


def _reverse(_: Evaluator, of: list[PythonValue]) -> None:
    of.reverse()


def _pop(evaluator: Evaluator, of: list[PythonValue], place: PythonValue = -1) -> PythonValue:
    return of.pop(evaluator.whole(place))


def _index(_: Evaluator, of: Sequence[PythonValue], value: PythonValue) -> int:
    _check_plain([value, *of])
    return of.index(value)


def _count(_: Evaluator, of: Sequence[PythonValue], value: PythonValue) -> int:
    _check_plain([value, *of])
    return of.count(value)


def _get(
    _: Evaluator, of: Mapping[PythonValue, PythonValue], key: PythonValue, other: PythonValue = None
) -> PythonValue:
    return UNKNOWN if key is UNKNOWN else of.get(key, other)


CHANGING: Mapping[str, Callable[..., PythonValue]] = {
    "append": _append,
    "insert": _insert,
    "extend": extend,
    "reverse": _reverse,
    "pop": _pop,
}
"""Methods of a list that change it, each given an `Evaluator` and the list first."""

READING: Mapping[type, Mapping[str, Callable[..., PythonValue]]] = {
    list: {"index": _index, "count": _count},
    tuple: {
        "index": _index,
        "count": _count,
        "as_list": lambda _, of: list(of),
    },
    dict: {
        "get": _get,
        "keys": lambda _, of: [*of],
        "values": lambda _, of: [*of.values()],
        "items": lambda _, of: [*of.items()],
    },
}
"""Methods that change nothing, a shape's `as_list` among them: shapes are tuples here."""


def contains(of: PythonValue, value: PythonValue) -> bool:
    """Return `value in of`. Raises Unknown unless all of it are plain values."""
    if not isinstance(of, (list, tuple, dict)):
        raise Unknown("a membership test")
    _check_plain([value, *of])
    return value in of


def _check_plain(values: Sequence[PythonValue]) -> None:
    """Raise Unknown for values that cannot be compared: tensors, functions, what is not known."""
    if not all(isinstance(each, (bool, int, float, str, type(None))) for each in flat(values)):
        raise Unknown("a comparison with a value that is not known")


def arithmetic(
    evaluator: Evaluator, symbol: str, left: PythonValue, right: PythonValue
) -> PythonValue:
    """Return the result of Python's `+` and `*` of lists and tuples. Raises Unknown."""
    if symbol == "+" and type(left) is type(right):
        return left + right
    of, times = (left, right) if isinstance(left, (list, tuple)) else (right, left)
    if symbol != "*" or len(of) * evaluator.whole(times) > MAX_ENTRIES:
        raise Unknown(f"the operator {symbol} of lists")
    return of * evaluator.whole(times)


def entry(evaluator: Evaluator, of: PythonValue, key: PythonValue) -> PythonValue:
    """Return `of[key]`. Raises Unknown, LookupError and the like where Python raises them."""
    if isinstance(of, dict):
        return UNKNOWN if key is UNKNOWN else of[key]
    if not isinstance(of, (list, tuple)):
        raise Unknown("a subscript")
    if isinstance(key, slice):
        ends = (key.start, key.stop, key.step)
        return of[slice(*(end if end is None else evaluator.whole(end) for end in ends))]
    return of[evaluator.whole(key)]


def set_entry(evaluator: Evaluator, of: PythonValue, key: PythonValue, value: PythonValue) -> None:
    """Do `of[key] = value`. Raises Unknown, LookupError where Python raises it."""
    if isinstance(of, dict):
        _check_plain([key])
        of[key] = value
    elif isinstance(of, MutableSequence) and not isinstance(key, (slice, TracedTensor)):
        of[evaluator.whole(key)] = value
    else:
        raise Unknown("an assignment to a part")


def iterator(value: PythonValue) -> Iterator[PythonValue]:
    """Return an iterator over a list, a tuple or the keys of a dictionary. Raises Unknown for other values."""
    if not isinstance(value, (list, tuple, dict)):
        raise Unknown("a loop over an unknown value")
    return iter(value)
