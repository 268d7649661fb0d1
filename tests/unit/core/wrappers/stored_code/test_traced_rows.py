"""The rows that stored code takes, compiled by ten Pythons: followed, never run; what is not known gives no answer."""

from __future__ import annotations

import base64
import json
import marshal
from collections.abc import Sequence
from functools import cache
from types import CodeType
from typing import Any

import numpy as np
import pytest

from tests.corpus.unpacked import FIXTURES
from tests.unit.core.byte_code import loops
from unnest.core.model import Json, Shape
from unnest.core.ops.element_dtype_and_checks import Array
from unnest.core.wrappers.stored_code.traced_rows import CodeRows, rows_of_code

FILE = FIXTURES / "slice_code" / "compiled.json"
PYTHONS = ("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
ROWS = 12
RANKS = (2, 4)


@cache
def compiled() -> dict[str, dict[str, list[Any]]]:
    """Python -> source -> code, defaults, closure."""
    return dict(json.loads(FILE.read_text()))


def numbered(first: int, count: int) -> Array:
    return np.arange(first, first + count, dtype=np.int32)


def rows_in(function: Json, *parts: Array, shape: Any = None, **arguments: Json) -> CodeRows | None:
    """The rows in the one tensor that a function returns, None without an answer."""
    results = rows_of_code(function, arguments, parts or (numbered(0, ROWS),), shape, RANKS)
    return results[0] if results else None


def followed(python: str, source: str, **arguments: Json) -> CodeRows | None:
    """Return the rows that the function returns of a batch of twelve."""
    return rows_in(compiled()[python][source], **arguments)


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
        ("TRIED", "i", {"parts": 3}, in_order(3)),
    ],
)
def test_rows(
    python: str, source: str, index: str, others: dict[str, Json], expected: list[tuple[int, ...]]
) -> None:
    results = [followed(python, source, **{index: i}, **others) for i in range(len(expected))]
    assert results == [CodeRows(rows) for rows in expected]


@pytest.mark.parametrize("python", PYTHONS)
def test_bounds_as_shares_of_the_batch(python: str) -> None:
    parts = [
        followed(python, "SHARE", start=start, stop=stop)
        for start, stop in ((0.0, 0.75), (0.75, 1.0))
    ]
    assert parts == [CodeRows(tuple(range(9))), CodeRows((9, 10, 11))]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("REVERSED_FEATURES", "reverses axis 1"),
        ("SCALED", "computes with the values (`/`)"),
        ("WITH_SCALED", "computes with the values (`/`)"),
        ("NORMALIZED_BEFORE", "computes with the values (`-`)"),
        ("LATER_FEATURES", "takes a part of axis 1"),
        ("ROLLED", "rearranges axis 1"),
        ("JITTERED", "computes with the values (`+`)"),
    ],
)
def test_what_is_done_beside_cutting(python: str, source: str, change: str) -> None:
    result = followed(python, source, i=1, parts=2)
    assert result is not None
    assert result.change == change


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("SOMEBODYS_OWN", {"i": 0, "parts": 2}),
        ("WITH_ANYTHING", {"i": 0, "parts": 2}),
        ("KERAS", {"i": 0}),
        ("KERAS", {"i": 0, "parts": 0}),
        ("KERAS", {"i": "first", "parts": 2}),
        ("SPLIT", {"i": 5, "parts": 2}),
    ],
    ids=["a function that is not stored", "a block that does something",
         "an argument that is not stored", "no parts", "text for a number", "a part that is not there"],
)  # fmt: skip
def test_no_answer(python: str, source: str, arguments: dict[str, Json]) -> None:
    assert followed(python, source, **arguments) is None


@pytest.mark.parametrize("python", PYTHONS)
def test_rows_of_which_something_may_be_missing(python: str) -> None:
    """Seven features may be all of them."""
    part = followed(python, "LITERAL_FEATURES", i=0, parts=2)
    assert part == CodeRows(tuple(range(ROWS // 2)), is_partly=True, first=(7,))


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
    "scaled": ((), "computes with the values (`*`)"),
    "one scaled": ((), "computes with the values (`*`)"),
    "changed": ((), "calls tensorflow.nn.relu"),
    "mean": ((), "computes with the values (`+`)"),
    "sum": ((), "computes with the values (`+`)"),
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


def in_loops(python: str, source: str, *parts: Array, **arguments: Json) -> object:
    """Return rows and their change for a function of `fixtures/loop_code`; None without an answer."""
    result = rows_in(loops.compiled()[python][source], *parts, **arguments)
    return None if result is None else (result.numbers, result.change)


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", loops.SOURCES.JOINS)
def test_joins_with_loops(python: str, name: str) -> None:
    joined = in_loops(
        python, loops.SOURCES.JOINS[name], *(numbered(first, 2) for first in (0, 2, 4))
    )
    assert joined == JOINED[name]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one of all", [(part, "") for part in in_order(3)]),
        ("searched", [(part, "") for part in in_order(3)]),
        ("summed", [(part, "") for part in in_order(3)]),
        ("inner function", [(part, "") for part in in_order(3)]),
        (
            "all but one",
            [(tuple(row for row in range(ROWS) if row not in part), "") for part in in_order(3)],
        ),
        ("scaled", [(in_order(3)[0], ""), *[((), "computes with the values (`*`)")] * 2]),
        ("from the end", [(part, "") for part in in_order(3)[::-1]]),
        ("as somebody says", [None] * 3),
    ],
)
def test_slices_with_loops(python: str, name: str, expected: list[object]) -> None:
    found = [in_loops(python, loops.SOURCES.SLICES[name], idx=i, parts=3) for i in range(3)]
    assert found == expected


@pytest.mark.parametrize("python", [each for each in PYTHONS if each != "2.7"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("named", [(part, "") for part in in_order(3)]),
        ("by a text", [(part, "") for part in in_order(3)]),
        ("from the end, named", [(part, "") for part in in_order(3)[::-1]]),
        ("by an unknown text", [None] * 3),
        ("by a tensor's text", [None] * 3),
    ],
)
def test_slices_with_texts(python: str, name: str, expected: list[object]) -> None:
    """A text of known numbers is known; one of anything else, like what depends on it, is not."""
    found = [in_loops(python, loops.SOURCES.TEXT_SLICES[name], idx=i, parts=3) for i in range(3)]
    assert found == expected


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        (["n = tf.shape(x)[0] // 2", "return {0: x[:n], 1: x[n:]}[1]"], range(6, 12)),
        (["return {'a': lambda t: t[:6], 'b': lambda t: t[6:]}['b'](x)"], range(6, 12)),
        (["bounds = {'start': 3}", "return x[bounds['start']:bounds.get('stop', 9)]"], range(3, 9)),
        (["a, b = map(lambda k: k * 4, [1, 2])", "return x[a:b]"], range(4, 8)),
        (["def part(t, *bounds):", "  return t[bounds[0]:bounds[1]]", "return part(x, *[2, 5])"], range(2, 5)),
        (["parts = sorted(enumerate(tf.split(x, 4)), key=lambda p: -p[0])", "return parts[0][1]"], range(9, 12)),
        (["return functools.reduce(lambda a, b: tf.concat([b, a], 0), tf.split(x, 12))"], range(11, -1, -1)),
        (["cut = functools.partial(tf.split, num_or_size_splits=3, axis=0)", "return cut(x)[1]"], range(4, 8)),
        (["return dict(zip([1, 0], tf.split(x, 2)))[0]"], range(6, 12)),
        (["return dict({'a': x[2:]}, b=x)['a']"], range(2, 12)),
        (["return tf.cond(tf.equal(1, 2), lambda: x[:6], lambda: x[6:])"], range(6, 12)),
        (["return K.switch(K.equal(1, 1), x[:6], x[6:])"], range(6)),
        (["return next(iter(tf.split(x, 3)))"], range(4)),
        (["return next((t for t in [x] if False), x[:3])"], range(3)),
        (["return operator.getitem(x, slice(3, math.ceil(4.5)))"], range(3, 5)),
        (["return x[:abs(-2)] if any([0, 1]) and not all([0, 1]) and bool(1) else x"], range(2)),
        (["return {'12': x[:2]}[str(12)]"], range(2)),
    ],
)  # fmt: skip
def test_functions_and_dictionaries(lines: list[str], rows: range) -> None:
    assert of_source(*lines) == CodeRows(tuple(rows))


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        (["p = [slice(None)] * 2", "p[0] = slice(3, 6)", "return x[tuple(p)]"], range(3, 6)),
        (["p = {}", "p['a'] = x[:4]", "return p['a']"], range(4)),
        (["a, *rest, z = tf.split(x, 4)", "return rest[1]"], range(6, 9)),
        (["first, *rest = [x]", "return x[len(rest):]"], range(12)),
        (["p = tf.split(x, 3)", "return tf.concat([p.pop(), p.pop(0)], 0)"], [8, 9, 10, 11, 0, 1, 2, 3]),
        (["return x[[5, 3, 1].index(3):[1, 1].count(1)]"], [1]),
        (["y = x[2:]", "return x if y is None else y"], range(2, 12)),
        (["stop = None", "return x if stop is not None else x[:5]"], range(5)),
        (["return x[:2] if 3 in (1, 3) and 'b' not in {'a': 1} else x"], range(2)),
        (["y = None", "while y is None:", "  y = x[:1]", "return y"], [0]),
        (["return x[:1] if isinstance(x, (list, tuple)) else x[1:]"], range(1, 12)),
        (["return x[:1] if isinstance([x], list) else x[1:]"], [0]),
        (["x = x[:6]", "x.set_shape([None, 4])", "return x[:, :x.get_shape()[1].value]"], range(6)),
        (["return tf.gather_nd(x, tf.range(3)[:, tf.newaxis])"], range(3)),
        (["return x.__getitem__(slice(0, 3))"], range(3)),
    ],
)  # fmt: skip
def test_parts_of_lists_and_tensors(lines: list[str], rows: Sequence[int]) -> None:
    assert of_source(*lines, shape=(None, 4)) == CodeRows(tuple(rows))


@pytest.mark.parametrize(
    "lines",
    [
        ["p = [x]", "p[helper()] = x[:6]", "return p[0]"],
        ["p = [x]", "p[2] = x[:6]", "return p[0]"],
        ["p = [x]", "p[:1] = [x[:6]]", "return p[0]"],
        ["x[0] = 1", "return x"],
        ["a, b, *rest = [x]", "return a"],
        ["a, *rest = helper(x)", "return a"],
        ["return x[[helper()].index(0):]"],
        ["return [].pop()"],
        ["return x if helper() is None else x[:6]"],
        ["return x if x is helper else x[:6]"],
        ["n = 1", "return x if n is x else x[:6]"],
        ["return x if helper() in (1, 2) else x[:6]"],
        ["return x if x in [x] else x[:6]"],
        ["return x if 'a' in 'ab' else x[:6]"],
        ["return x if isinstance(x, tf.Tensor) else x[:6]"],
        ["return x if isinstance(helper(), list) else x[:6]"],
        ["return dict([(helper(), x)])[0]"],
        ["it = iter(tf.split(x, 3))", "next(it)", "return next(it)"],
        ["return next(x)"],
        ["return {str(0.5): x}['0.5']"],
        ["d = [x[:6], x[6:]]", "helper(d)", "d[0] = x", "return tf.concat(d, 0)"],
    ],
)
def test_parts_that_are_not_known(lines: list[str]) -> None:
    assert of_source(*lines, shape=(None, 4)) is None


@pytest.mark.parametrize("python", [each for each in PYTHONS if each != "3.14"])
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("FILLED", in_order(3)),
        ("STOP_OR_NONE", in_order(3)),
        ("NONE_FOR_LONG", in_order(3)),
        ("MEMBER", in_order(3)),
        ("POPPED", in_order(3)[::-1]),
        ("CHOSEN", [*in_order(3)[1:], in_order(3)[0]]),
        ("STARRED", in_order(3)),
    ],
)
def test_what_each_python_does_to_lists(
    python: str, source: str, expected: list[tuple[int, ...]]
) -> None:
    """Python 3.14 did not compile these; of its instructions the tables have the numbers alone."""
    if source not in compiled()[python]:
        assert (python, source) == ("2.7", "STARRED")
        return
    results = [followed(python, source, i=i, parts=3) for i in range(3)]
    assert results == [CodeRows(rows) for rows in expected]


@pytest.mark.parametrize(
    "lines",
    [
        ["return {0: x}[tf.shape(x)[0]]"],
        ["return {0: x[:6]}[helper()]"],
        ["return {0: x[:6]}.get(helper(), x)"],
        ["return {tf.shape(x)[0]: x}[12]"],
        ["p = [x[:6]]", "p.append(helper(x))", "return tf.concat(p, 0)"],
        ["p = [x[:6], x[6:]]", "helper(lambda: p.reverse())", "return tf.concat(p, 0)"],
        ["d = {'a': [x[:6], x[6:]]}", "helper(d)", "return tf.concat(d['a'], 0)"],
        ["p = [[x[:6]], [x[6:]]]", "list(map(helper, p))", "return tf.concat(p[0] + p[1], 0)"],
        ["return tf.map_fn(lambda row: row, x)"],
        ["return tf.cond(helper(), lambda: x[:6], lambda: x[6:])"],
    ],
    ids=["an unknown key", "a custom one", "a custom one with a default", "a key that is a tensor",
         "a list with something custom", "a function that is handed on", "a dictionary that is handed on",
         "lists that are handed on one by one", "each row by a function", "one of two functions"],
)  # fmt: skip
def test_what_is_handed_on_gives_no_answer(lines: list[str]) -> None:
    """A custom function may change what it is given, and what a function that it is given can reach."""
    assert of_source(*lines) is None


@pytest.mark.parametrize(
    "lines",
    [
        ["try:", "  n = int(x.shape[0])", "except TypeError:", "  return x", "return x[: n // 2]"],
        ["try:", "  check(x)", "except ValueError:", "  return x", "return x[:6]"],
        ["try:", "  n = [1][x.shape[1]]", "finally:", "  n = 6", "return x[:n]"],
    ],
    ids=["a size that may not be known", "a custom function", "an entry that is not there"],
)
def test_what_may_be_raised_gives_no_answer(lines: list[str]) -> None:
    """Also where another setting of the same code (a shape that is known) would lead past the handler."""
    assert of_source(*lines) is None


def test_a_loop_that_never_ends_gives_no_answer() -> None:
    """`while True: pass`, of Python 3.8: a jump to itself."""
    text, *rest = compiled()["3.8"]["STRIDED"]
    data = bytearray(base64.b64decode(text))
    at = data.index(bytes([124, 0]))
    data[at : at + 2] = bytes([113, 0])
    function = [base64.b64encode(bytes(data)).decode("ascii"), *rest]
    assert rows_in(function, i=0, parts=2) is None


def of_source(*lines: str, shape: Shape | None = None) -> CodeRows | None:
    """Return the rows that a function of these lines, compiled here, returns of a batch of twelve."""
    source = "\n ".join(["def f(x):", *lines])
    code = next(
        each for each in compile(source, "f", "exec").co_consts if isinstance(each, CodeType)
    )
    function = [base64.b64encode(marshal.dumps(code)).decode(), None, None]
    return rows_in(function, shape=shape)


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
    assert of_source(first, again, "return x") == CodeRows(tuple(range(ROWS)))


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
    assert rows_in(function, i=0, parts=2) is None


@pytest.mark.parametrize(
    "function", [None, "name", [], ["not code", None, None], {"config": "name"}, {"config": {}}, 3]
)
def test_what_is_no_stored_code(function: Json) -> None:
    assert rows_in(function) is None


WHOLE = tuple(range(ROWS))


@pytest.mark.parametrize(
    ("line", "change"),
    [
        ("return x[:, ::-1]", "reverses axis 1"),
        ("return x[:, 1:]", "takes a part of axis 1"),
        ("return x[:, :3]", "takes a part of axis 1"),
        ("return x[:, 0]", "takes one entry of axis 1"),
        ("return tf.concat([x[:, 1:], x[:, :1]], 1)", "rearranges axis 1"),
        ("return tf.transpose(x)", "reshapes its rows"),
        ("return tf.reshape(x, [-1, 2, 2])", "reshapes its rows"),
        ("return tf.reshape(x, [-1, 2])", "reshapes its rows"),
        ("return tf.pad(x, [[0, 0], [1, 1]])", "pads the rows"),
        ("return tf.pad(x, [[0, 1], [0, 0]])", "pads the rows"),
        ("return tf.cast(x, tf.float16)", "casts the values to float16"),
        ("return tf.zeros_like(x)", "returns numbers that its input does not hold"),
        ("return tf.concat([x, tf.ones_like(x)], 1)", "calls tensorflow.concat"),
        ("return tf.gather(x, helper(x), axis=1)", "calls tensorflow.gather"),
        ("return tf.boolean_mask(x, x[:, 0] > 0)", "computes with the values (`>`)"),
        ("return tf.gather(x, x)", "calls tensorflow.gather, which chooses rows by their values"),
        ("return tf.image.fancy(x)", "calls tensorflow.image.fancy"),
        ("return x * helper(x)", "computes with the values (`*`)"),
        ("return tf.stop_gradient(x)", "calls tensorflow.stop_gradient"),
    ],
)
def test_what_is_done_to_rows_of_four_features(line: str, change: str) -> None:
    """The first operation that computes is named; else what became of the axes after the batch."""
    assert of_source(line, shape=(None, 4)) == CodeRows(change=change)


@pytest.mark.parametrize(
    "line",
    [
        "return x[:, :4]",
        "return x[:, :9]",
        "return tf.concat([x[:, :1], x[:, 1:]], 1)",
        "return tf.reshape(x, [-1, 4])",
        "return tf.reshape(tf.reshape(x, [-1, 2, 2]), tf.shape(x))",
        "return tf.roll(x, 0, axis=1)",
        "return tf.concat(x, 0)",
        "return tf.transpose(tf.transpose(x))",
        "return tf.boolean_mask(x, tf.cumsum(tf.ones_like(x[:, 0])) > 0)",
        "return tf.identity(x)",
        "return tensorflow.identity(x)",
        "return x[: k.shape(x)[0]]",
        "return x[: KTF.shape(x)[0]]",
        "return x[: kb.shape(x)[0]]",
        "return x[: tf1.shape(x)[0]]",
        "return x[: tf2.shape(x)[0]]",
        "n = tf.shape(x)[0]\n return x[n - n : n]",
    ],
)
def test_what_leaves_all_rows_as_they_are(line: str) -> None:
    assert of_source(line, shape=(None, 4)) == CodeRows(WHOLE)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return x[:, :4]", CodeRows(WHOLE, is_partly=True, first=(4,))),
        ("return x[:, : helper(x)]", CodeRows(WHOLE, is_partly=True)),
        ("return tf.reshape(x, [-1, 4])", CodeRows(WHOLE, is_partly=True)),
        ("return tf.reshape(x, [4, -1, 2])", None),
        ("return tf.split(x, 2, axis=1)[0]", CodeRows(change="takes a part of its rows")),
        ("return x[:, : K.int_shape(x)[1] // 3]", CodeRows(change="takes a part of its rows")),
        ("return tf.cast(x, tf.float32)", CodeRows(WHOLE, is_partly=True)),
        ("return tf.cast(x, tf.int32)", None),
        ("return tf.cast(x, helper)", None),
        ("return x[0]", CodeRows(change="reshapes its rows")),
        ("return tf.gather(x, helper(x))", None),
        ("return tf.fancy(x)", None),
        ("return 3", None),
    ],
)
def test_rows_of_unknown_size(line: str, expected: CodeRows | None) -> None:
    """The first four features may be all; the first half is not."""
    assert of_source(line) == expected


def test_several_results() -> None:
    source = "def f(x):\n return tf.split(x, 2), x"
    code = next(
        each for each in compile(source, "f", "exec").co_consts if isinstance(each, CodeType)
    )
    function = [base64.b64encode(marshal.dumps(code)).decode(), None, None]
    assert rows_of_code(function, {}, [numbered(0, 4)], None, RANKS) == (
        None,
        CodeRows((0, 1, 2, 3)),
    )


def test_large_images_take_the_memory_of_their_axes() -> None:
    """A batch of thousands is followed with its own sizes; where it must be copied, with smaller ones."""
    images = (None, 512, 512, 3)
    assert of_source("return x[:, ::-1]", shape=images) == CodeRows(change="reverses axis 1")
    joined = of_source("return tf.concat([x[6:], x[:6]], 0)", shape=images)
    assert joined == CodeRows((*range(6, 12), *range(6)))
    assert of_source("return tf.concat([x[:, 511:], x[:, :511]], 1)", shape=images) is None
