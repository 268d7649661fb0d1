"""Functions on numbered rows: what they give, what they note as a change, and what nobody can tell."""

from __future__ import annotations

import pytest

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.recognise.row_functions import call
from unnest.core.recognise.row_operations import attribute
from unnest.core.recognise.row_values import SIZES, Named, Once, Rows, Stacked, Unexplained, Value, Vector, each

X, Y = Rows((0, 1, 2, 3), 3), Rows((4, 5, 6, 7), 3)
TOLD = Rows((0, 1), 3, sizes=(2, 3))


FLAT = Rows((0, 1, 2, 3), 2)
BY_VALUES = "chooses rows by their values (`boolean_mask`)"


def part(*numbers: int) -> Rows:
    """Some rows of X."""
    return X._replace(numbers=numbers)


def along(rows: Rows, name: str) -> Rows:
    """What a function gives that works along the rows."""
    return rows._replace(change=f"calls tensorflow.{name}", along=f"calls tensorflow.{name} along the rows")


def of(name: str, *arguments: Value, **keywords: Value) -> Value:
    return call(Named(f"tensorflow.{name}"), arguments, keywords)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (of("shape", X), Vector((4, *SIZES[:2]))),
        (of("slice", X, [1, 0, 0], [2, -1, SIZES[1]]), X._replace(numbers=(1, 2))),
        (of("logical_not", of("less", Vector((0, 1, 2)), 2)), Vector((False, False, True))),
        (of("boolean_mask", X, of("greater_equal", of("range", 4), 2)), X._replace(numbers=(2, 3))),
        (of("strided_slice", X, [0], [4], [2]), X._replace(numbers=(0, 2))),
        (of("split", X, 2), [X._replace(numbers=(0, 1)), X._replace(numbers=(2, 3))]),
        (of("split", X, [1, 3], axis=0), [X._replace(numbers=(0,)), X._replace(numbers=(1, 2, 3))]),
        (of("split", 0, 2, X), [X._replace(numbers=(0, 1)), X._replace(numbers=(2, 3))]),
        (of("gather", X, Vector((3, 0))), X._replace(numbers=(3, 0))),
        (of("boolean_mask", X, Vector((True, False, False, True))), X._replace(numbers=(0, 3))),
        (of("reverse", X, [0]), X._replace(numbers=(3, 2, 1, 0))),
        (of("reverse", X, [2]), X._replace(change="reverses axis 2")),
        (of("concat", [Vector((2,)), [5, 6]], 0), Vector((2, 5, 6))),
        (of("concat", 0, [Vector((2,)), Vector((5,))]), Vector((2, 5))),
        (of("concat", [X, X._replace(numbers=(9,))], axis=0), X._replace(numbers=(0, 1, 2, 3, 9))),
        (of("dynamic_partition", X, Vector((1, 0, 1, 0)), 2), [X._replace(numbers=(1, 3)), X._replace(numbers=(0, 2))]),
        (of("dynamic_partition", of("range", 3), Vector((1, 0, 1)), 2), [Vector((1,)), Vector((0, 2))]),
        (
            of("dynamic_stitch", [Vector((2, 0)), [1]], [X._replace(numbers=(7, 8)), X._replace(numbers=(9,))]),
            X._replace(numbers=(8, 9, 7)),
        ),
        (of("stack", [X, X], 1), Stacked((X, X), 1)),
        (of("reshape", Stacked((X, Y), 1), [-1, *X.sizes[:2]]), X._replace(numbers=(0, 4, 1, 5, 2, 6, 3, 7))),
        (of("reshape", Stacked((X, Y), 0), [8, *X.sizes[:2]]), X._replace(numbers=tuple(range(8)))),
        (of("reshape", Stacked((X, Y), 0), [-1, 9]), X._replace(numbers=tuple(range(8)), is_partly=True)),
        (of("reshape", X, [-1, *X.sizes[:2]]), X),
        (of("reshape", TOLD, [-1, 6]), Rows((0, 1), 2, "reshapes its rows", (6,))),
        (of("reshape", X, [-1, 2, *X.sizes[:2]]), Stacked((part(0, 2), part(1, 3)), 1)),
        (of("reshape", X, [2, -1, *X.sizes[:2]]), Stacked((part(0, 1), part(2, 3)), 0)),
        (of("unstack", Stacked((X, Y), 1), axis=1), [X, Y]),
        (of("boolean_mask", X, X), X._replace(change=BY_VALUES, along=BY_VALUES)),
        (of("zeros_like", X), X._replace(change="calls tensorflow.zeros_like", is_alike=True)),
        (of("pad", X, [[0, 0], [0, 0], [1, 1]]), X._replace(change="pads the rows")),
        (of("pad", X, [[0, 0], [0, 0], [0, 0]]), X),
        (of("somebodys_own", X), Unexplained("somebodys_own")),
        (of("somebodys_own", 2), Unexplained("somebodys_own")),
        (of("reduce_mean", X, axis=0), along(X._replace(numbers=(), rank=2, sizes=X.sizes), "reduce_mean")),
        (of("reduce_mean", X, axis=0, keepdims=True), along(part(0), "reduce_mean")),
        (of("reduce_mean", X), along(X._replace(numbers=(), rank=0, sizes=SIZES[2:]), "reduce_mean")),
        (of("reduce_mean", X, axis=-1, keepdims=True), X._replace(change="calls tensorflow.reduce_mean")),
        (of("nn.softmax", X, axis=0), along(X, "nn.softmax")),
        (of("nn.softmax", X), X._replace(change="calls tensorflow.nn.softmax")),
        (of("nn.top_k", X, 6), [X._replace(change="calls tensorflow.nn.top_k")] * 2),
        (of("norm", X, 2, axis=-1, keepdims=True), X._replace(change="calls tensorflow.norm")),
        (of("tile", X, [2, 1, 1]), along(X, "tile")),
        (of("tile", X, [1, 2, 1]), X._replace(change="calls tensorflow.tile", may_have_moved=True)),
        (of("roll", X, 1, 0), along(X, "roll")),
        (of("matmul", X, X), X._replace(change="calls tensorflow.matmul")),
        (of("matmul", FLAT, FLAT), along(FLAT, "matmul")),
        (of("cast", 2.7, Named("tensorflow.int32")), 2),
        (
            of("image.rot90", X, 1),
            X._replace(change="calls tensorflow.image.rot90", may_have_moved=True, factors=(1.0,)),
        ),
        (of("equal", Vector((0, 1)), 1), Vector((False, True))),
        (call(Named("len"), [[1, 2]], {}), 2),
    ],
)
def test_functions(value: Value, expected: Value) -> None:
    assert value == expected


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("stack", ([X, TOLD], 1)),
        ("stack", ([X, 1], 1)),
        ("stack", ([X, X], 2)),
        ("reshape", (X, [-1, 6])),
        ("reshape", (TOLD, [-1, 3])),
        ("reshape", (TOLD, [3, 4])),
        ("reshape", (Stacked((X, Y), 0), [4, 9])),
        ("concat", ([X, X._replace(numbers=(1, 2, 3, 4))], 1)),
        ("split", (X, 3)),
        ("gather", (X, Vector((9,)))),
        ("cast", (X, "float32")),
        ("dynamic_stitch", ([[0, 1, 2, 2]], [X])),
        ("dynamic_stitch", ([[0], [1, 2, 3]], [X])),
        ("slice", (X, [0.5], [2])),
        ("slice", (X, [2, 0, 0], [3, -1, -1])),  # more rows than there are
        ("slice", (X, [-1, 0, 0], [1, -1, -1])),  # from before the first row
        ("range", (10**9,)),
        ("floordiv", (1, 0)),
    ],
)
def test_calls_that_nobody_can_follow(name: str, arguments: tuple[Value, ...]) -> None:
    with pytest.raises(NotFollowed):
        of(name, *arguments)


OF_ALL = along(X._replace(numbers=(), rank=0, sizes=SIZES[2:]), "reduce_mean")
"""A number made of all rows."""


@pytest.mark.parametrize(
    "value",
    [
        of("reshape", OF_ALL, [1, 1]),
        of("reshape", OF_ALL, (-1,)),
        of("expand_dims", of("expand_dims", OF_ALL, 0), 0),
        of("stack", [[OF_ALL]]),
        of("fill", [1, 1], OF_ALL),
        of("broadcast_to", OF_ALL, [1, 3]),
    ],
)
def test_what_is_made_of_all_rows_is_one(value: Value) -> None:
    """Whatever shape it is given."""
    assert isinstance(value, Rows)
    assert (value.numbers, value.rank, value.along) == ((0,), 2, OF_ALL.along)


def test_a_number_that_is_to_be_one() -> None:
    assert of("reshape", OF_ALL, []) == of("reshape", OF_ALL, shape=()) == OF_ALL
    with pytest.raises(NotFollowed):
        of("shape", OF_ALL)


def test_what_nothing_explains_may_be_made_of_the_rows() -> None:
    """Such as what `einsum` gives."""
    for name in ("add", "matmul", "maximum"):
        of_sum = of(name, X, of("einsum", "ij,ik->jk", X, X))
        assert isinstance(of_sum, Rows)
        assert of_sum.may_have_moved
    of_number = of("maximum", X, 0.0)
    assert isinstance(of_number, Rows)
    assert not of_number.may_have_moved


def test_the_static_shape_does_not_know_the_batch() -> None:
    assert call(attribute(X, "get_shape"), [], {}) == (None, *SIZES[:2])
    assert call(attribute(attribute(X, "shape"), "as_list"), [], {}) == [None, *SIZES[:2]]


def python(name: str, *arguments: Value, **keywords: Value) -> Value:
    """What a builtin gives, as a list where it gives one value after the other."""
    value = call(Named(name), arguments, keywords)
    return list(each(value)) if isinstance(value, Once) else value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (python("enumerate", [X, Y]), [(0, X), (1, Y)]),
        (python("enumerate", (5,), start=2), [(2, 5)]),
        (python("zip", [X, Y], (1, 2, 3)), [(X, 1), (Y, 2)]),
        (python("zip"), []),
        (python("reversed", [X, Y]), [Y, X]),
        (python("reversed", (1, 2)), [2, 1]),
        (python("sorted", [3, 1, 2]), [1, 2, 3]),
        (python("sorted", (3, 1, 2), reverse=True), [3, 2, 1]),
        (python("sum", [1, 2.5]), 3.5),
        (python("sum", [[1], [2]], []), [1, 2]),
        (python("sum", [X, X]), X._replace(change="computes with the values (`+`)", factors=(0.0,))),
        (
            python("sum", [X, Y]),
            X._replace(
                change="computes with the values (`+`)",
                along="computes with the values (`+`) of other rows",
                factors=(0.0,),
            ),
        ),
        (python("min", [3, 1]), 1),
        (python("max", 3, 1, 4), 4),
        (python("list"), []),
        (python("tuple", [X]), (X,)),
        (python("list", call(Named("zip"), [[1], [2]], {})), [(1, 2)]),
        (python("xrange", 1, 6, 2), (1, 3, 5)),
    ],
)
def test_builtins(value: Value, expected: Value) -> None:
    assert value == expected


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("enumerate", [X]), ("enumerate", [[X], 0.5]), ("zip", [[X], X]), ("reversed", [X]), ("sorted", [[X, Y]]),
        ("sum", [[[1], [2]]]), ("sum", [Vector((1, 2))]), ("min", [[]]), ("max", []), ("list", [Vector((1,))]),
        ("reversed", [call(Named("zip"), [], {})]), ("len", [call(Named("zip"), [], {})]),
    ],
)  # fmt: skip
def test_builtins_of_what_they_do_not_take(name: str, arguments: list[Value]) -> None:
    with pytest.raises(NotFollowed):
        python(name, *arguments)


def test_a_list_is_read_as_it_is_by_then() -> None:
    """`zip` and the like hold the list, and not what was in it."""
    held: list[Value] = [1]
    later = call(Named("enumerate"), [held], {})
    held.append(2)
    assert list(each(later)) == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [("append", [3], [1, 2, 3]), ("append", [[3]], [1, 2, [3]]), ("insert", [0, 3], [3, 1, 2]),
     ("insert", [-1, 3], [1, 3, 2]), ("extend", [(3, 4)], [1, 2, 3, 4]), ("reverse", [], [2, 1])],
)  # fmt: skip
def test_methods_change_their_list(name: str, arguments: list[Value], expected: list[Value]) -> None:
    changed: list[Value] = [1, 2]
    assert call(attribute(changed, name), arguments, {}) is None
    assert changed == expected


@pytest.mark.parametrize(
    ("name", "arguments"), [("append", []), ("insert", [0.5, 1]), ("extend", [X]), ("reverse", [1])]
)
def test_methods_with_other_arguments(name: str, arguments: list[Value]) -> None:
    with pytest.raises(NotFollowed):
        call(attribute([1, 2], name), arguments, {})


def test_a_mask_of_counted_rows_is_no_choice_by_values() -> None:
    """`cumsum(ones_like(x[:, 0]))` numbers the rows; a mask of what the rows hold does choose."""
    counted = of("cumsum", of("ones_like", FLAT._replace(rank=1, change="takes one entry of axis 1")))
    with pytest.raises(NotFollowed):
        of("boolean_mask", FLAT, of("greater_equal", counted, 2))
    chosen = of("boolean_mask", FLAT, of("greater_equal", FLAT._replace(rank=1), 2))
    assert isinstance(chosen, Rows)
    assert chosen.change == BY_VALUES
