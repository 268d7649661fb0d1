"""The rows that a Lambda's stored code takes, found by following the code with numbered rows: nothing is run.

The machine of `core/byte_code` has values of `row_values` on its stack: a batch of known size, and the numbers
that the file stores beside the code. Branches are followed where their condition is known. What is not known for
certain ends it without an answer; so does code that different Pythons mean differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import Literal

from unnest.core.byte_code import code_objects
from unnest.core.byte_code.inner import TooMuch
from unnest.core.byte_code.interpretation import Interpretation, NotFollowed, Plain
from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.opcodes import Impossible, Python
from unnest.core.byte_code.stored_function import arguments_of, readings
from unnest.core.model import Json
from unnest.core.recognise import row_functions, row_operations, row_values
from unnest.core.recognise.row_values import ListMethod, Named, Once, Rows, Scope, Unexplained, Value

MODULES = {
    "K": "keras.backend",
    "KB": "keras.backend",
    "backend": "keras.backend",
    "ops": "keras.ops",
    "tf": "tensorflow",
    "array_ops": "tensorflow.array_ops",
    "math_ops": "tensorflow.math_ops",
    "keras": "keras",
    "np": "numpy",
    "math": "math",
}
"""What a name that the code does not store stands for: the customary imports, and those of TensorFlow's own code."""


SCOPES = frozenset({"device", "name_scope", "variable_scope", "control_dependencies", "colocate_with"})
"""Functions for `with` statements that say where, under which name, or after what things are computed."""


def follow(
    function: Json, arguments: Mapping[str, Json], given: Callable[[int], Value], ranks: Sequence[int]
) -> Value | None:
    """What a stored function returns for `given(rank)`, for the first rank with an answer; None where nobody can tell.

    `function` is `[code, defaults, closure]`, or what Keras 3 makes of it; `arguments` are the layer's.
    """
    text, defaults, closure = code_objects.parts_of(function)
    if text is None:
        return None
    with suppress(TooMuch):
        for has_dynamic_shape, rank in product((False, True), ranks):
            results = []
            with suppress(NotFollowed):
                stored = {name: row_values.stored(value) for name, value in arguments.items()}
                free = _values(closure)
                for code, python in readings(text):
                    local = arguments_of(code, given(rank), _values(defaults), stored)
                    meaning = NumberedRows([*local.values(), *free], python, has_dynamic_shape=has_dynamic_shape)
                    with suppress(Impossible):
                        results.append(Machine(python, code, meaning, local, free).run())
            is_agreed = results and all(result == results[0] for result in results)
            if is_agreed and not isinstance(results[0], Unexplained):
                return results[0]
    return None


def _values(stored: Json) -> list[Value]:
    """The values of a stored list; none for null."""
    values = row_values.stored(stored) if stored is not None else []
    if not isinstance(values, list):
        raise NotFollowed("no list")
    return values


class NumberedRows(Interpretation[Value]):
    """Tensors are numbered rows, all else is what Python has: see `row_values`.

    `kept` is what other calls of the function have as well: lists in it are not to be changed. `python` wrote the code.
    `has_dynamic_shape`: whether `x.shape` tells the number of rows, as it does with Theano and JAX; in TensorFlow it is
    not known where a model is made.
    """

    branches = True

    def __init__(self, kept: Sequence[Value], python: Python, *, has_dynamic_shape: bool = False) -> None:
        self._kept = row_values.lists_in(kept)
        self._python = python
        self._has_dynamic_shape = has_dynamic_shape
        self._given_away: list[list[Value]] = []

    def constant(self, value: Plain) -> Value:
        """Itself."""
        return value

    def plain(self, value: Value) -> object:
        """Itself."""
        return value

    def size(self, value: Value) -> int:
        """A share of the numbers in it, those in lists of lists each time.

        Raises NotFollowed for lists that somebody's own function was given, and may have changed.
        """
        size = row_values.size(value)
        if self._given_away and _has_any(row_values.lists_in([value]), self._given_away):
            raise NotFollowed
        return size

    def sequence(self, kind: Literal["list", "tuple"], parts: Sequence[Value]) -> Value:
        """Python's own."""
        return tuple(parts) if kind == "tuple" else list(parts)

    def extended(self, parts: Value, more: Value) -> Value:
        """Of a list or tuple, or of what `zip` and the like give."""
        return [*row_values.each(parts), *row_values.each(more)]

    def unpacked(self, value: Value, count: int) -> Sequence[Value]:
        """The same, or of what nothing explains."""
        if isinstance(value, Unexplained):
            return [value] * count
        parts = list(islice(row_values.each(value), count + 1))
        if len(parts) != count:
            raise NotFollowed
        return parts

    def slice_of(self, ends: Sequence[Value]) -> Value:
        """With integers for ends, or with what nothing explains."""
        if any(end is not None and not isinstance(end, (int, Unexplained)) for end in ends) or ends[2:] == [0]:
            raise NotFollowed
        return slice(*ends)

    def subscript(self, of: Value, key: Value) -> Value:
        """Rows by number, entries of a list."""
        return row_operations.subscript(of, key)

    def unary(self, symbol: Literal["+", "-", "~"], value: Value) -> Value:
        """`-value` alone."""
        if symbol != "-":
            raise NotFollowed
        return row_operations.negative(value)

    def binary(self, symbol: str, left: Value, right: Value) -> Value:
        """Arithmetic on numbers; on rows a change. Texts with numbers in them are names, of devices and the like."""
        if symbol == "%" and isinstance(left, str):
            return Unexplained(left)
        return row_operations.binary(symbol, left, right)

    def compare(self, symbol: str, left: Value, right: Value) -> Value:
        """The same."""
        return row_operations.binary(symbol, left, right)

    def named(self, name: str) -> Value:
        """Of the customary imports, and a few builtins; any other may be whatever its author likes."""
        if name not in MODULES and name not in row_functions.BUILTINS:
            return Unexplained(name)
        return Named(MODULES.get(name, name))

    def module(self, path: str) -> Value:
        """By its path."""
        return Named(path)

    def attribute(self, of: Value, name: str) -> Value:
        """Of modules and of rows."""
        if self._has_dynamic_shape and isinstance(of, Rows) and name == "shape" and not of.is_reduced:
            return of.shape
        if isinstance(of, str) and name == "format":
            return Unexplained(of)
        attribute = row_operations.attribute(of, name)
        if isinstance(attribute, ListMethod):
            self._check_is_new(attribute.of)
        return attribute

    def call(self, function: Value, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Of the functions in `row_functions`; others may do anything to the lists that they are given."""
        if isinstance(function, Named) and function.path.rpartition(".")[2] in SCOPES and "." in function.path:
            return Scope(function.path)
        result = row_functions.call(function, positional, keywords)
        if isinstance(result, Unexplained) and not _leaves_lists(function):
            values = [*positional, *keywords.values()]
            self._given_away += row_values.lists_in(values)
            for value in values:
                if isinstance(value, Once):
                    value.begin()
        if function == Named("zip") and self._python.version == "2.7" and isinstance(result, Once):
            return list(result.begin())
        return result

    def _check_is_new(self, value: list[Value]) -> None:
        if _has_any([value], self._kept):
            raise NotFollowed("a list that other calls see as well")

    def entered(self, value: Value) -> Value:
        """Of devices, of names and the like, which change nothing of what is computed in them."""
        if not isinstance(value, Scope):
            raise NotFollowed("a with statement")
        return Unexplained(value.path)

    def truth(self, value: Value) -> bool:
        """Of numbers and texts."""
        return row_operations.truth(value)

    def in_place(self, symbol: str, left: Value, right: Value) -> Value:
        """Lists that are new grow."""
        if isinstance(left, list):
            self._check_is_new(left)
        return row_operations.in_place(symbol, left, right)

    def iterator(self, value: Value) -> Iterator[Value]:
        """Of a list or tuple, or of what `zip` and the like give."""
        return row_values.each(value)

    def generator(self, values: Iterator[Value]) -> Value:
        """Good for one time."""
        return Once(values)


def _has_any(lists: Sequence[list[Value]], others: Sequence[list[Value]]) -> bool:
    """Whether one of these is one of those: the same list, not one that is equal."""
    return any(each is other for each in lists for other in others)


def _leaves_lists(function: Value) -> bool:
    """Whether a function is one of TensorFlow or Keras, none of which changes a list."""
    return isinstance(function, Named) and function.path.partition(".")[0] in {"tensorflow", "keras"}
