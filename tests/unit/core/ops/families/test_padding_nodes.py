"""A border: how wide on which side, by which words, and along which axes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, X, called, computed
from unnest.core.keras3_op_node import Input
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    Libraries,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)

IMAGE = SymbolicTensor(Input(0), "float32", "x", shape=(None, 6, 8, 3))
LAST, FIRST = (
    Libraries("tensorflow", "2", data_format=f"channels_{where}") for where in ("last", "first")
)


def whole(*numbers: int) -> SymbolicValue:
    return items("list", [constant(n) for n in numbers])


def pairs(*widths: tuple[int, int]) -> SymbolicValue:
    return items("tuple", [whole(*pair) for pair in widths])


@pytest.mark.parametrize(
    ("value", "widths"),
    [
        (called("tf.pad", X, pairs((0, 0), (1, 2), (0, 0))), [[0, 0], [1, 2], [0, 0]]),
        (called("K.temporal_padding", X), [[0, 0], [1, 1], [0, 0]]),
        (called("K.temporal_padding", X, whole(2, 1)), [[0, 0], [2, 1], [0, 0]]),
        (called("K.spatial_2d_padding", IMAGE, dialect=LAST), [[0, 0], [1, 1], [1, 1], [0, 0]]),
        (called("K.spatial_2d_padding", IMAGE, dialect=FIRST), [[0, 0], [0, 0], [1, 1], [1, 1]]),
        (called("K.spatial_2d_padding", IMAGE, whole(2, 3), dialect=LAST), [[0, 0], [2, 2], [3, 3], [0, 0]]),
        (called("K.spatial_2d_padding", IMAGE, pairs((0, 1), (2, 3)), dim_ordering=constant("th"), dialect=LAST),
         [[0, 0], [0, 0], [0, 1], [2, 3]]),
        (called("K.spatial_3d_padding", X, pairs((0, 1), (2, 3), (4, 5)), constant("channels_last")),
         [[0, 0], [0, 1], [2, 3], [4, 5], [0, 0]]),
    ],
)  # fmt: skip
def test_widths(value: SymbolicValue, widths: list[list[int]]) -> None:
    assert computed(value) == f"Pad(x0, pad_width={widths}, mode=constant, constant_values=0)"


def test_whole_numbers_stay_whole() -> None:
    made = called("tf.pad", INTEGERS, pairs((0, 0), (1, 2), (0, 0)), constant_values=constant(4))
    assert isinstance(made, SymbolicTensor)
    assert made.dtype == "int32"
    shifted = called("tf.cumprod", INTEGERS, constant(1), exclusive=constant(value=True))
    assert "constant_values=1)" in computed(shifted)
    with pytest.raises(Unknown, match=r"^whole numbers padded by another$"):
        called("tf.pad", INTEGERS, pairs((0, 0), (1, 2), (0, 0)), constant_values=constant(0.5))


def test_a_mirrored_border() -> None:
    value = called("tf.pad", X, pairs((0, 0), (1, 2), (0, 0)), constant("REFLECT"))
    assert computed(value) == "Pad(x0, pad_width=[[0, 0], [1, 2], [0, 0]], mode=reflect)"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: called("K.spatial_2d_padding", IMAGE), "the data format"),
        (lambda: called("K.spatial_2d_padding", IMAGE, constant(2), dialect=LAST), "the padding"),
        (lambda: called("K.spatial_2d_padding", IMAGE, pairs((0, 1)), dialect=LAST), "the padding"),
        (lambda: called("K.spatial_2d_padding", IMAGE, whole(1, -1), dialect=LAST), "the padding"),
        (lambda: called("K.temporal_padding", X, whole(1, 2, 3)), "the padding"),
        (lambda: called("tf.pad", X, whole(1, 1)), "the padding"),
        (
            lambda: called("tf.pad", X, pairs((0, 0), (1, 2), (0, 0)), constant("EDGE")),
            "the padding",
        ),
    ],
)
def test_not_understood(call: Callable[[], SymbolicValue], why: str) -> None:
    with pytest.raises(Unknown, match=why):
        call()


def test_what_the_layers_say_is_told() -> None:
    """It stands beside the expression in the report."""
    dialect = Libraries("tensorflow", "2", data_format="channels_last")
    called("K.spatial_2d_padding", IMAGE, dialect=dialect)
    assert dialect.taken["the data format"] == "channels_last, as the layers say"
