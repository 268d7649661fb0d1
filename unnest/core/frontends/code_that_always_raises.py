"""Errors that stored code is certain to raise, as its Keras hands it what JSON made of the values beside it, or none.

A function, class or module becomes its name, a tuple a list, a number as a key a text, and an array, in tf.keras and
without arithmetic on it, a list of lists. (Source: files of Keras 2.0.9 to TensorFlow 2.15, loaded by the stack that
wrote each.)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

from unnest.budget import memoize_across_files
from unnest.core import json_tree
from unnest.core.byte_code.candidate_decodings import readings
from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible
from unnest.core.byte_code.opcode_tables import Python
from unnest.core.byte_code.read_code_objects import ANY_KEYWORDS, ANY_POSITIONAL
from unnest.core.byte_code.value_domain import PlainValue, ValueDomain
from unnest.core.frontends.python_values import ON_NUMBERS, UNKNOWN, PythonValue, UnknownValue
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json, JsonObject, Unknown

PLAIN_TYPES = (bool, int, float, str, list, tuple, dict, type(None))
"""Types of stored values, none of which can be called."""

DECODED = ("__tuple__", "__ellipsis__", "TensorShape", "TypeSpec", "CompositeTensor")
"""Classes of objects in an `.h5` that tf.keras makes values of again; others stay dictionaries."""


OF_TYPE: Mapping[type, object] = {
    bool: True, int: 1, float: 1.0, str: "a", list: [1], tuple: (1,), dict: {}, type(None): None
}  # fmt: skip
"""Type of a stored value -> a small value of it, which shows whether an operator takes such values."""

GIVEN_BY_KERAS = ("mask", "training")
"""Parameters that Keras itself gives a value."""

UNARY: Mapping[str, Callable[..., object]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
}
ORDER: Mapping[str, Callable[..., object]] = {s: ON_NUMBERS[s] for s in ("<", "<=", ">", ">=")}
BINARY: Mapping[str, Callable[..., object]] = {
    **{symbol: ON_NUMBERS[symbol] for symbol in ("+", "-", "*", "/", "classic /", "//", "%")},
    "**": operator.pow,
    "@": operator.matmul,
}
"""Python's operators on two values, by what it writes for them."""

MAX_ENTRIES = 1000
"""Entries of a list that is computed; a longer one is UNKNOWN."""


class PythonError(Unknown):
    """Python raises an exception here."""


def raises(function: Json, arguments: Mapping[str, Json], *, reads_arrays: bool) -> bool:
    """Return True if a Lambda's stored code raises whatever its inputs are, under each Python that may have written it.

    `function` is `[code, defaults, closure]`, `arguments` are the layer's; `reads_arrays`: its Keras makes arrays of
    arrays among the closure, as of those among the arguments.
    """
    text, defaults, closure = function_parts(function)
    beside = (defaults, closure, *arguments.values())
    # The loader of a .keras, where it is an object, makes functions of their names again.
    is_serialized = isinstance(function, Mapping)
    if text is None or is_serialized or all(value in (None, [], {}) for value in beside):
        return False
    question = json_tree.as_key([text, defaults, closure, dict(arguments)])
    follow = partial(_raises, text, defaults, closure, arguments, reads_arrays=reads_arrays)
    return (
        follow()
        if question is None
        else memoize_across_files((raises, question, reads_arrays), follow)
    )


def argument_without_value(function: Json, arguments: Mapping[str, Json]) -> str | None:
    """Return a parameter that stored code takes by its name alone, and that no call gives; None without one.

    Its default is lost: Keras stores those of the other parameters. (Source: func_dump and Lambda.call of Keras 2.0.9
    to 3.15; a function of TensorFlow 2.13 and one of Keras 3.15, which nothing calls again.)
    """
    text, _, _ = function_parts(function)
    found = []
    for code, _ in readings(text) if text is not None else ():
        by_name = code.locals[code.arguments : code.arguments + code.keyword_only]
        missing = [name for name in by_name if name not in {*arguments, *GIVEN_BY_KERAS}]
        found.append(missing[0] if missing else None)
    return found[0] if found and all(found) else None


def _raises(
    text: str, defaults: Json, closure: Json, arguments: Mapping[str, Json], *, reads_arrays: bool
) -> bool:
    """Return True if each Python that may have written the code raises for its stored values, any input given."""
    captured = _entries(_value(closure, reads_arrays=reads_arrays))
    last_defaults = _entries(_value(defaults, reads_arrays=reads_arrays))
    by_name = {name: _value(value, reads_arrays=True) for name, value in arguments.items()}
    is_certain = False
    for code, python in readings(text):
        if code.flags & (ANY_POSITIONAL | ANY_KEYWORDS):
            return False
        positional = code.locals[: code.arguments]
        names = code.locals[: code.arguments + code.keyword_only]
        local = dict.fromkeys(names, UNKNOWN)
        local |= dict(zip(reversed(positional), reversed(last_defaults), strict=False)) | by_name
        local |= dict.fromkeys(names[:1], UNKNOWN)
        try:
            Machine(python, code, StoredValues(python), local, captured).run()
        except Impossible:
            continue
        except PythonError:
            is_certain = True
        except Unknown:
            return False
        else:
            return False
    return is_certain


def _entries(value: PythonValue) -> list[PythonValue]:
    return value if isinstance(value, list) else []


def _value(stored: Json, *, reads_arrays: bool) -> PythonValue:
    """Return a stored value as Python's own; UNKNOWN for an array, or another object, that its Keras makes again."""

    def unpack(holder: Sequence[Json] | JsonObject, parts: list[PythonValue]) -> PythonValue:
        if not isinstance(holder, Mapping):
            return parts
        is_decoded = holder.get("class_name") in DECODED or (reads_arrays and "type" in holder)
        return UNKNOWN if is_decoded else dict(zip(holder, parts, strict=True))

    return json_tree.fold(stored, lambda leaf: leaf, unpack)


def _try(operation: Callable[..., object], *values: PythonValue) -> None:
    """Raise PythonError if Python has no such operation for values of these types."""
    try:
        operation(*(OF_TYPE[type(value)] for value in values))
    except TypeError as error:
        raise PythonError(str(error)) from error


def _list_of(symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
    """Return the list that a sum of two, or a product with a whole number, is; UNKNOWN if it is too long."""
    if isinstance(left, list) and isinstance(right, list) and len(left) + len(right) <= MAX_ENTRIES:
        return left + right if symbol == "+" else UNKNOWN
    entries, times = (left, right) if isinstance(left, list) else (right, left)
    if symbol == "*" and isinstance(entries, list) and isinstance(times, int):
        return entries * times if len(entries) * times <= MAX_ENTRIES else UNKNOWN
    return UNKNOWN


class StoredValues(ValueDomain[PythonValue]):
    """The meaning of straight code for stored values: all that is computed is UNKNOWN, what Python refuses raises."""

    def __init__(self, python: Python) -> None:
        self._python = python

    def constant(self, value: PlainValue) -> PythonValue:
        """Return a constant unchanged."""
        return value

    def plain(self, value: PythonValue) -> object:
        """Return a constant unchanged."""
        return value

    def size(self, *_: PythonValue) -> int:
        """Return 1: values grow no longer than the code is."""
        return 1

    def global_value(self, *_: PythonValue) -> PythonValue:
        """Return UNKNOWN."""
        return UNKNOWN

    def module(self, *_: PythonValue) -> PythonValue:
        """Return UNKNOWN."""
        return UNKNOWN

    def slice_of(self, *_: PythonValue) -> PythonValue:
        """Return UNKNOWN."""
        return UNKNOWN

    def unary(self, symbol: Literal["+", "-", "~"], value: PythonValue) -> PythonValue:
        """Return UNKNOWN. Raises PythonError for a stored value of a type that has no such operator."""
        if type(value) in OF_TYPE:
            _try(UNARY[symbol], value)
        return UNKNOWN

    def compare(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return UNKNOWN. Raises PythonError for stored values of types that Python 3 does not put in order."""
        is_followed = self._python.version != "2.7" and symbol in ORDER
        if is_followed and type(left) in OF_TYPE and type(right) in OF_TYPE:
            _try(ORDER[symbol], left, right)
        return UNKNOWN

    def extended(self, *_: PythonValue) -> PythonValue:
        """Return UNKNOWN."""
        return UNKNOWN

    def format_text(self, *_: PythonValue) -> PythonValue:
        """Return UNKNOWN."""
        return UNKNOWN

    def join_texts(self, *_: PythonValue) -> PythonValue:
        """Return UNKNOWN."""
        return UNKNOWN

    def sequence(self, kind: Literal["list", "tuple"], parts: Sequence[PythonValue]) -> PythonValue:
        """Return a Python list or tuple of the values."""
        return tuple(parts) if kind == "tuple" else list(parts)

    def unpacked(self, value: PythonValue, count: int) -> Sequence[PythonValue]:
        """Return the entries of a list or tuple of that length. Raises PythonError for another."""
        if not isinstance(value, (list, tuple)):
            return [UNKNOWN] * count
        if len(value) != count:
            raise PythonError("another number of values")
        return value

    def subscript(self, of: PythonValue, key: PythonValue) -> PythonValue:
        """Return an entry of a dictionary, list or tuple. Raises PythonError for a key that it does not take."""
        if isinstance(of, dict) and type(key) in OF_TYPE:
            if not isinstance(key, (str, int, float)) or key not in of:
                raise PythonError("a key that is not there")
            return of[key]
        if isinstance(of, (list, tuple)) and type(key) in OF_TYPE:
            if not isinstance(key, int) or not -len(of) <= key < len(of):
                raise PythonError("an index that a list has not")
            return of[key]
        if type(of) in (bool, int, float, type(None)):
            raise PythonError("an index of a number")
        return UNKNOWN

    def binary(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return a list of two, or of several times one, else UNKNOWN.

        Raises PythonError for stored values of types that have no such operator, and for arithmetic on a dictionary.
        """
        types = {type(left), type(right)}
        if symbol in ("+", "-", "*", "/", "classic /") and dict in types:
            raise PythonError("arithmetic on a dictionary")
        is_format = symbol == "%" and isinstance(left, str)
        if symbol in BINARY and types <= OF_TYPE.keys() and not is_format:
            _try(BINARY[symbol], left, right)
            if list in types:
                return _list_of(symbol, left, right)
        return UNKNOWN

    def attribute(self, of: PythonValue, name: str) -> PythonValue:
        """Return UNKNOWN. Raises PythonError for an attribute that values of the type have in no Python 3."""
        is_known = type(of) in PLAIN_TYPES and self._python.version != "2.7"
        if is_known and not hasattr(type(of), name):
            raise PythonError(f"an attribute {name}")
        return UNKNOWN

    def call(self, function: PythonValue, *_: PythonValue) -> PythonValue:
        """Return UNKNOWN. Raises PythonError for the call of a text, number, list or dictionary."""
        if type(function) in PLAIN_TYPES:
            raise PythonError("a call of what is no function")
        return UNKNOWN

    def is_unknown(self, value: PythonValue) -> bool:
        """Return True for UNKNOWN."""
        return isinstance(value, UnknownValue)
