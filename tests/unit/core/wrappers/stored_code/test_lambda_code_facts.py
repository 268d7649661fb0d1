"""Facts of stored code, from ten Pythons: names, numbers, what is captured; and nothing from bytes that mean harm."""

from __future__ import annotations

import base64
import struct

import pytest

from tests.unit.core.keras3.lambdas.compiled import PYTHONS, functions
from tests.unit.core.wrappers.one_layer import function
from unnest.core.byte_code.read_code_objects import MAX_CONSTANT_DEPTH
from unnest.core.model import Json
from unnest.core.wrappers.stored_code.lambda_code_facts import CodeFacts, code


def facts(python: str, source: str) -> CodeFacts:
    found = code(functions()[python][source][:3])
    assert found is not None
    return found


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("source", "names", "captures", "parameters"),
    [
        ("lambda x: K.mean(x, axis=1)", {"K", "mean"}, False, ("x",)),
        ("lambda x, a=2.0, b=[1, 2, 3, 4]: x * a + b", set(), False, ("x", "a", "b")),
        ("(lambda a, b: lambda x: x * a - b)(3, 0.25)", set(), True, ("x",)),
        ("lambda x: tf.split(x, 2, axis=2)[1]", {"tf", "split"}, False, ("x",)),
    ],
)
def test_names_captures_and_parameters(
    python: str, source: str, names: set[str], captures: bool, parameters: tuple[str, ...]
) -> None:
    found = facts(python, source)
    assert (set(found.names), found.captures, found.parameters) == (names, captures, parameters)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("lambda x: K.mean(x, axis=1)", {"K"}),
        ("lambda x: tf.split(x, 2, axis=2)[1]", {"tf"}),
        ("lambda x: abs(x - 1)", {"abs"}),
    ],
)
def test_names_that_are_no_attributes(python: str, source: str, plain: set[str]) -> None:
    assert facts(python, source).plain == plain


@pytest.mark.parametrize("python", PYTHONS)
def test_numbers(python: str) -> None:
    assert 2 in facts(python, "lambda x: x * 0.5 + 2").numbers
    assert 3 not in facts(python, "lambda x: x * 0.5 + 2").numbers
    assert 1 in facts(python, "lambda x: x - (103.939, 116.779, 123.68, 1)").numbers
    assert 100000000000 in facts(python, "lambda x: x - 100000000000").numbers


@pytest.mark.parametrize("python", PYTHONS)
def test_every_genuine_function_is_read(python: str) -> None:
    unread = [
        source
        for source, (text, *_) in functions()[python].items()
        if code([text, None, None]) is None
    ]
    assert unread == []


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("source", "minus_one", "is_identity"),
    [
        ("lambda x: abs(x - 1)", {"x"}, False),
        ("lambda x: 1 - x", set(), False),
        ("lambda x: (x - 127.5) / 127.5", set(), False),
        ("lambda x: x", set(), True),
        ("lambda x: x[...]", set(), False),
    ],
)
def test_what_1_is_taken_off_and_what_does_nothing(
    python: str, source: str, minus_one: set[str | None], is_identity: bool
) -> None:
    found = facts(python, source)
    assert (set(found.minus_one), found.is_identity) == (minus_one, is_identity)


def test_numbers_and_names_of_inner_functions_count() -> None:
    found = code(function(lambda x: [(lambda y: y + 17)(p) for p in x.parts]))  # noqa: PLC3002 - code in code
    assert found is not None
    assert 17 in found.numbers
    assert "parts" in found.names
    assert found.parameters == ("x",)


def test_a_closure_that_is_stored_is_captured() -> None:
    text = function(lambda x: x)[0]
    assert [
        found.captures for found in (code([text, None, [1]]), code([text, None, None])) if found
    ] == [True, False]


TEXT = function(lambda x: x[3:])[0]
RAW = base64.b64decode(str(TEXT))


@pytest.mark.parametrize(
    "stored",
    [
        [TEXT, None, None],
        {"class_name": "__lambda__", "config": {"code": TEXT, "defaults": None, "closure": None}},
        [str(TEXT) + "\n", None, None],
        [RAW.decode("raw_unicode_escape"), None, None],
    ],
    ids=["Keras 2", "Keras 3", "with line ends", "before Keras 2.1"],
)
def test_where_the_code_is(stored: Json) -> None:
    found = code(stored)
    assert found is not None
    assert 3 in found.numbers


def marshalled(*parts: bytes) -> Json:
    return [base64.b64encode(b"".join(parts)).decode(), None, None]


def count(number: int) -> bytes:
    return struct.pack("<i", number)


HEAD = b"c" + count(0) * 5 + b"s" + count(0)
HOSTILE = {
    "by name": "mean",
    "an object by name": {"class_name": "function", "config": "mean"},
    "nothing": [],
    "no text": [None, None, None],
    "no base64 and no code": ["not code", None, None],
    "cut short": marshalled(RAW[:-1]),
    "more than one": marshalled(RAW, b"N"),
    "no function": marshalled(b"(", count(1), b"N"),
    "an unknown kind": marshalled(HEAD, b"?"),
    "a tuple of two thousand million": marshalled(HEAD, b"(", count(2**31 - 1)),
    "a tuple of less than nothing": marshalled(HEAD, b"(", count(-1)),
    "text of less than nothing": marshalled(HEAD, b"s", count(-5)),
    "tuples in tuples": marshalled(HEAD, (b")\x01") * (MAX_CONSTANT_DEPTH + 5), b"N"),
    "a reference to nothing": marshalled(HEAD, b"r", count(7)),
    "a reference before the first": marshalled(HEAD, b"r", count(-1)),
    "an integer of gigabytes": marshalled(HEAD, b"l", count(2**31 - 1)),
}


@pytest.mark.parametrize("stored", HOSTILE.values(), ids=list(HOSTILE))
def test_what_is_not_readable_tells_nothing(stored: Json) -> None:
    assert code(stored) is None
