"""CPython's code objects, read as data: nothing is unmarshalled, nothing that could run is built.

The format is CPython's marshal, versions 2 to 5 (Source: Python/marshal.c, 2.7 to 3.14). The fields of a code object
differ between Pythons, and no byte says which Python wrote them: `read` gives every reading under which all bytes are
used up and all fields are of their kind, which for genuine code is one.

    layout   head (32-bit numbers)                           after the names
    2        args, locals, stack, flags                      locals, captured, cells, file, name, line, lines
    3        args, keyword only, locals, stack, flags        the same
    3.8      args, positional only, keyword only, locals,    the same
             stack, flags
    3.10     the same                                        the same, with lines for every byte of the code
    3.11     args, positional only, keyword only, stack,     locals and captured, a byte of kind for each, file,
             flags                                           name, qualified name, line, lines, exceptions
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Literal, TypeAlias

from unnest.budget import memoize

CodeLayout: TypeAlias = Literal["2", "3", "3.8", "3.10", "3.11"]
"""The first Python that lays code objects out so."""

Plain: TypeAlias = "bool | int | float | str | bytes | EllipsisType | None"
Constant: TypeAlias = "Plain | tuple[Constant, ...] | CodeSlice | CodeObject | Opaque"

MAX_CONSTANT_DEPTH = 60
"""Nesting of tuples and inner functions; marshal itself stops at 2000, real lambdas stay below ten."""

MAX_SHARING = 8
"""Objects that a byte may stand for, those behind references counted each time; genuine code stays below one."""

MAX_DIGITS = 70
"""Digits of 15 bits in an integer: above the largest float. More is kept as `Opaque`."""

ANY_POSITIONAL, ANY_KEYWORDS, GENERATOR = 0x04, 0x08, 0x20
"""Flags of functions with `*args`, with `**kwargs`, and of those that give one value after the other."""

COROUTINE = 0x80 | 0x100 | 0x200
"""Flags of coroutines, and of 3.5's iterable coroutines."""

LOCAL, CELL, FREE = 0x20, 0x40, 0x80
"""3.11's byte per local: a plain local, one that inner functions see, one that is captured from around."""


@dataclass(
    frozen=True, slots=True
)  # no named tuple: constants may be tuples, and must differ from this
class Opaque:
    """A constant of which only the kind (marshal's letter) and the parts are kept."""

    kind: str
    parts: tuple[Constant, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class CodeSlice:
    """A slice of constants, which 3.14 keeps as one."""

    start: Constant
    stop: Constant
    step: Constant


@dataclass(frozen=True, eq=False, repr=False)
class CodeObject:
    """One function's code.

    `arguments` counts positional ones, `keyword_only` those after them; `locals` are names, arguments first. What is
    captured comes in `free`, what inner functions capture in `cells`. In layout 3.11 the three are views of one list,
    `slots`, by which the code counts; before, `slots` are `cells` and `free`. `stack` is the most values that the code
    keeps at once, `handlers` whether a table beside the code catches exceptions (3.11 on; before, the code says so).
    `file` is the path that it was compiled from.
    """

    layout: CodeLayout
    arguments: int
    keyword_only: int
    stack: int
    flags: int
    code: bytes
    constants: tuple[Constant, ...]
    names: tuple[str, ...]
    locals: tuple[str, ...]
    free: tuple[str, ...]
    cells: tuple[str, ...]
    slots: tuple[str, ...]
    handlers: bool = False
    file: str = ""


def constants_within(constants: Sequence[Constant]) -> Iterator[Constant]:
    """Yield the constants of a function, its inner functions among them; those in tuples, sets, slices one by one."""
    for value in constants:
        if isinstance(value, tuple):
            yield from constants_within(value)
        elif isinstance(value, Opaque):
            yield from constants_within(value.parts)
        elif isinstance(value, CodeSlice):
            yield from constants_within((value.start, value.stop, value.step))
        else:
            yield value


SINGLE: Mapping[str, Constant] = {
    "N": None,
    "F": False,
    "T": True,
    ".": ...,
    "S": Opaque("S"),
    "0": Opaque("0"),
}
"""Objects that are one letter."""


class _Unreadable(Exception):
    """The bytes are not in the marshal format, or not in this layout."""


def read(text: str) -> list[CodeObject]:
    """Return all readings of a stored function's text: base64 since Keras 2.1, characters that stand for bytes before.

    More than one only where the bytes make sense in several layouts; none where they are no code object.
    """
    return memoize(_read, text)


def _read(text: str) -> list[CodeObject]:
    return [
        code
        for data in _decoded(text)
        for head in ("2", "3", "3.8")
        for code in _reading(data, head)
    ]


def _decoded(text: str) -> Iterator[bytes]:
    with suppress(binascii.Error, ValueError):
        yield base64.b64decode("".join(text.split()), validate=True)
    with suppress(UnicodeEncodeError):
        yield text.encode("raw_unicode_escape")


def _reading(data: bytes, head: Literal["2", "3", "3.8"]) -> Iterator[CodeObject]:
    if data and data[0] & 0x7F == ord("c"):
        with suppress(_Unreadable, struct.error, ValueError):
            yield _Walk(data, head).whole()


class _Walk:
    """One pass over marshalled bytes, with the number of head fields of one layout (3.11 has as many as 3)."""

    def __init__(self, data: bytes, head: Literal["2", "3", "3.8"]) -> None:
        self._data = data
        self._at = 0
        self._head = head
        self._refs: list[tuple[Constant, int] | None] = []
        self._interned: list[str] = []
        self._objects = 0

    def whole(self) -> CodeObject:
        """Return the one function that the bytes hold."""
        value = self._object(0)
        if self._at != len(self._data) or not isinstance(value, CodeObject):
            raise _Unreadable
        return value

    def _take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._data):
            raise _Unreadable
        self._at += count
        return self._data[self._at - count : self._at]

    def _int(self) -> int:
        (value,) = struct.unpack("<i", self._take(4))
        return int(value)

    def _count(self, objects: int) -> None:
        self._objects += objects
        if self._objects > MAX_SHARING * len(self._data):
            raise _Unreadable

    def _object(self, depth: int) -> Constant:
        """Read one marshalled object, and keep it if later ones may refer to it."""
        if depth > MAX_CONSTANT_DEPTH:
            raise _Unreadable
        before = self._objects
        self._count(1)
        byte = self._take(1)[0]
        kind, place = chr(byte & 0x7F), None
        if byte & 0x80:
            place = len(self._refs)
            self._refs.append(None)
        value = self._value(kind, depth)
        if place is not None:
            self._refs[place] = value, self._objects - before
        return value

    def _value(self, kind: str, depth: int) -> Constant:
        if kind in SINGLE:
            return SINGLE[kind]
        if kind in "()":
            return self._parts(self._take(1)[0] if kind == ")" else self._int(), depth)
        if kind in "[<>":
            return Opaque(kind, self._parts(self._int(), depth))
        if kind in "c:":
            return self._function(depth) if kind == "c" else CodeSlice(*self._parts(3, depth))
        if kind == "r":
            return self._earlier(self._int())
        return self._number(kind) if kind in "iIlgyfx" else self._text(kind)

    def _number(self, kind: str) -> Constant:
        """Read a number by marshal's type code; complex numbers are skipped and opaque."""
        if kind == "i":
            return self._int()
        if kind == "I":  # Python 2's own integers of 64 bits
            return int(struct.unpack("<q", self._take(8))[0])
        if kind == "l":
            return self._long()
        if kind == "g":
            return float(struct.unpack("<d", self._take(8))[0])
        if kind == "f":
            return float(self._take(self._take(1)[0]))
        self._take(16 if kind == "y" else self._take(1)[0])
        if kind == "x":
            self._take(self._take(1)[0])
        return Opaque(kind)

    def _text(self, kind: str) -> Constant:
        """Read a text by its type letter: `R` repeats an interned one, `z` and `Z` have a length of one byte."""
        if kind == "R":
            number = self._int()
            if not 0 <= number < len(self._interned):
                raise _Unreadable
            return self._interned[number]
        if kind == "s":
            return self._take(self._int())
        if kind in "zZ":
            return self._take(self._take(1)[0]).decode("ascii")
        if kind not in "tuaA":
            raise _Unreadable
        text = self._take(self._int()).decode("ascii" if kind in "aA" else "utf-8", "surrogatepass")
        if kind == "t":  # Python 2 numbers its interned strings apart from everything else
            self._interned.append(text)
        return text

    def _earlier(self, number: int) -> Constant:
        known = self._refs[number] if 0 <= number < len(self._refs) else None
        if known is None:  # also an object that holds itself
            raise _Unreadable
        value, objects = known
        self._count(objects)
        return value

    def _parts(self, count: int, depth: int) -> tuple[Constant, ...]:
        if not 0 <= count <= len(self._data):
            raise _Unreadable
        return tuple(self._object(depth + 1) for _ in range(count))

    def _long(self) -> Constant:
        count = self._int()
        digits = struct.unpack(f"<{abs(count)}H", self._take(2 * abs(count)))
        if len(digits) > MAX_DIGITS:
            return Opaque("l")
        number = sum(int(digit) << (15 * place) for place, digit in enumerate(digits))
        return -number if count < 0 else number

    def _function(self, depth: int) -> CodeObject:
        """Read a marshalled code object; line table and the like are skipped."""
        head = [self._int() for _ in range({"2": 4, "3": 5, "3.8": 6}[self._head])]
        code, constants, *names = (self._object(depth + 1) for _ in range(5))
        if not isinstance(code, bytes) or not isinstance(constants, tuple):
            raise _Unreadable
        since_311 = self._head == "3" and isinstance(names[2], bytes)
        if not since_311:
            names.append(self._object(depth + 1))
        file = self._object(depth + 1)
        path = file.decode("utf-8", "replace") if isinstance(file, bytes) else str(file)
        for _ in range(2 if since_311 else 1):  # name, qualified name
            self._object(depth + 1)
        self._int()  # first line
        lines = self._object(depth + 1)
        if since_311:
            handlers = self._object(depth + 1)
            made = _since_311(head, code, constants, names)
            return replace(made, handlers=handlers != b"", file=path)
        layout: CodeLayout = (
            "3.10" if self._head == "3.8" and _has_lines_of_310(lines, code) else self._head
        )
        return replace(_before_311(layout, head, code, constants, names), file=path)


FARTHEST = {0x7F, 0x81}
"""127 lines on or back: 3.10 writes more in steps, which take no bytes of the code."""


def _has_lines_of_310(lines: Constant, code: bytes) -> bool:
    """Return True if a line table covers each byte of the code, as since 3.10 (Source: Objects/lnotab_notes.txt).

    Before, it had the bytes at which lines begin: the last one before the end, the first one without bytes before it.
    """
    if not isinstance(lines, bytes) or sum(lines[::2]) != len(code):
        return False
    return all(
        line in FARTHEST for count, line in zip(lines[::2], lines[1::2], strict=False) if not count
    )


def _names(value: Constant) -> tuple[str, ...]:
    if not isinstance(value, tuple):
        raise _Unreadable
    texts = [part.decode("ascii") if isinstance(part, bytes) else part for part in value]
    if not all(isinstance(text, str) for text in texts):
        raise _Unreadable
    return tuple(str(text) for text in texts)


def _before_311(
    layout: CodeLayout,
    head: list[int],
    code: bytes,
    constants: tuple[Constant, ...],
    texts: list[Constant],
) -> CodeObject:
    """Return a code object of Python 2.7 to 3.10; locals, free variables and cells are lists of their own."""
    arguments, (count, stack, flags) = head[0], head[-3:]
    keyword_only = head[-4] if layout != "2" else 0
    names, local, free, cells = map(_names, texts)
    if min(arguments, keyword_only, stack) < 0 or not arguments + keyword_only <= count == len(
        local
    ):
        raise _Unreadable
    return CodeObject(
        layout,
        arguments,
        keyword_only,
        stack,
        flags,
        code,
        constants,
        names,
        local,
        free,
        cells,
        cells + free,
    )


def _since_311(
    head: list[int], code: bytes, constants: tuple[Constant, ...], texts: list[Constant]
) -> CodeObject:
    """Return a code object of Python 3.11 on, whose variables have one list, with their kinds beside it."""
    arguments, _, keyword_only, stack, flags = head
    names, slots, kinds = _names(texts[0]), _names(texts[1]), texts[2]
    if not isinstance(kinds, bytes) or len(kinds) != len(slots):
        raise _Unreadable
    local, free, cells = (
        tuple(name for name, kind in zip(slots, kinds, strict=True) if kind & which)
        for which in (LOCAL, FREE, CELL)
    )
    if min(arguments, keyword_only, stack) < 0 or arguments + keyword_only > len(local):
        raise _Unreadable
    return CodeObject(
        "3.11",
        arguments,
        keyword_only,
        stack,
        flags,
        code,
        constants,
        names,
        local,
        free,
        cells,
        slots,
    )
