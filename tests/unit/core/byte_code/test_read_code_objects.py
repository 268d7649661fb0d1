"""Marshalled code objects as data: all their fields, every Python's layout, and bytes that mean harm."""

from __future__ import annotations

import base64
import marshal
import struct
import sys

import pytest

from tests.unit.core.keras3.lambdas.compiled import PYTHONS, functions
from unnest.core.byte_code import read_code_objects
from unnest.core.byte_code.read_code_objects import CodeObject, Opaque, read

LAYOUTS = {"2.7": "2", "3.6": "3", "3.7": "3", "3.8": "3.8", "3.9": "3.8", "3.10": "3.10"}


def reading(python: str, source: str) -> CodeObject:
    (code,) = read(functions()[python][source][0])
    return code


@pytest.mark.parametrize("python", PYTHONS)
def test_every_genuine_function_has_one_reading(python: str) -> None:
    for source, (code, *_) in functions()[python].items():
        assert [each.layout for each in read(code)] == [LAYOUTS.get(python, "3.11")], source


@pytest.mark.parametrize("python", PYTHONS)
def test_fields(python: str) -> None:
    code = reading(python, "lambda x, a=2.0, b=[1, 2, 3, 4]: x * a + b")
    assert (code.arguments, code.keyword_only, code.locals, code.names) == (
        3,
        0,
        ("x", "a", "b"),
        (),
    )
    assert (code.free, code.cells, code.handlers) == ((), (), False)
    captured = reading(python, "(lambda a, b: lambda x: x * a - b)(3, 0.25)")
    assert (captured.locals, captured.free) == (("x",), ("a", "b"))
    called = reading(python, "lambda x: K.mean(x, axis=1)")
    assert called.names == ("K", "mean")
    assert 1 in called.constants
    handler = reading(
        python,
        "def f(x):\n    try:\n        return x + 1\n    except ValueError:\n        return x",
    )
    assert handler.handlers == (python in {"3.11", "3.12", "3.13", "3.14"})


@pytest.mark.parametrize(
    ("lines", "layout"),
    [
        (b"\x04\x01", "3.10"),
        (b"\x00\x7f\x00\x81\x02\x05\x02\x01", "3.10"),
        (b"\x00\x01\x04\x01", "3.8"),
        (b"", "3.8"),
        (b"\x00\x01\x02\x01", "3.8"),
        (b"\x06\x01", "3.8"),
    ],
    ids=[
        "all of it",
        "lines far apart",
        "dead code at the end",
        "one line",
        "two lines",
        "too long",
    ],
)
def test_lines_tell_3_10(lines: bytes, layout: str) -> None:
    """Of code of four bytes. A function of 3.8 whose last line is dead has the line of its first byte apart."""
    (code,) = read(function(b")\x00", head=6, lines=lines))
    assert code.layout == layout


def test_of_this_python() -> None:
    code = (lambda x, *, y: (x, y, 1.5, "é", b"b", 10**20, -3, ..., None, True)).__code__
    (ours,) = read(base64.b64encode(marshal.dumps(code)).decode())
    theirs = tuple(value for value in code.co_consts if not isinstance(value, tuple))
    assert tuple(value for value in ours.constants if not isinstance(value, tuple)) == theirs
    assert (ours.arguments, ours.keyword_only, ours.stack) == (1, 1, code.co_stacksize)
    assert (ours.flags, ours.code, ours.names) == (code.co_flags, code.co_code, code.co_names)


def function(constants: bytes, head: int = 5, lines: bytes = b"") -> str:
    """A code object of Python 3 (head of five) with these constants and lines, marshalled."""
    empty = b")\x00"
    fields = b"s" + struct.pack("<i", 4) + b"d\x00S\x00" + constants + empty * 4
    ends = b"z\x01fz\x01f" + struct.pack("<i", 1) + b"s" + struct.pack("<i", len(lines)) + lines
    return base64.b64encode(b"c" + struct.pack("<i", 0) * head + fields + ends).decode()


def test_references_and_kinds_of_constants() -> None:
    constants = (
        b")\x06\xe9\x05\x00\x00\x00r\x00\x00\x00\x00g"
        + struct.pack("<d", 2.5)
        + b"T"
        + b"y"
        + bytes(16)
        + b"z\x02ab"
    )
    (code,) = read(function(constants))
    assert code.constants == (5, 5, 2.5, True, Opaque("y"), "ab")
    (huge,) = read(function(b")\x01l" + struct.pack("<i", 1000) + bytes(2000)))
    assert huge.constants == (Opaque("l"),)


def doubling(levels: int) -> bytes:
    """A tuple whose parts are the tuple before it, twice: 2 ** levels objects in a few bytes."""
    inner = b"\xa9\x01N"
    for _ in range(levels):
        inner = b"\xa9\x02" + inner + b"r" + struct.pack("<i", levels - inner.count(b"\xa9\x02"))
    return inner


@pytest.mark.parametrize(
    "constants",
    [
        b")\x01r\x00\x00\x00\x00",  # nothing was kept
        b"\xa9\x01r\x00\x00\x00\x00",  # itself
        b")\x01r\xff\xff\xff\xff",
        b"(\xff\xff\xff\x7f",  # more parts than bytes
        b"(\xff\xff\xff\xff",
        b")\x01" * 2000 + b"N",  # deeper than anyone writes
        b")\x01l" + struct.pack("<i", -(2**31)),
        b")\x01?",
        b")\x01z\x05a",
        doubling(40),
    ],
)
def test_hostile_constants_have_no_reading(constants: bytes) -> None:
    assert read(function(constants)) == []


def test_objects_are_counted_behind_references() -> None:
    assert len(read(function(doubling(6)))) == 1
    assert read(function(doubling(10))) == []


def test_nothing_is_unmarshalled() -> None:
    assert "marshal" not in vars(read_code_objects)
    assert sys.getrecursionlimit() > 5 * read_code_objects.MAX_CONSTANT_DEPTH


@pytest.mark.parametrize("text", ["", "no code", "Y28=", "4wAA", "\u1234", "c" * 100])
def test_what_is_no_code(text: str) -> None:
    assert read(text) == []
