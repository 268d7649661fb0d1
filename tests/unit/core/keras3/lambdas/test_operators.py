"""Operators, subscripts and comparisons on tensors and constants: exact, or refused with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas.calling import computed
from unnest.core.keras3.lambdas import operators
from unnest.core.keras3.lambdas.tensor_nodes import number_of
from unnest.core.keras3_op_node import UNKNOWN_DTYPE, Input, OpNode
from unnest.core.model import Json, Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    Const,
    Items,
    LibraryName,
    ShapeTuple,
    Size,
    SliceOf,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)

NUMPY = "keras.src.ops.numpy"
X = SymbolicTensor(Input(0), "float32", "x", shape=(None, 4))
Y = SymbolicTensor(Input(1), "float32", "y", shape=(None, 4))
WIDER = SymbolicTensor(Input(1), "float32", "w", shape=(None, 3, 4))
BOOL = SymbolicTensor(Input(2), "bool", "b")
VECTOR = items("list", [constant(1), constant(2)])
FLOATS: Json = {"class_name": "__numpy__", "config": {"value": [1.0, 2.0], "dtype": "float32"}}


@pytest.mark.parametrize(
    ("symbol", "left", "right", "node", "text"),
    [
        ("+", X, Y, OpNode(NUMPY, "Add", {}, (Input(0), Input(1))), "x + y"),
        ("-", constant(1), X, OpNode(NUMPY, "Subtract", {}, (1, Input(0))), "1 - x"),
        ("classic /", X, constant(2), OpNode(NUMPY, "Divide", {}, (Input(0), 2)), "x / 2"),
        ("//", X, constant(0.3), OpNode(NUMPY, "FloorDivide", {}, (Input(0), 0.3)), "x // 0.3"),
        ("*", X, VECTOR, OpNode(NUMPY, "Multiply", {}, (Input(0), FLOATS)), "x * [1, 2]"),
        ("+", X, constant(2**31), OpNode(NUMPY, "Add", {}, (Input(0), 2.0**31)), "x + 2147483648"),
        ("&", BOOL, BOOL, OpNode(NUMPY, "LogicalAnd", {}, (Input(2), Input(2))), "b & b"),
        ("@", X, Y, OpNode(NUMPY, "Matmul", {}, (Input(0), Input(1))), "x @ y"),
    ],
)
def test_on_tensors(
    symbol: str, left: SymbolicValue, right: SymbolicValue, node: OpNode, text: str
) -> None:
    result = operators.binary(symbol, left, right)
    assert isinstance(result, SymbolicTensor)
    assert (result.operand, result.text) == (node, text)


@pytest.mark.parametrize(
    ("symbol", "left", "right", "value", "text"),
    [
        ("+", 1, 2, 3, "1 + 2"),
        ("/", 7, 2, 3.5, "7 / 2"),
        ("classic /", 7, 2, 3, "7 // 2"),
        ("classic /", 7.0, 2, 3.5, "7.0 / 2"),
        ("**", 2, -1, 0.5, "2 ** -1"),
        ("**", -2, 2, 4, "(-2) ** 2"),
        ("%", -7, 3, 2, "-7 % 3"),
    ],
)
def test_numbers_are_computed_at_once(
    symbol: str, left: float, right: float, value: float, text: str
) -> None:
    """Python 2's division of integers is another than of numbers."""
    result = operators.binary(symbol, constant(left), constant(right))
    assert isinstance(result, Const)
    assert (result.value, result.text) == (value, text)


def test_what_binds_less_tightly_stands_in_parentheses() -> None:
    total = operators.binary("+", X, Y)
    assert operators.binary("*", total, total).text == "(x + y) * (x + y)"
    assert operators.binary("-", total, total).text == "x + y - (x + y)"
    assert operators.unary("-", total).text == "-(x + y)"


@pytest.mark.parametrize(
    ("right", "shape", "rows"),
    [
        (Y, (None, 4), X.rows),
        (constant(2), (None, 4), X.rows),
        (WIDER, (None, 3, 4), None),
        (VECTOR, None, None),
    ],
)
def test_the_shape_of_a_sum(
    right: SymbolicValue, shape: tuple[int | None, ...] | None, rows: int | None
) -> None:
    """As NumPy broadcasts; whose rows they are is known where nothing could widen it."""
    result = operators.binary("+", X, right)
    assert isinstance(result, SymbolicTensor)
    assert (result.shape, result.rows) == (shape, rows)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("<", "Less"), ("<=", "LessEqual"), (">", "Greater"), (">=", "GreaterEqual")],
)
def test_a_comparison_is_a_truth_value(symbol: str, name: str) -> None:
    result = operators.compare(symbol, X, constant(0))
    assert isinstance(result, SymbolicTensor)
    assert (result.operand, result.dtype) == (OpNode(NUMPY, name, {}, (Input(0), 0)), "bool")


@pytest.mark.parametrize(
    ("key", "stored", "text"),
    [
        (constant(-1), [-1], "x[-1]"),
        (constant(None), [None], "x[None]"),
        (
            items("tuple", [constant(...), SliceOf((None, 2, None))]),
            [
                {"class_name": "__ellipsis__", "config": {}},
                {"class_name": "__slice__", "config": {"start": None, "stop": 2, "step": None}},
            ],
            "x[..., :2]",
        ),
    ],
)
def test_a_part_of_a_tensor(key: SymbolicValue, stored: Json, text: str) -> None:
    result = operators.subscript(X, key)
    assert isinstance(result, SymbolicTensor)
    assert (result.operand, result.text) == (OpNode(NUMPY, "GetItem", {}, (Input(0), stored)), text)


TENSOR = replace(X, shape=(None, 4), rows=0)
SHAPE = ShapeTuple((Size("", TENSOR), 4), "shape", "s")


def test_a_part_of_a_shape_or_list() -> None:
    shape = replace(SHAPE, sizes=(*SHAPE.sizes, 5))
    assert operators.subscript(shape, constant(0)) == Size("s[0]", TENSOR)
    assert operators.subscript(shape, constant(-1)) == Const(5, "s[-1]")
    assert operators.subscript(shape, SliceOf((1, None, None))) == ShapeTuple(
        (4, 5), "shape", "s[1:]"
    )
    assert operators.subscript(VECTOR, constant(1)) == constant(2)
    assert operators.subscript(VECTOR, SliceOf((None, None, -1))).text == "[2, 1]"
    assert operators.unpack(VECTOR, 2) == [constant(1), constant(2)]
    assert operators.unpack(shape, 3) == [Size("s[0]", TENSOR), Const(4, "s[1]"), Const(5, "s[2]")]


def test_lists_one_behind_the_other() -> None:
    """A shape that Python has as a list among them; its first size still counts rows."""
    shape = replace(SHAPE, kind="list")
    joined = operators.binary("+", shape, VECTOR)
    assert isinstance(joined, Items)
    assert (joined.kind, joined.text) == ("list", "s + [1, 2]")
    assert joined.items == (Size("s[0]", TENSOR), Const(4, "s[1]"), constant(1), constant(2))
    turned = operators.subscript(shape, SliceOf((None, None, -1)))
    assert isinstance(turned, ShapeTuple)
    assert turned.dimensions == (4, None)
    (_, rows) = turned.sizes
    assert isinstance(rows, Size)
    assert rows.rows == 0
    assert Size("s[1]", TENSOR, axis=1).rows is None


SLICE = re.compile(
    r"\{'class_name': '__slice__', 'config': \{'start': (\d+), 'stop': None, 'step': (\d+)\}\}"
)
LENGTH = Size("n", replace(X, shape=(None, None)), axis=1)
ZEROS = "Sum(ZerosLike(x0), axis=[0], keepdims=False)"
NUMBER = f"Sum(Add(Cast({ZEROS}, dtype=int32), 1), axis=None, keepdims=False)"


@pytest.mark.parametrize(
    ("size", "text", "number", "zeros"),
    [
        (operators.binary("+", LENGTH, constant(2)), "n + 2", f"Add({NUMBER}, 2)",
         f"Pad({ZEROS}, pad_width=[[0, 2]], mode=constant)"),
        (operators.binary("+", constant(2), LENGTH), "2 + n", f"Add(2, {NUMBER})",
         f"Pad({ZEROS}, pad_width=[[0, 2]], mode=constant)"),
        (operators.binary("-", LENGTH, constant(1)), "n - 1", f"Subtract({NUMBER}, 1)", f"GetItem({ZEROS}, [1::1])"),
        (operators.binary("*", LENGTH, constant(3)), "n * 3", f"Multiply({NUMBER}, 3)", f"Tile({ZEROS}, repeats=[3])"),
        (operators.binary("//", LENGTH, constant(2)), "n // 2", f"FloorDivide({NUMBER}, 2)",
         f"GetItem({ZEROS}, [1::2])"),
        (operators.binary("+", LENGTH, LENGTH), "n + n", f"Add({NUMBER}, {NUMBER})",
         f"Concatenate([{ZEROS}, {ZEROS}], axis=0)"),
        (operators.binary("*", LENGTH, LENGTH), "n * n", f"Multiply({NUMBER}, {NUMBER})",
         f"Reshape(Add(Reshape({ZEROS}, newshape=[-1, 1]), {ZEROS}), newshape=[-1])"),
        (operators.binary("%", LENGTH, constant(2)), "n % 2", f"Mod({NUMBER}, 2)", None),
        (operators.binary("-", constant(5), LENGTH), "5 - n", f"Subtract(5, {NUMBER})", None),
        (operators.binary("-", LENGTH, LENGTH), "n - n", f"Subtract({NUMBER}, {NUMBER})", None),
    ],
)  # fmt: skip
def test_sizes_that_are_calculated(
    size: SymbolicValue, text: str, number: str, zeros: str | None
) -> None:
    """A size that is calculated is a number, and as many zeros where some can be made."""
    assert isinstance(size, Size)
    assert (size.text, size.rows) == (text, None)
    assert computed(number_of(size)) == number
    made = None if size.tensor is None else SLICE.sub(r"\1::\2", computed(size.tensor))
    assert made == zeros


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: operators.binary("+", X, BOOL), "arithmetic on bool"),
    (lambda: operators.binary("&", X, BOOL), "`&` on tensors"),
    (lambda: operators.binary("<<", X, constant(1)), "`<<` on tensors"),
    (lambda: operators.binary("@", X, VECTOR), "`@` on tensors"),
    (lambda: operators.binary("+", X, constant(value=True)), "a truth value as an operand"),
    (lambda: operators.binary("+", X, constant(10**30)), "an integer as an operand"),
    (
        lambda: operators.binary("+", VECTOR, items("stored", [constant(1)])),
        "`+` on a list and a stored list",
    ),
    (
        lambda: operators.binary("+", VECTOR, items("tuple", [constant(1)])),
        "`+` on a list and a tuple",
    ),
    (
        lambda: operators.binary("+", VECTOR, ShapeTuple((4,), "shape", "s")),
        "`+` on a list and a shape",
    ),
    (
        lambda: operators.binary("+", VECTOR, ShapeTuple((4,), "tensor", "s")),
        "`+` on a list and a shape",
    ),
    (lambda: operators.binary("*", VECTOR, VECTOR), "`*` on a list and a list"),
    (lambda: operators.unpack(ShapeTuple((4,), "tensor", "s"), 1), "a shape taken apart"),
    (lambda: operators.binary("+", constant("a"), constant("b")), "`+` on text and text"),
    (lambda: operators.binary("/", constant(1), constant(0)), "an impossible calculation"),
    (lambda: operators.binary("**", constant(2), constant(65)), "a large power"),
    (lambda: operators.binary("*", constant(1e38), constant(1e38)), "a number beyond 32 bits"),
    (lambda: operators.binary("**", constant(-1), constant(0.5)), "a number beyond 32 bits"),
    (lambda: operators.unary("~", constant(1)), "`~` on an integer"),
    (lambda: operators.unary("~", X), "arithmetic on float32"),
    (lambda: operators.unary("+", X), "`+` on tensors"),
    (lambda: operators.compare("==", X, Y), "`==`"),
    (lambda: operators.compare("<", constant(1), constant(2)), "Less without a tensor"),
    (lambda: operators.binary("/", LENGTH, constant(2)), "arithmetic on int32"),
    (lambda: operators.binary("*", LENGTH, constant(0.5)), "arithmetic on int32"),
    (lambda: operators.subscript(X, constant(value=True)), "a tensor's part by a truth value"),
    (lambda: operators.subscript(X, constant(1.5)), "an index that is no integer"),
    (lambda: operators.subscript(X, items("tuple", [])), "a subscript"),
    (lambda: operators.subscript(X, items("tuple", [constant(...), constant(...)])), "a subscript"),
    (lambda: operators.subscript(X, SliceOf((None, None, 0))), "a step of zero"),
    (lambda: operators.subscript(X, Y), "a tensor's part by a tensor"),
    (lambda: operators.subscript(VECTOR, constant(2)), "an index outside its list"),
    (
        lambda: operators.subscript(ShapeTuple((4,), "shape", "s"), constant(1)),
        "an index outside its shape",
    ),
    (lambda: operators.subscript(LibraryName("K", "K"), constant(0)), "a part of `K`"),
    (
        lambda: operators.slice_of([constant(None), LENGTH]),
        "a slice to a size that is not known",
    ),
    (
        lambda: operators.slice_of([constant(1.5), constant(2)]),
        "a slice whose ends are no integers",
    ),
    (lambda: operators.slice_of([X, constant(2)]), "a slice whose ends are no integers"),
    (lambda: operators.unpack(X, 2), "a tensor taken apart"),
    (lambda: operators.unpack(VECTOR, 3), "a list taken apart in another number of parts"),
]


@pytest.mark.parametrize(("compute", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_the_rest_is_refused_with_its_reason(compute: Callable[[], object], reason: str) -> None:
    with pytest.raises(Unknown, match=f"^{re.escape(reason)}$"):
        compute()


def test_a_float_beside_a_tensor_shows_what_it_holds() -> None:
    """A float beside a tensor shows that it holds floats, as TensorFlow refuses others; an integer shows nothing.

    Neither does the like, but sums and products are what they are of whole numbers too.
    """
    unknown = replace(X, dtype=UNKNOWN_DTYPE)
    scaled = operators.binary("/", unknown, constant(127.5))
    assert isinstance(scaled, SymbolicTensor)
    assert scaled.dtype == "float32"
    beside = operators.binary("+", X, unknown)
    doubled = operators.binary("*", unknown, constant(2))
    summed = operators.binary("+", doubled, unknown)
    dtypes = [t.dtype for t in (beside, doubled, summed) if isinstance(t, SymbolicTensor)]
    assert dtypes == ["float32", UNKNOWN_DTYPE, UNKNOWN_DTYPE]
    for symbol, value in (("/", constant(2)), ("/", unknown)):
        with pytest.raises(
            Unknown, match=r"^arithmetic on an unknown dtype \(of the output of custom code\)$"
        ):
            operators.binary(symbol, unknown, value)


def test_a_part_of_a_stored_list_is_stored() -> None:
    """A tuple, a list and an array have the same part; it is still not known which of them it is."""
    stored = items("stored", [constant(None), constant(4), constant(5), constant(3)])
    cut = operators.subscript(stored, SliceOf((1, 3, None)))
    assert cut == items("stored", [constant(4), constant(5)])
    with pytest.raises(Unknown, match=r"^`\+` on a stored list and a tuple$"):
        operators.binary("+", cut, items("tuple", [constant(1)]))
