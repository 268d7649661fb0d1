"""Errors that stored code is certain to raise, as its Keras hands it what JSON made of the values beside it.

A function, class or module becomes its name, a tuple a list, a number as a key a text. (Source: files of Keras 2.0.9
to TensorFlow 2.15, loaded by the stack that wrote each.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from unnest.core import json_tree
from unnest.core.byte_code.candidate_decodings import readings
from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.opcode_tables import Python
from unnest.core.byte_code.read_code_objects import ANY_KEYWORDS, ANY_POSITIONAL
from unnest.core.byte_code.runtime_values import Impossible
from unnest.core.byte_code.value_domain import PlainValue, ValueDomain
from unnest.core.frontends.python_values import UNKNOWN, PythonValue, UnknownValue
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json, JsonObject, Unknown

PLAIN_TYPES = (bool, int, float, str, list, tuple, dict, type(None))
"""Types of stored values, none of which can be called."""

DECODED = ("__tuple__", "__ellipsis__", "TensorShape", "TypeSpec", "CompositeTensor")
"""Classes of objects in an `.h5` that tf.keras makes values of again; others stay dictionaries."""


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
    captured = _entries(_value(closure, reads_arrays=reads_arrays))
    last = _entries(_value(defaults, reads_arrays=reads_arrays))
    given = {name: _value(value, reads_arrays=True) for name, value in arguments.items()}
    is_certain = False
    for code, python in readings(text):
        if code.flags & (ANY_POSITIONAL | ANY_KEYWORDS):
            return False
        positional = code.locals[: code.arguments]
        names = code.locals[: code.arguments + code.keyword_only]
        local = dict.fromkeys(names, UNKNOWN)
        local |= dict(zip(reversed(positional), reversed(last), strict=False)) | given
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

    def unary(self, *_: PythonValue) -> PythonValue:
        """Return UNKNOWN."""
        return UNKNOWN

    def compare(self, *_: PythonValue) -> PythonValue:
        """Return UNKNOWN."""
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
        """Return an entry of a dictionary. Raises PythonError for a key that it has not."""
        if not isinstance(of, dict) or not isinstance(key, (str, int, float)):
            return UNKNOWN
        if key not in of:
            raise PythonError("a key that is not there")
        return of[key]

    def binary(self, symbol: str, left: PythonValue, right: PythonValue) -> PythonValue:
        """Return UNKNOWN. Raises PythonError for a sum of list and tuple, and for arithmetic on a dictionary."""
        types = {type(left), type(right)}
        if symbol == "+" and types == {list, tuple}:
            raise PythonError("a sum of list and tuple")
        if symbol in ("+", "-", "*", "/", "classic /") and dict in types:
            raise PythonError("arithmetic on a dictionary")
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
