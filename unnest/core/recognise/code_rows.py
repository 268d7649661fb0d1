"""The rows that a Lambda's stored code takes, found by following the code with numbered rows: nothing is run.

The machine of `core/byte_code` has values of `row_values` on its stack: a batch of known size, and the numbers
that the file stores beside the code. Branches are followed where their condition is known. What is not known for
certain ends it without an answer; so does code that different Pythons mean differently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Literal

from unnest.core.byte_code import code_objects
from unnest.core.byte_code.interpretation import Interpretation, NotFollowed, Plain
from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.opcodes import Impossible
from unnest.core.byte_code.stored_function import arguments_of, readings
from unnest.core.model import Json
from unnest.core.recognise import row_functions, row_operations, row_values
from unnest.core.recognise.row_values import Named, Rows, Unexplained, Value

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


def follow(
    function: Json, arguments: Mapping[str, Json], given: Callable[[int], Value], ranks: Sequence[int]
) -> Value | None:
    """What a stored function returns for `given(rank)`, for the first rank with an answer; None where nobody can tell.

    `function` is `[code, defaults, closure]`, or what Keras 3 makes of it; `arguments` are the layer's.
    """
    text, defaults, closure = code_objects.parts_of(function)
    if text is None:
        return None
    for meaning, rank in product((NumberedRows(), NumberedRows(has_dynamic_shape=True)), ranks):
        results = []
        with suppress(NotFollowed):
            stored = {name: row_values.stored(value) for name, value in arguments.items()}
            free = _values(closure)
            for code, python in readings(text):
                local = arguments_of(code, given(rank), _values(defaults), stored)
                with suppress(Impossible):
                    results.append(Machine(python, code, meaning, local, free).run())
            if results and all(result == results[0] for result in results) and not isinstance(results[0], Unexplained):
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

    `has_dynamic_shape`: whether `x.shape` tells the number of rows, as it does with Theano and JAX; in TensorFlow it is
    not known where a model is made.
    """

    branches = True

    def __init__(self, *, has_dynamic_shape: bool = False) -> None:
        self._has_dynamic_shape = has_dynamic_shape

    def constant(self, value: Plain) -> Value:
        """Itself."""
        return value

    def plain(self, value: Value) -> object:
        """Itself."""
        return value

    def size(self, value: Value) -> int:
        """A share of the numbers in it, those in lists of lists each time."""
        return row_values.size(value)

    def sequence(self, kind: Literal["list", "tuple"], parts: Sequence[Value]) -> Value:
        """Python's own."""
        return tuple(parts) if kind == "tuple" else list(parts)

    def extended(self, parts: Value, more: Value) -> Value:
        """By a tuple."""
        if not isinstance(parts, list) or not isinstance(more, tuple) or type(more) is not tuple:
            raise NotFollowed
        return [*parts, *more]

    def unpacked(self, value: Value, count: int) -> Sequence[Value]:
        """Of a list or tuple, or of what nothing explains."""
        if isinstance(value, Unexplained):
            return [value] * count
        if not isinstance(value, (list, tuple)) or type(value) not in row_values.PLAIN_LISTS or len(value) != count:
            raise NotFollowed
        return value

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
        """Arithmetic on numbers; on rows a change."""
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
        if self._has_dynamic_shape and isinstance(of, Rows) and name == "shape":
            return of.shape
        return row_operations.attribute(of, name)

    def call(self, function: Value, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Of the functions in `row_functions`."""
        return row_functions.call(function, positional, keywords)

    def truth(self, value: Value) -> bool:
        """Of numbers and texts."""
        return row_operations.truth(value)
