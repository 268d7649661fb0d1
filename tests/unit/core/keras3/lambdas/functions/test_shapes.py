"""What moves elements about, with integers as with floats; and what Python is told of a shape."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, UNSHAPED, X, Y, called, computed
from unnest.core.keras3.lambdas.values import Const, NotUnderstood, Shape, Tensor, Value, constant, items


def whole(*numbers: int) -> Value:
    return items("list", [constant(n) for n in numbers])


XY = items("list", [X, Y])
WIDTHS = items("list", [whole(0, 0), whole(1, 2), whole(0, 0)])


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        (called("K.expand_dims", X), "ExpandDims(x0, axis=-1)"),
        (called("tf.expand_dims", INTEGERS, dim=constant(1)), "ExpandDims(x0, axis=1)"),
        (called("K.squeeze", X, constant(1)), "Squeeze(x0, axis=1)"),
        (called("tf.reshape", X, whole(-1, 12)), "Reshape(x0, newshape=[-1, 12])"),
        (called("K.flatten", X), "Reshape(x0, newshape=[-1])"),
        (called("K.batch_flatten", X), "Reshape(x0, newshape=[-1, 12])"),
        (called("tf.transpose", X, perm=whole(0, 2, 1)), "Transpose(x0, axes=[0, 2, 1])"),
        (called("K.concatenate", XY), "Concatenate([x0, x1], axis=-1)"),
        (called("tf.stack", XY), "Stack([x0, x1], axis=0)"),
        (called("K.tile", X, whole(1, 2, 1)), "Tile(x0, repeats=[1, 2, 1])"),
        (called("K.repeat", X, constant(3)), "Tile(ExpandDims(x0, axis=1), repeats=[1, 3, 1])"),
        (called("K.repeat_elements", X, constant(2), constant(1)), "Repeat(x0, repeats=2, axis=1)"),
        (called("K.reverse", X, constant(1)), "Flip(x0, axis=1)"),
        (called("tf.pad", X, WIDTHS), "Pad(x0, pad_width=[[0, 0], [1, 2], [0, 0]], mode=constant, constant_values=0)"),
        (called("tf.pad", X, WIDTHS, constant("REFLECT")),
         "Pad(x0, pad_width=[[0, 0], [1, 2], [0, 0]], mode=reflect)"),
        (called("K.temporal_padding", X),
         "Pad(x0, pad_width=[[0, 0], [1, 1], [0, 0]], mode=constant, constant_values=0)"),
        (called("tf.split", X, constant(2), axis=constant(-1)),
         "[Split(x0, indices_or_sections=2, axis=-1)[0], Split(x0, indices_or_sections=2, axis=-1)[1]]"),
        (called("tf.split", X, whole(1, 3), axis=constant(2)),
         "[Split(x0, indices_or_sections=[1], axis=2)[0], Split(x0, indices_or_sections=[1], axis=2)[1]]"),
        (called("tf.unstack", X, axis=constant(1)),
         f"[{', '.join(f'Unstack(x0, num=3, axis=1)[{k}]' for k in range(3))}]"),
        (called("K.gather", X, constant(1)), "Take(x0, 1, axis=0)"),
        (called("tf.gather", X, whole(0, 2), axis=constant(1)), "Take(x0, [0, 2], axis=1)"),
        (called("K.zeros_like", X), "ZerosLike(x0)"),
    ],
)  # fmt: skip
def test_operations(value: Value, operations: str) -> None:
    assert computed(value) == operations


def test_integers_stay_integers() -> None:
    value = called("tf.reshape", INTEGERS, whole(-1, 12))
    assert isinstance(value, Tensor)
    assert value.dtype == "int32"


def test_shapes_of_then() -> None:
    shape, rank = called("K.int_shape", X), called("K.ndim", X)
    assert isinstance(shape, Shape)
    assert shape.dimensions == (None, 3, 4)
    assert isinstance(rank, Const)
    assert rank.value == 3


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
        ("tf.pad", (X, whole(1, 1)), "the padding"),
        ("tf.pad", (X, WIDTHS, constant("EDGE")), "the padding"),
        ("K.reverse", (X, constant(None)), "a reversal without axes"),
    ],
)
def test_what_is_not_understood(name: str, positional: tuple[Value, ...], reason: str) -> None:
    with pytest.raises(NotUnderstood, match=f"^{reason}$"):
        called(name, *positional)
