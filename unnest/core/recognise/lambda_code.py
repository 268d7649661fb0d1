"""Readable facts out of what layers store as code: never executed, never unmarshalled.

A Lambda's code is kept as CPython's marshal format. `Code` is read from it by a walk over the
format's type bytes that keeps names and numbers and builds no object of any kind: not a
code object, nothing that could run. (Source of the layout: CPython's Python/marshal.c, 2.7 to
3.13; a code object's head is 4, 5 or 6 32-bit numbers, depending on the version.)
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from unnest.core.model import Json

Value = str | bytes | int | float | tuple["Value", ...] | None
"""What the walk keeps of an object: its text, its number, or its parts."""

MAX_DEPTH = 60
"""Nesting of tuples and inner functions; marshal itself stops at 2000, real lambdas stay below ten."""

FREE = 0x80
"""The kind of local, in 3.11's byte per local, that is captured from around the function."""

HEADS = (5, 6, 4)
"""How many numbers begin a code object: Python 3.0-3.7 and 3.11 on, 3.8-3.10, 2.7."""


@dataclass(frozen=True)
class Code:
    """What a stored function shows of itself: the names it uses, the numbers in its text, its own parameters."""

    names: frozenset[str]
    numbers: tuple[int, ...]
    captures: bool
    parameters: tuple[str, ...] = ()


def code(function: Json) -> Code | None:
    """The facts of a Lambda's stored function; None where it is stored by name, or not readable."""
    text, closure = _stored(function)
    if text is None:
        return None
    readings = (_read(data, head, bool(closure)) for data in _decoded(text) for head in HEADS)
    return next((reading for reading in readings if reading is not None), None)


def _read(data: bytes, head: int, captures: bool) -> Code | None:
    try:
        return _Walk(data, head).code(captures)
    except (_Unreadable, struct.error, ValueError):
        return None


def _stored(function: Json) -> tuple[str | None, Json]:
    """Code and closure: `[code, defaults, closure]` up to Keras 2, an object of that in Keras 3."""
    if isinstance(function, Mapping):
        config = function.get("config")
        if isinstance(config, Mapping) and isinstance(config.get("code"), str):
            return str(config["code"]), config.get("closure")
        return None, None
    if isinstance(function, Sequence) and not isinstance(function, str) and function:
        text, _, closure = (*function, None, None)[:3]
        return (text if isinstance(text, str) else None), closure
    return None, None


def _decoded(text: str) -> Iterator[bytes]:
    """Base64 since Keras 2.1, the bytes as characters before."""
    with suppress(binascii.Error, ValueError):
        yield base64.b64decode("".join(text.split()), validate=True)
    with suppress(UnicodeEncodeError):
        yield text.encode("raw_unicode_escape")


class _Unreadable(Exception):
    """Not the marshal format, or not with this head."""


class _Walk:
    """One pass over marshalled bytes."""

    def __init__(self, data: bytes, head: int) -> None:
        self._data = data
        self._at = 0
        self._head = head
        self._refs: list[Value] = []
        self._names: set[str] = set()
        self._numbers: list[int] = []
        self._captures = False
        self._parameters: tuple[str, ...] = ()

    def code(self, closure: bool) -> Code:
        """The facts of the one function that the bytes hold."""
        if not self._data or self._data[0] & 0x7F != ord("c"):
            raise _Unreadable
        self._object(0)
        if self._at != len(self._data):
            raise _Unreadable
        return Code(frozenset(self._names), tuple(self._numbers), self._captures or closure, self._parameters)

    def _take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._data):
            raise _Unreadable
        self._at += count
        return self._data[self._at - count : self._at]

    def _int(self) -> int:
        (value,) = struct.unpack("<i", self._take(4))
        return int(value)

    def _object(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise _Unreadable
        byte = self._take(1)[0]
        kind, keep = chr(byte & 0x7F), byte & 0x80
        place = len(self._refs)
        if keep:
            self._refs.append(None)
        value = self._value(kind, depth)
        if keep:
            self._refs[place] = value
        if kind == "t":  # Python 2's interned strings are referred to by number as well
            self._refs.append(value)
        return value

    def _value(self, kind: str, depth: int) -> Value:
        if kind in "NFTS.0":
            return None
        if kind in "gy":
            self._take(8 if kind == "g" else 16)
            return None
        if kind in "rR":
            return self._earlier(self._int())
        if kind in "()[<>":
            return self._parts(self._take(1)[0] if kind == ")" else self._int(), depth)
        if kind == "c":
            return self._function(depth)
        return self._number_or_text(kind)

    def _number_or_text(self, kind: str) -> Value:
        if kind == "i":
            return self._int()
        if kind == "l":
            return self._long()
        if kind in "zZ":
            return self._text(self._take(1)[0])
        if kind in "stuaA":
            return self._text(self._int())
        raise _Unreadable

    def _earlier(self, number: int) -> Value:
        if not 0 <= number < len(self._refs):
            raise _Unreadable
        return self._refs[number]

    def _parts(self, count: int, depth: int) -> Value:
        if not 0 <= count <= len(self._data):
            raise _Unreadable
        return tuple(self._object(depth + 1) for _ in range(count))

    def _long(self) -> int:
        count = self._int()
        digits = struct.unpack(f"<{abs(count)}H", self._take(2 * abs(count)))
        number = sum(int(d) << (15 * i) for i, d in enumerate(digits))
        return -number if count < 0 else number

    def _text(self, count: int) -> str:
        return self._take(count).decode("latin-1")

    def _function(self, depth: int) -> Value:
        count, *_ = [self._int() for _ in range(self._head)]
        self._object(depth + 1)  # the byte code
        constants = self._object(depth + 1)
        names = self._object(depth + 1)
        if not isinstance(constants, tuple) or not isinstance(names, tuple):
            raise _Unreadable
        self._numbers += _numbers(constants)
        self._names |= {name for name in names if isinstance(name, str)}
        local = self._object(depth + 1)
        if not isinstance(local, tuple):
            raise _Unreadable
        # Inner functions are constants, so that the outermost's own come last.
        self._parameters = tuple(name for name in local[: max(count, 0)] if isinstance(name, str))
        after = self._object(depth + 1)
        since_311 = isinstance(after, str)  # a byte of kind per local, where free variables stood before
        if isinstance(after, str):
            self._captures |= any(ord(kind) & FREE for kind in after)
        else:
            self._captures |= bool(after)
            self._object(depth + 1)  # cell variables
        for _ in range(3 if since_311 else 2):  # file name, name, qualified name
            self._object(depth + 1)
        self._int()  # first line
        for _ in range(2 if since_311 else 1):  # line table, table of exceptions
            self._object(depth + 1)
        return None


def _numbers(constants: Sequence[Value]) -> Iterator[int]:
    for value in constants:
        if isinstance(value, tuple):
            yield from _numbers(value)
        elif isinstance(value, int):
            yield value
