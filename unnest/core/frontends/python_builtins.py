"""Python's own functions, for values of stored code that is followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Protocol

from unnest.core.frontends.python_values import MAX_ENTRIES, Once, PythonFunction, PythonValue
from unnest.core.model import Unknown


class Evaluator(Protocol):
    """Python's rules for values of the trace. Methods raise Unknown."""

    def number(self, value: PythonValue) -> float:
        """Return a Python number. Raises Unknown."""

    def whole(self, value: PythonValue) -> int:
        """Return a whole Python number. Raises Unknown."""

    def iterator(self, value: PythonValue) -> Iterator[PythonValue]:
        """Return an iterator over a list, a tuple or an iterator."""

    def slice_of(self, ends: Sequence[PythonValue]) -> PythonValue:
        """Return `slice(*ends)`."""

    def binary(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return `left symbol right`."""

    def truth(self, value: PythonValue) -> bool:
        """Return the truth of a value."""

    def call(
        self,
        function: PythonValue,
        positional: Sequence[PythonValue],
        keywords: Mapping[str, PythonValue],
    ) -> PythonValue:
        """Return `function(*positional, **keywords)`."""


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
    "sum": lambda evaluator, values, start=0: reduce(
        lambda total, value: evaluator.binary("+", total, value), evaluator.iterator(values), start
    ),
}
"""Python's functions that are followed, each given an `Evaluator` first."""

LISTS_OF_PYTHON_2 = frozenset({"zip", "map", "filter"})
"""Those that give lists in Python 2, iterators since."""
