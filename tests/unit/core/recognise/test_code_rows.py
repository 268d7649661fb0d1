"""The rows that stored code takes, compiled by nine Pythons: followed, never run; what is not known gives no answer."""

from __future__ import annotations

import base64
import json
import marshal
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

import pytest

from tests.corpus.unpacked import FIXTURES
from tests.unit.core.byte_code import loops
from unnest.core.model import Json
from unnest.core.recognise import code_rows
from unnest.core.recognise.row_values import Rows

FILE = FIXTURES / "slice_code" / "compiled.json"
PYTHONS = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
ROWS = 12
RANKS = (2, 4)


@cache
def compiled() -> dict[str, dict[str, list[Any]]]:
    """Python -> source -> code, defaults, closure."""
    return dict(json.loads(FILE.read_text()))


def followed(python: str, source: str, **arguments: Json) -> object:
    """What the function returns of a batch of twelve."""
    return code_rows.follow(compiled()[python][source], arguments, lambda rank: Rows(tuple(range(ROWS)), rank), RANKS)


def in_order(parts: int) -> list[tuple[int, ...]]:
    size = ROWS // parts
    return [tuple(range(i * size, (i + 1) * size)) for i in range(parts)]


def dealt(parts: int) -> list[tuple[int, ...]]:
    return [tuple(range(i, ROWS, parts)) for i in range(parts)]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("source", "index", "others", "expected"),
    [
        ("KUZA", "idx", {"parts": 3}, in_order(3)),
        ("KERAS", "i", {"parts": 3}, in_order(3)),
        ("BRANCH", "part", {"n_gpus": 2}, in_order(2)),
        ("SPLIT", "i", {"parts": 4}, in_order(4)),
        ("DEFAULTS", "i", {}, in_order(2)),
        ("DEFAULTS", "i", {"parts": 4}, in_order(4)),
        ("STRIDED", "i", {"parts": 3}, dealt(3)),
        ("GATHERED", "i", {"parts": 3}, dealt(3)),
        ("PARTITIONED", "i", {"parts": 2}, dealt(2)),
        ("OTHER_END", "i", {"parts": 2}, in_order(2)[::-1]),
        ("FIRST_HALF_ALWAYS", "i", {"parts": 2}, [in_order(2)[0]] * 2),
        ("WITH_DEVICE", "i", {"parts": 3}, in_order(3)),
        ("WITH_NAMES", "i", {"parts": 2}, in_order(2)),
        ("WITH_NAMES", "i", {"parts": 1}, in_order(1)),
        ("WITH_LOOP", "i", {"parts": 3}, in_order(3)),
    ],
)
def test_rows(python: str, source: str, index: str, others: dict[str, Json], expected: list[tuple[int, ...]]) -> None:
    results = [followed(python, source, **{index: i}, **others) for i in range(len(expected))]
    assert [(r.numbers, r.change) if isinstance(r, Rows) else r for r in results] == [(e, "") for e in expected]


@pytest.mark.parametrize("python", PYTHONS)
def test_bounds_as_shares_of_the_batch(python: str) -> None:
    parts = [followed(python, "SHARE", start=start, stop=stop) for start, stop in ((0.0, 0.75), (0.75, 1.0))]
    assert [part.numbers for part in parts if isinstance(part, Rows)] == [tuple(range(9)), (9, 10, 11)]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("REVERSED_FEATURES", "reverses axis 1"),
        ("SCALED", "computes with the values (`/`)"),
        ("WITH_SCALED", "computes with the values (`/`)"),
        ("NORMALIZED_BEFORE", "computes with the values (`-`)"),
        ("LATER_FEATURES", "takes a part of axis 1"),
        ("ROLLED", "calls tensorflow.roll"),
        ("JITTERED", "computes with the values (`+`)"),
    ],
)
def test_what_is_done_beside_cutting(python: str, source: str, change: str) -> None:
    result = followed(python, source, i=1, parts=2)
    assert isinstance(result, Rows)
    assert result.change == change


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("SOMEBODYS_OWN", {"i": 0, "parts": 2}),
        ("WITH_ANYTHING", {"i": 0, "parts": 2}),
        ("TRIED", {"i": 0, "parts": 2}),
        ("KERAS", {"i": 0}),
        ("KERAS", {"i": 0, "parts": 0}),
        ("KERAS", {"i": "first", "parts": 2}),
        ("SPLIT", {"i": 5, "parts": 2}),
    ],
    ids=["a function that is not stored", "a block that does something", "a handler of exceptions",
         "an argument that is not stored", "no parts", "text for a number", "a part that is not there"],
)  # fmt: skip
def test_no_answer(python: str, source: str, arguments: dict[str, Json]) -> None:
    assert followed(python, source, **arguments) is None


@pytest.mark.parametrize("python", PYTHONS)
def test_rows_of_which_something_may_be_missing(python: str) -> None:
    """Seven features may be all of them."""
    assert followed(python, "LITERAL_FEATURES", i=0, parts=2) == Rows(tuple(range(ROWS // 2)), 2, is_partly=True)


TOWERS = ((0, 1), (2, 3), (4, 5))
IN_ORDER = (0, 1, 2, 3, 4, 5)
REVERSED = (4, 5, 2, 3, 0, 1)
JOINED: dict[str, tuple[tuple[int, ...], str] | None] = {
    "comprehension": (IN_ORDER, ""),
    "generator": (IN_ORDER, ""),
    "append": (IN_ORDER, ""),
    "by index": (IN_ORDER, ""),
    "one by one": (IN_ORDER, ""),
    "while": (IN_ORDER, ""),
    "reversed twice": (IN_ORDER, ""),
    "inner function": (IN_ORDER, ""),
    "list of a tuple": (IN_ORDER, ""),
    "reversed": (REVERSED, ""),
    "reversed by index": (REVERSED, ""),
    "inserted": (REVERSED, ""),
    "reverse": (REVERSED, ""),
    "twice": ((0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5), ""),
    "first twice": ((0, 1) * 3, ""),
    "all but one": ((0, 1, 4, 5), ""),
    "scaled": (IN_ORDER, "computes with the values (`*`)"),
    "one scaled": (IN_ORDER, "computes with the values (`*`)"),
    "changed": (IN_ORDER, "calls tensorflow.nn.relu"),
    "mean": ((0, 1), "computes with the values (`+`)"),
    "sum": ((0, 1), "computes with the values (`+`)"),
    "shuffled": None,
    "shuffled by numpy": None,
    "of somebody's own": None,
    "the layer's own list": None,
    "the layer's own in place": None,
    "a default": None,
    "rows of a tensor": None,
    "doubled for ever": None,
    "in itself": None,
    "read twice": None,
}


def in_loops(python: str, source: str, given: Callable[[int], object], **arguments: Json) -> object:
    """What a function of `fixtures/loop_code` gives: rows and their change; None where nobody can tell."""
    result = code_rows.follow(loops.compiled()[python][source], arguments, given, RANKS)
    return (result.numbers, result.change) if isinstance(result, Rows) else result


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", loops.SOURCES.JOINS)
def test_joins_with_loops(python: str, name: str) -> None:
    joined = in_loops(python, loops.SOURCES.JOINS[name], lambda rank: [Rows(part, rank) for part in TOWERS])
    assert joined == JOINED[name]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one of all", [(part, "") for part in in_order(3)]),
        ("searched", [(part, "") for part in in_order(3)]),
        ("summed", [(part, "") for part in in_order(3)]),
        ("inner function", [(part, "") for part in in_order(3)]),
        ("all but one", [(tuple(row for row in range(ROWS) if row not in part), "") for part in in_order(3)]),
        ("scaled", [(part, "computes with the values (`*`)" if i else "") for i, part in enumerate(in_order(3))]),
        ("from the end", [(part, "") for part in in_order(3)[::-1]]),
        ("as somebody says", [None] * 3),
    ],
)
def test_slices_with_loops(python: str, name: str, expected: list[object]) -> None:
    source, whole = loops.SOURCES.SLICES[name], tuple(range(ROWS))
    found = [in_loops(python, source, lambda rank: Rows(whole, rank), idx=i, parts=3) for i in range(3)]
    assert found == expected


def test_a_loop_that_never_ends_gives_no_answer() -> None:
    """`while True: pass`, of Python 3.8: a jump to itself."""
    text, *rest = compiled()["3.8"]["STRIDED"]
    data = bytearray(base64.b64decode(text))
    at = data.index(bytes([124, 0]))
    data[at : at + 2] = bytes([113, 0])
    function = [base64.b64encode(bytes(data)).decode("ascii"), *rest]
    given = {"i": 0, "parts": 2}
    assert code_rows.follow(function, given, lambda rank: Rows(tuple(range(ROWS)), rank), RANKS) is None


def of_source(*lines: str) -> object:
    """What a function of these lines, compiled here, gives of a batch of twelve."""
    source = "\n ".join(["def f(x):", *lines])
    code = next(each for each in compile(source, "f", "exec").co_consts if isinstance(each, CodeType))
    function = [base64.b64encode(marshal.dumps(code)).decode(), None, None]
    return code_rows.follow(function, {}, lambda rank: Rows(tuple(range(ROWS)), rank), RANKS)


@pytest.mark.parametrize(
    ("first", "again", "last"),
    [
        ("y = [0]", "y = y + y", "return x"),
        ("y = 3", "y = y * y", "return x"),
        ("y = x", "y = K.concatenate([y, y], axis=0)", "return x"),
        ("y = tf.range(9)", "y = tf.concat([y, y], 0)", "return x"),
        ("y = x", "y = [y, y]", "return y"),
        ("y = 1", "y = (y, y, y, y)", "return y"),
    ],
)
def test_what_doubles_sixty_times_ends(first: str, again: str, last: str) -> None:
    assert of_source(first, *[again] * 60, last) is None
    assert of_source(first, again, "return x") == Rows(tuple(range(ROWS)), 2)


@pytest.mark.parametrize(
    "lines",
    [
        "return tf.split(x[0:0], 1000000000)",
        "return x[slice(0, 4, 0)]",
        "return x[: tf.range(0) + tf.range(0)]",
        "return x[:: 10 ** 400]",
        "return tf.range(10 ** 30)",
    ],
)
def test_numbers_that_nobody_means(lines: str) -> None:
    assert of_source(lines) is None


def test_a_slice_of_nothing_is_no_code() -> None:
    """`BUILD_SLICE 0`, of Python 3.8."""
    text, *rest = compiled()["3.8"]["STRIDED"]
    data = bytearray(base64.b64decode(text))
    at = data.index(bytes([133, 3]))
    data[at + 1] = 0
    function = [base64.b64encode(bytes(data)).decode("ascii"), *rest]
    given = {"i": 0, "parts": 2}
    assert code_rows.follow(function, given, lambda rank: Rows(tuple(range(ROWS)), rank), RANKS) is None


@pytest.mark.parametrize(
    "function", [None, "name", [], ["not code", None, None], {"config": "name"}, {"config": {}}, 3]
)
def test_what_is_no_stored_code(function: Json) -> None:
    assert code_rows.follow(function, {}, lambda rank: Rows(tuple(range(ROWS)), rank), RANKS) is None
