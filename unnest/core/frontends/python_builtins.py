"""Python's own functions, for values of stored code that is followed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from unnest.core.frontends.python_values import (
    MAX_ENTRIES,
    UNKNOWN,
    Evaluator,
    Name,
    Once,
    PythonFunction,
    PythonValue,
)
from unnest.core.model import Unknown


def _range(evaluator: Evaluator, *bounds: PythonValue) -> tuple[int, ...]:
    numbers = range(*map(evaluator.whole, bounds))
    if len(numbers) > MAX_ENTRIES:
        raise Unknown("a long range")
    return tuple(numbers)


def _least_or_most(choose: Callable[..., Any]) -> Callable[..., PythonValue]:
    """Return `min` or `max` for numbers, or for the numbers in one list."""
    return lambda evaluator, *values: choose(
        map(evaluator.number, values if len(values) > 1 else evaluator.iterator(*values))
    )


def _reversed(_: Evaluator, values: PythonValue) -> Once:
    if not isinstance(values, (list, tuple)):
        raise Unknown("no list")
    return Once(reversed(values))


def _length(_: Evaluator, values: PythonValue) -> int:
    if not isinstance(values, (list, tuple)):
        raise Unknown("no list")
    return len(values)


def _sorted(
    evaluator: Evaluator, values: PythonValue, key: PythonValue = None, reverse: PythonValue = False
) -> list[PythonValue]:
    def place(value: PythonValue) -> float:
        return evaluator.number(value if key is None else evaluator.call(key, [value], {}))

    return sorted(evaluator.iterator(values), key=place, reverse=bool(evaluator.number(reverse)))


def _map(evaluator: Evaluator, function: PythonValue, *values: PythonValue) -> Once:
    together = zip(*map(evaluator.iterator, values), strict=False)
    return Once(evaluator.call(function, each, {}) for each in together)


def _filter(evaluator: Evaluator, function: PythonValue, values: PythonValue) -> Once:
    def is_kept(value: PythonValue) -> bool:
        return evaluator.truth(value if function is None else evaluator.call(function, [value], {}))

    return Once(filter(is_kept, evaluator.iterator(values)))


def _reduce(
    evaluator: Evaluator, function: PythonValue, values: PythonValue, *first: PythonValue
) -> PythonValue:
    return reduce(
        lambda so_far, value: evaluator.call(function, [so_far, value], {}),
        evaluator.iterator(values),
        *first,
    )


def _partial(
    evaluator: Evaluator, function: PythonValue, *first: PythonValue, **fixed: PythonValue
) -> PythonFunction:
    return PythonFunction(
        lambda positional, keywords: evaluator.call(
            function, [*first, *positional], {**fixed, **keywords}
        )
    )


def _dict(
    evaluator: Evaluator, entries: PythonValue = (), **more: PythonValue
) -> dict[PythonValue, PythonValue]:
    if isinstance(entries, dict):
        return {**entries, **more}
    pairs = [tuple(evaluator.iterator(each)) for each in evaluator.iterator(entries)]
    if not all(isinstance(key, (bool, int, float, str)) for key, _ in pairs):
        raise Unknown("a dictionary with keys that are not known")
    return {**dict(pairs), **more}


CLASSES: Mapping[str, type] = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "list": list,
    "tuple": tuple,
    "dict": dict,
}
"""Python's classes that `isinstance` is asked about."""


def _isinstance(evaluator: Evaluator, value: PythonValue, classes: PythonValue) -> bool:
    """Return `isinstance(value, classes)` for Python's own classes; a tensor is of none of them."""
    asked = [*evaluator.iterator(classes)] if isinstance(classes, tuple) else [classes]
    if not all(isinstance(each, Name) and each.path in CLASSES for each in asked):
        raise Unknown("a class that is not known")
    return isinstance(value, tuple(CLASSES[each.path] for each in asked))


def _next(evaluator: Evaluator, values: PythonValue, *default: PythonValue) -> PythonValue:
    """Return the first value of an iterator, of which nothing more is known to be read."""
    if not isinstance(values, Once):
        raise Unknown("no iterator")
    return next(evaluator.iterator(values), *(default or (UNKNOWN,)))


def _str(_: Evaluator, value: PythonValue) -> PythonValue:
    return str(value) if isinstance(value, (int, str)) else UNKNOWN


def _switch(
    evaluator: Evaluator,
    condition: PythonValue,
    then_expression: PythonValue,
    else_expression: PythonValue,
) -> PythonValue:
    """Return one of two values, or what one of two functions returns."""
    chosen = then_expression if evaluator.truth(condition) else else_expression
    return evaluator.call(chosen, [], {}) if isinstance(chosen, PythonFunction) else chosen


def _cond(
    evaluator: Evaluator, pred: PythonValue, true_fn: PythonValue, false_fn: PythonValue
) -> PythonValue:
    """Return what `tf.cond` returns."""
    return _switch(evaluator, pred, true_fn, false_fn)


BUILTIN_FUNCTIONS: Mapping[str, Callable[..., PythonValue]] = {
    "int": lambda evaluator, value: int(evaluator.number(value)),
    "float": lambda evaluator, value: float(evaluator.number(value)),
    "len": _length,
    "min": _least_or_most(min),
    "max": _least_or_most(max),
    "slice": lambda evaluator, *ends: evaluator.slice_of(ends),
    "range": _range,
    "xrange": _range,
    "list": lambda evaluator, values=(): list(evaluator.iterator(values)),
    "tuple": lambda evaluator, values=(): tuple(evaluator.iterator(values)),
    "enumerate": lambda evaluator, values, start=0: Once(
        enumerate(evaluator.iterator(values), evaluator.whole(start))
    ),
    "zip": lambda evaluator, *values: Once(zip(*map(evaluator.iterator, values), strict=False)),
    "reversed": _reversed,
    "sorted": _sorted,
    "map": _map,
    "filter": _filter,
    "reduce": _reduce,
    "functools.reduce": _reduce,
    "functools.partial": _partial,
    "bool": lambda evaluator, value: evaluator.truth(value),
    "str": _str,
    "dict": _dict,
    "isinstance": _isinstance,
    "iter": lambda evaluator, values: Once(evaluator.iterator(values)),
    "next": _next,
    "abs": lambda evaluator, value: abs(evaluator.number(value)),
    "any": lambda evaluator, values: any(map(evaluator.truth, evaluator.iterator(values))),
    "all": lambda evaluator, values: all(map(evaluator.truth, evaluator.iterator(values))),
    "math.ceil": lambda evaluator, value: math.ceil(evaluator.number(value)),
    "math.floor": lambda evaluator, value: math.floor(evaluator.number(value)),
    "operator.getitem": lambda evaluator, of, key: evaluator.subscript(of, key),
    "tensorflow.cond": _cond,
    "keras.backend.switch": _switch,
    "sum": lambda evaluator, values, start=0: reduce(
        lambda total, value: evaluator.binary("+", total, value), evaluator.iterator(values), start
    ),
}
"""Python's functions that are followed, each given an `Evaluator` first."""

LISTS_OF_PYTHON_2 = frozenset({"zip", "map", "filter"})
"""Those that give lists in Python 2, iterators since."""
