"""Nodes that move elements, integers as well as floats, and the shapes that Python sees."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, UNSHAPED, X, Y, called, computed
from unnest.core.keras3.lambdas import operators
from unnest.core.keras3_op_node import Input
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    Const,
    ConstantArray,
    Items,
    Libraries,
    ShapeTuple,
    SliceOf,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)


def whole(*numbers: int) -> SymbolicValue:
    return items("list", [constant(n) for n in numbers])


SLICED = computed(called("tf.slice", X, whole(0, 1, 2), whole(-1, 2, -1)))
XY = items("list", [X, Y])


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        (called("K.expand_dims", X), "ExpandDims(x0, axis=-1)"),
        (called("tf.ensure_shape", X, items("list", [constant(None), constant(3), constant(None)])), "x0"),
        (called("tf.expand_dims", INTEGERS, dim=constant(1)), "ExpandDims(x0, axis=1)"),
        (called("K.squeeze", X, constant(1)), "Squeeze(x0, axis=1)"),
        (called("tf.reshape", X, whole(-1, 12)), "Reshape(x0, newshape=[-1, 12])"),
        (called("K.flatten", X), "Reshape(x0, newshape=[-1])"),
        (called("K.batch_flatten", X), "Reshape(x0, newshape=[-1, 12])"),
        (called("tf.transpose", X, perm=whole(0, 2, 1)), "Transpose(x0, axes=[0, 2, 1])"),
        (called("tf.linalg.matrix_transpose", X), "Swapaxes(x0, axis1=-2, axis2=-1)"),
        (called("tf.linalg.adjoint", X), "Swapaxes(x0, axis1=-2, axis2=-1)"),
        (called("K.concatenate", XY), "Concatenate([x0, x1], axis=-1)"),
        (called("tf.stack", XY), "Stack([x0, x1], axis=0)"),
        (called("K.tile", X, whole(1, 2, 1)), "Tile(x0, repeats=[1, 2, 1])"),
        (called("K.repeat", X, constant(3)), "Tile(ExpandDims(x0, axis=1), repeats=[1, 3, 1])"),
        (called("K.repeat_elements", X, constant(2), constant(1)), "Repeat(x0, repeats=2, axis=1)"),
        (called("K.reverse", X, constant(1)), "Flip(x0, axis=1)"),
        (called("tf.split", X, constant(2), axis=constant(-1)),
         "[Split(x0, indices_or_sections=2, axis=-1)[0], Split(x0, indices_or_sections=2, axis=-1)[1]]"),
        (called("tf.split", X, whole(1, 3), axis=constant(2)),
         "[Split(x0, indices_or_sections=[1], axis=2)[0], Split(x0, indices_or_sections=[1], axis=2)[1]]"),
        (called("tf.unstack", X, axis=constant(1)),
         f"[{', '.join(f'Unstack(x0, num=3, axis=1)[{k}]' for k in range(3))}]"),
        (called("K.slice", X, whole(0, 1, 2), whole(-1, 2, -1)), SLICED),
        (called("K.gather", X, constant(1)), "Take(x0, 1, axis=0)"),
        (called("K.gather", X, called("K.arange", constant(3))), "Take(x0, [0, 1, 2], axis=0)"),
        (called("tf.gather", X, whole(0, 2), axis=constant(1)), "Take(x0, [0, 2], axis=1)"),
        (called("K.zeros_like", X), "ZerosLike(x0)"),
    ],
)  # fmt: skip
def test_operations(value: SymbolicValue, operations: str) -> None:
    assert computed(value) == operations


def test_integers_stay_integers() -> None:
    value = called("tf.reshape", INTEGERS, whole(-1, 12))
    assert isinstance(value, SymbolicTensor)
    assert value.dtype == "int32"


def test_shapes_of_then() -> None:
    shape, rank = called("K.int_shape", X), called("K.ndim", X)
    assert isinstance(shape, ShapeTuple)
    assert shape.dimensions == (None, 3, 4)
    assert isinstance(rank, Const)
    assert rank.value == 3


ROWS = replace(X, rows=0)
OTHER = replace(Y, rows=1)
NARROW = replace(ROWS, shape=(None, None, 4))


def sizes(tensor: SymbolicTensor, function: str = "tf.shape") -> list[SymbolicValue]:
    """`shape[0], shape[1], shape[2]`."""
    shape = called(function, tensor)
    return [operators.subscript(shape, constant(place)) for place in range(3)]


@pytest.mark.parametrize(
    ("x", "shape", "newshape"),
    [
        (ROWS, lambda x: [sizes(x)[0], constant(12)], [-1, 12]),
        (ROWS, lambda x: [sizes(x, "K.int_shape")[0], constant(4), constant(3)], [-1, 4, 3]),
        (ROWS, lambda x: [sizes(x)[0], sizes(x)[2], sizes(x)[1]], [-1, 4, 3]),
        (ROWS, lambda _: [sizes(OTHER)[0], constant(12)], [-1, 12]),
        (ROWS, lambda x: [sizes(x)[0], constant(-1)], [-1, 12]),
        (ROWS, lambda x: [sizes(x)[0], constant(-1), constant(2)], [-1, 6, 2]),
        (NARROW, lambda x: [constant(4), sizes(x)[1]], [4, -1]),
        (UNSHAPED, lambda _: [sizes(ROWS)[0], constant(12)], [-1, 12]),
    ],
)
def test_a_reshape_by_sizes_of_a_tensor(
    x: SymbolicTensor, shape: Callable[[SymbolicTensor], list[SymbolicValue]], newshape: list[int]
) -> None:
    """One of them may be unknown: it follows from the others."""
    for written in (items("list", shape(x)), called("tf.stack", items("list", shape(x)))):
        assert computed(called("tf.reshape", x, written)) == f"Reshape(x0, newshape={newshape})"


def test_a_reshape_to_the_shape_of_another() -> None:
    assert (
        computed(called("tf.reshape", ROWS, called("tf.shape", OTHER)))
        == "Reshape(x0, newshape=[-1, 3, 4])"
    )


@pytest.mark.parametrize(
    ("x", "shape"),
    [
        (
            ROWS,
            lambda _: [sizes(OTHER)[0], constant(-1)],
        ),  # rows of another input, which may be others
        (UNSHAPED, lambda _: [sizes(ROWS)[0], constant(-1)]),
        (NARROW, lambda _: [sizes(OTHER)[0], constant(-1)]),
        (NARROW, lambda x: [sizes(x)[0], constant(-1), constant(0)]),
        (NARROW, lambda x: [constant(-1), sizes(x)[0]]),
        (NARROW, lambda x: [sizes(x)[0], sizes(x)[1], constant(-1)]),
        (NARROW, lambda x: [sizes(OTHER)[0], sizes(x)[1], constant(4)]),
        (NARROW, lambda x: [constant(-1), sizes(x)[1]]),
        (ROWS, lambda x: [sizes(x)[0], constant(-1), constant(5)]),
        (ROWS, lambda x: [sizes(x)[0], constant(0)]),
        (ROWS, lambda x: [sizes(x)[0], constant(-1), constant(-1)]),
    ],
)
def test_a_reshape_that_does_not_follow(
    x: SymbolicTensor, shape: Callable[[SymbolicTensor], list[SymbolicValue]]
) -> None:
    with pytest.raises(Unknown, match=r"^a shape with several unknown sizes$"):
        called("tf.reshape", x, items("list", shape(x)))


@pytest.mark.parametrize(
    ("shape", "target"), [((-1,), "[-1]"), ((-1, 2), "[-1, 2]"), ((2, -1, 1), "[2, -1, 1]")]
)
def test_rows_of_unknown_size_are_reshaped_one_by_one(shape: tuple[int, ...], target: str) -> None:
    """By the layer, which leaves the batch alone: an operation would have two unknown sizes to find."""
    value = called("tf.reshape", NARROW, items("list", [sizes(NARROW)[0], *map(constant, shape)]))
    assert computed(value) == f"Reshape(x0, target_shape={target})"
    assert isinstance(value, SymbolicTensor)
    assert (value.shape, value.rows) == ((None, *(None if n == -1 else n for n in shape)), 0)


def test_a_length_that_only_a_run_knows_follows_from_the_row() -> None:
    rows, steps, _ = sizes(NARROW)
    value = called("tf.reshape", NARROW, items("list", [rows, steps, constant(2), constant(2)]))
    assert computed(value) == "Reshape(x0, target_shape=[-1, 2, 2])"


def test_rows_are_known_behind_transposes_and_products() -> None:
    heads = called(
        "tf.transpose", called("tf.reshape", ROWS, whole(-1, 3, 2, 2)), whole(0, 2, 1, 3)
    )
    scores = called("tf.matmul", heads, heads, transpose_b=constant(True))  # noqa: FBT003 - a constant of stored code
    turned = called("tf.transpose", called("tf.matmul", scores, heads), whole(0, 2, 1, 3))
    value = called("tf.reshape", turned, items("list", [sizes(ROWS)[0], constant(-1), constant(4)]))
    assert computed(value).startswith("Reshape(")
    assert computed(value).endswith("newshape=[-1, 3, 4])")


def test_rows_are_others_where_the_batch_is_moved() -> None:
    turned = called("tf.transpose", ROWS, whole(1, 0, 2))
    shape = items("list", [sizes(ROWS)[0], constant(-1), constant(4)])
    with pytest.raises(Unknown, match=r"^a shape with several unknown sizes$"):
        called("tf.reshape", turned, shape)


def test_rows_of_matrices_that_are_turned() -> None:
    """Rows stay where they are but in a matrix, whose first axis they are."""
    turned = [
        called("tf.linalg.matrix_transpose", x) for x in (ROWS, replace(ROWS, shape=(None, 4)))
    ]
    assert [(t.shape, t.rows) for t in turned if isinstance(t, SymbolicTensor)] == [
        ((None, 4, 3), 0),
        ((4, None), None),
    ]
    with pytest.raises(Unknown, match=r"^`conjugate=True`$"):
        called("tf.linalg.matrix_transpose", X, conjugate=constant(True))  # noqa: FBT003 - a constant of stored code


def test_rows_behind_a_reshape() -> None:
    """They are the input's where they are counted, or hold as much as before; and no longer where rows were joined."""
    kept = called("tf.reshape", ROWS, whole(-1, 2, 6))
    assert isinstance(kept, SymbolicTensor)
    assert (kept.shape, kept.rows) == ((None, 2, 6), 0)
    flat = called("tf.reshape", kept, items("list", [sizes(kept)[0], constant(-1)]))
    assert computed(flat) == "Reshape(Reshape(x0, newshape=[-1, 2, 6]), newshape=[-1, 12])"
    joined = called("tf.reshape", ROWS, whole(-1, 4))
    assert isinstance(joined, SymbolicTensor)
    assert (joined.shape, joined.rows) == ((None, 4), None)


def test_a_size_of_another_tensor_where_it_is_known() -> None:
    """As Python has it, or as a tensor."""
    for function in ("K.int_shape", "tf.shape"):
        size = operators.subscript(called(function, OTHER), SliceOf((1, 3, None)))
        resized = called("tf.image.resize", ROWS, size)
        assert computed(resized).startswith("Resize(x0, size=[3, 4]")
    assert called(
        "np.prod", operators.subscript(called("K.int_shape", X), SliceOf((1, None, None)))
    ) == Const(12, "np.prod(K.int_shape(x)[1:])")
    with pytest.raises(Unknown, match=r"^a product of sizes that are not known$"):
        called("np.prod", called("K.int_shape", X))


@pytest.mark.parametrize(
    ("name", "positional", "reason"),
    [
        ("K.squeeze", (X, constant(None)), "a squeeze of all axes"),
        ("tf.reshape", (X, whole(-1, -1)), "a shape with several unknown sizes"),
        ("tf.reshape", (X, whole(-2, 12)), "a shape with several unknown sizes"),
        ("K.batch_flatten", (UNSHAPED,), "`K.batch_flatten` of an unknown shape"),
        ("tf.unstack", (UNSHAPED,), "`tf.unstack` of an unknown size"),
        ("tf.unstack", (X,), "`tf.unstack` of an unknown size"),
        ("tf.split", (X, whole(-1, 2)), "a split in unknown sizes"),
        ("tf.split", (X, constant(1000)), "a split in many parts"),
        ("K.reverse", (X, constant(None)), "a reversal without axes"),
        ("tf.ensure_shape", (X, whole(4, 3, 4)), "a check of sizes that only a run knows"),
        ("tf.ensure_shape", (X, whole(3, 4)), "a check of sizes that only a run knows"),
        ("tf.ensure_shape", (UNSHAPED, whole(3, 4)), "a check of sizes that only a run knows"),
        ("tf.slice", (X, whole(0, 1), whole(-1, 2, -1)), "the slice"),
        ("tf.slice", (X, whole(0, -1, 0), whole(-1, 2, -1)), "the slice"),
    ],
)
def test_what_is_not_understood(
    name: str, positional: tuple[SymbolicValue, ...], reason: str
) -> None:
    with pytest.raises(Unknown, match=f"^{reason}$"):
        called(name, *positional)


IDS = SymbolicTensor(Input(0), "int32", "i", shape=(None,), rows=0)
BATCH = Libraries(
    "tensorflow", "2", tensor_with_rows=lambda rows: ROWS if rows in (0, None) else None
)
TOKEN = items("list", [items("list", [items("list", [constant(0.5), constant(1.5)])])])
ZERO = "Sum(ZerosLike(GetItem(x0, [SLICE, SLICE, SLICE])), axis=[1, 2], keepdims=False)"


def zeros(rank: int) -> str:
    return f"Reshape({ZERO}, newshape={[-1, *[1] * (rank - 1)]})"


def rows_of(*more: int, tensor: SymbolicTensor = ROWS) -> SymbolicValue:
    return items("list", [sizes(tensor)[0], *map(constant, more)])


def written(value: SymbolicValue) -> str:
    """Return the operations of a tensor, slices left out."""
    return re.sub(r"\{'class_name': '__slice__'[^}]*\}\}", "SLICE", computed(value))


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        (called("tf.tile", TOKEN, rows_of(1, 1), dialect=BATCH), f"Add({zeros(3)}, [[[0.5, 1.5]]])"),
        (called("tf.tile", TOKEN, rows_of(3, 1), dialect=BATCH),
         f"Tile(Add({zeros(3)}, [[[0.5, 1.5]]]), repeats=[1, 3, 1])"),
        (called("tf.broadcast_to", TOKEN, rows_of(1, 2), dialect=BATCH), f"Add({zeros(3)}, [[[0.5, 1.5]]])"),
        (called("tf.broadcast_to", items("list", [constant(0.5)]), rows_of(3), dialect=BATCH),
         f"Tile(Add({zeros(2)}, [0.5]), repeats=[1, 3])"),
        (called("tf.zeros", rows_of(1, 1), dialect=BATCH), zeros(3)),
        (called("tf.zeros", rows_of(), dialect=BATCH), ZERO),
        (called("tf.ones", rows_of(2), dialect=BATCH), f"Tile(Add({zeros(2)}, 1.0), repeats=[1, 2])"),
        (called("tf.fill", rows_of(1), constant(2.5), dialect=BATCH), f"Add({zeros(2)}, 2.5)"),
        (called("tf.fill", rows_of(1), constant(2), dialect=BATCH), f"Add(Cast({zeros(2)}, dtype=int32), 2)"),
        (called("tf.zeros", rows_of(1), constant("int32"), dialect=BATCH), f"Cast({zeros(2)}, dtype=int32)"),
        (called("tf.repeat", TOKEN, sizes(ROWS)[0], constant(0), dialect=BATCH), f"Add({zeros(3)}, [[[0.5, 1.5]]])"),
        (called("tf.fill", called("tf.shape", ROWS), constant(2.5), dialect=BATCH),
         f"Tile(Add({zeros(3)}, 2.5), repeats=[1, 3, 4])"),
    ],
)  # fmt: skip
def test_a_constant_for_each_row(value: SymbolicValue, operations: str) -> None:
    assert written(value) == operations
    assert isinstance(value, SymbolicTensor)
    assert value.rows == 0


def test_rows_of_integers_are_counted_as_floats() -> None:
    dialect = Libraries("tensorflow", "2", tensor_with_rows=lambda _: IDS)
    shape = items("list", [operators.subscript(called("tf.shape", IDS), constant(0)), constant(1)])
    value = called("tf.zeros", shape, dialect=dialect)
    assert computed(value) == "Reshape(Cast(ZerosLike(x0), dtype=float32), newshape=[-1, 1])"


STEPS = "Sum(ZerosLike(GetItem(x0, [SLICE, SLICE, SLICE])), axis=[0, 2], keepdims=False)"
ROWS_OF_OTHER = STEPS.replace("x0", "x1").replace("[0, 2]", "[1, 2]")
PLACES = f"Subtract(Cumsum(Add(Cast({STEPS}, dtype=int32), 1), axis=0), 1)"
ONE = SymbolicTensor(Input(1), "float32", "y", shape=(None, 1, 4))
LENGTHS = replace(IDS, operand=Input(1))


def steps() -> SymbolicValue:
    """A size that is not that of the rows."""
    return sizes(NARROW)[1]


@pytest.mark.parametrize(
    ("value", "operations", "dtype"),
    [
        (called("tf.range", steps()), PLACES, "int32"),
        (called("tf.range", constant(0), steps(), constant(1)), PLACES, "int32"),
        (called("tf.range", constant(1), steps(), delta=constant(2)), f"GetItem({PLACES}, [SLICE])", "int32"),
        (called("K.arange", steps(), dtype=constant("float32")), f"Cast({PLACES}, dtype=float32)", "float32"),
        (called("tf.sequence_mask", LENGTHS, steps()), f"Less({PLACES}, ExpandDims(x1, axis=-1))", "bool"),
        (called("tf.sequence_mask", LENGTHS, constant(3), dtype=constant("float32")),
         "Cast(Less([0, 1, 2], ExpandDims(x1, axis=-1)), dtype=float32)", "float32"),
        (called("tf.one_hot", LENGTHS, steps()), f"Cast(Equal(ExpandDims(x1, axis=-1), {PLACES}), dtype=float32)",
         "float32"),
        (called("tf.ones", items("list", [steps(), steps()])),
         f"Add(Add(Reshape({STEPS}, newshape=[-1, 1]), Reshape({STEPS}, newshape=[1, -1])), 1.0)", "float32"),
        (called("tf.tile", ONE, items("list", [constant(1), steps(), constant(2)])),
         f"Tile(Add(x1, Reshape({STEPS}, newshape=[1, -1, 1])), repeats=[1, 1, 2])", "float32"),
        (called("tf.broadcast_to", LENGTHS, items("list", [constant(4), sizes(OTHER)[0]])),
         f"Tile(Add(x1, Cast(Reshape({ROWS_OF_OTHER}, newshape=[1, -1]), dtype=int32)), repeats=[4, 1])", "int32"),
    ],
)  # fmt: skip
def test_sizes_that_only_a_run_knows(value: SymbolicValue, operations: str, dtype: str) -> None:
    """They are counted along an axis of the tensor that has them."""
    assert written(value) == operations
    assert isinstance(value, SymbolicTensor)
    assert value.dtype == dtype


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: called("tf.range", steps(), constant(9)), "a size that is not known in a number's place"),
        (lambda: called("tf.range", constant(-1), steps()), "a range to a size that is not known, from below zero"),
        (lambda: called("tf.range", constant(0), steps(), constant(-1)), "a range to a size that is not known"),
        (lambda: called("tf.range", steps(), dtype=constant("int64")), "a range of another dtype"),
        (lambda: called("tf.sequence_mask", LENGTHS), "a mask as long as the longest of the lengths"),
        (lambda: called("tf.sequence_mask", X, constant(3)), "a mask as long as the longest of the lengths"),
        (lambda: called("tf.sequence_mask", LENGTHS, constant(0)), "the length of a mask"),
    ],
)  # fmt: skip
def test_sizes_that_are_not_counted_to(call: Callable[[], SymbolicValue], why: str) -> None:
    with pytest.raises(Unknown, match=f"^{why}"):
        call()


COUNTED = f"Sum(Add(Cast({STEPS}, dtype=int32), 1), axis=None, keepdims=False)"
VECTOR = replace(IDS, operand=Input(1), rows=1)


def test_sizes_as_numbers() -> None:
    """A gather by a size, several sizes at once, and floats of sizes that are sizes still."""
    assert (
        written(called("tf.gather", X, steps(), axis=constant(1))) == f"Take(x0, {COUNTED}, axis=1)"
    )
    shape = operators.subscript(called("tf.shape", NARROW), SliceOf((1, None, None)))
    assert written(called("tf.cast", shape, constant("float32"))) == (
        f"Cast(Stack([{COUNTED}, Add(Multiply({COUNTED}, 0), 4)], axis=0), dtype=float32)"
    )
    known = called("tf.cast", called("tf.shape", replace(X, shape=(2, 3))), constant("float32"))
    assert isinstance(known, ConstantArray)
    assert known.value == [2.0, 3.0]
    floats = called("tf.cast", steps(), constant("float32"))
    assert written(called("tf.range", floats)) == f"Cast({PLACES}, dtype=float32)"
    more = operators.binary("+", floats, constant(1.0))
    assert "Pad" in written(called("tf.range", constant(1.0), more))
    halves = operators.binary("*", floats, constant(0.5))
    with pytest.raises(Unknown, match=r"^a size that no tensor of known shape shows$"):
        called("tf.range", halves)


def test_a_size_that_fills_a_shape() -> None:
    made = called("tf.fill", rows_of(2, tensor=NARROW), steps())
    assert written(made).endswith(f", {COUNTED}), repeats=[1, 2])")
    with pytest.raises(Unknown, match=r"^a size that fills a shape which is known$"):
        called("tf.fill", whole(2, 3), steps())


def test_a_mesh_of_two_vectors() -> None:
    across, down = "ExpandDims(x0, axis=0)", "ExpandDims(x1, axis=1)"
    made = called("tf.meshgrid", IDS, VECTOR)
    assert computed(made) == f"[Add(ZerosLike({down}), {across}), Add({down}, ZerosLike({across}))]"
    turned = called("tf.meshgrid", VECTOR, IDS, indexing=constant("ij"))
    assert isinstance(made, Items)
    assert isinstance(turned, Items)
    assert [*map(computed, turned.items)] == [*map(computed, made.items[::-1])]
    with pytest.raises(Unknown, match=r"^a mesh of what are not vectors$"):
        called("tf.meshgrid", X, IDS)


def test_shapes_that_are_written_in_parts() -> None:
    shape = called("tf.shape", NARROW)
    first = operators.subscript(shape, SliceOf((None, 1, None)))
    written_out = called("tf.concat", items("list", [first, whole(-1, 2)]), constant(0))
    assert computed(called("tf.reshape", ROWS, written_out)) == "Reshape(x0, newshape=[-1, 6, 2])"
    column = called("tf.expand_dims", sizes(NARROW)[0], constant(-1))
    joined = called("tf.concat", items("list", [column, whole(12)]), axis=constant(0))
    assert computed(called("tf.reshape", ROWS, joined)) == "Reshape(x0, newshape=[-1, 12])"
    twice = operators.binary("*", sizes(ROWS)[0], constant(2))
    pair = called("tf.stack", items("list", [twice, constant(6)]))
    assert computed(called("tf.reshape", ROWS, pair)) == "Reshape(x0, newshape=[-1, 6])"


TWO = items("list", [items("list", [constant(0.5)]), items("list", [constant(1.5)])])
WHOLE = items("list", [items("list", [constant(1)])])


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: called("tf.tile", TWO, rows_of(1), dialect=BATCH), "more than one entry, repeated as often as a size"),
        (lambda: called("tf.repeat", TWO, sizes(ROWS)[0], constant(0)), "more than one entry, repeated as often as"),
        (lambda: called("tf.repeat", TWO, constant(2), constant(0)), "a list in a tensor's place"),
        (lambda: called("tf.tile", TOKEN, rows_of(1), dialect=BATCH), "how often each axis is repeated"),
        (lambda: called("tf.tile", TOKEN, whole(1, 2, 1)), "a constant that is repeated as often as is known"),
        (lambda: called("tf.tile", WHOLE, rows_of(1), dialect=BATCH), "a tensor of integers"),
        (lambda: called("tf.tile", ROWS, rows_of(1, 1), dialect=BATCH), "more than one entry, repeated as often as"),
        (lambda: called("tf.broadcast_to", TOKEN, rows_of(1, 3), dialect=BATCH), "a shape to which the tensor may not"),
        (lambda: called("tf.broadcast_to", ROWS, rows_of(3), dialect=BATCH), "a shape of fewer axes"),
        (lambda: called("tf.broadcast_to", NARROW, rows_of(3, 4)), "a shape to which the tensor may not"),
        (lambda: called("tf.zeros", rows_of(0), dialect=BATCH), "a tensor without entries"),
        (lambda: called("tf.zeros", rows_of(1), constant("int64")), "a tensor of another dtype than float32"),
        (lambda: called("tf.zeros", items("list", [operators.binary("-", constant(9), sizes(NARROW)[1])])),
         "a size that no tensor of known shape shows"),
    ],
)  # fmt: skip
def test_what_is_not_made_for_each_row(call: Callable[[], SymbolicValue], why: str) -> None:
    with pytest.raises(Unknown, match=why):
        call()


def test_what_each_row_takes_of_its_own() -> None:
    one = replace(INTEGERS, operand=Input(1), shape=(None,))
    two = replace(one, shape=(None, 2))
    of_one = called("tf.gather", X, one, batch_dims=constant(1))
    spread = "ExpandDims(ExpandDims(x1, axis=-1), axis=-1)"
    assert computed(of_one) == f"Squeeze(TakeAlongAxis(x0, {spread}, axis=1), axis=1)"
    of_two = called("tf.gather", X, two, axis=constant(-2), batch_dims=constant(1))
    assert computed(of_two) == "TakeAlongAxis(x0, ExpandDims(x1, axis=-1), axis=1)"
    for places, axis, batch_dims in (
        (one, None, 2),
        (one, None, -1),
        (two, 2, 1),
        (INTEGERS, None, 1),
        (replace(one, shape=None), None, 1),
        (replace(one, dtype="float32"), None, 1),
    ):
        with pytest.raises(Unknown, match=r"^`batch_dims="):
            called("tf.gather", X, places, axis=constant(axis), batch_dims=constant(batch_dims))


def test_whole_numbers_for_each_row_stay_whole() -> None:
    dialect = Libraries("tensorflow", "2", tensor_with_rows=lambda _: replace(X, rows=7))
    rows = operators.subscript(called("tf.shape", replace(X, rows=7)), constant(0))
    times = items("list", [rows, constant(1)])

    def for_each_row(dtype: str | None) -> SymbolicValue:
        numbers = called("tf.range", constant(3), dtype=constant(dtype))
        spread = called("tf.expand_dims", numbers, constant(0))
        return called("tf.tile", spread, times, dialect=dialect)

    made, of_floats = for_each_row(None), for_each_row("float32")
    assert isinstance(made, SymbolicTensor)
    assert isinstance(of_floats, SymbolicTensor)
    assert (made.dtype, of_floats.dtype) == ("int32", "float32")
    assert computed(made).endswith("dtype=int32), [[0, 1, 2]])")
