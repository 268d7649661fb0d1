"""Kinds of operations: what an operation does to tensors in general.

How the shape of its result follows, on which rows of a batch each of its numbers depends, whether it can cut a batch or
join one: all this is known by the kind. Sets of kinds name what the recognition of wrappers asks for.
"""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """The effect of an operation on the numbers of its tensors."""

    MAP = "each number by itself; the shape stays"
    ELEMENTWISE = "the numbers in the same place of several tensors, which are broadcast"
    ROWWISE = "each entry of the first axis by itself, over the last axis or a new one"
    WINDOW = (
        "each entry of the first axis by itself, over its other axes: convolutions, pooling, images"
    )
    REDUCTION = "all numbers along some axes, which are dropped"
    ALONG = "all numbers along an axis; the shape stays"
    FOLD = "all numbers along an axis, which gets another length, or all numbers"
    SEGMENT = "entries along the first axis, if no other is named: added up, compared, dealt out"
    MATRIX = "matrices: TensorFlow takes the last two axes, NumPy and Keras the first two"
    PRODUCT = "sums of products of several tensors"
    SLICE = "takes entries by position"
    TAKE = "takes entries by an index"
    MASK = "takes entries by a mask or a number for each"
    MOVE = "hands on all numbers in another shape or order of axes"
    REORDER = "hands on all entries of an axis in another order"
    REPEAT = "hands on numbers several times"
    CONCATENATE = "joins tensors along an axis"
    STACK = "joins tensors along a new axis"
    SCATTER = "puts entries in their places, and zeros or another tensor elsewhere"
    FILL = "one number everywhere, of a given shape"
    NUMBERS = "numbers that no tensor holds: ranges, constants"
    SIZE = "the sizes of a tensor's axes"
    CONTROL = "one of several branches, or a number that depends on no contents"
    OPAQUE = "what layers and stored code do to rows"


SLICES = frozenset({Kind.SLICE, Kind.TAKE, Kind.MASK})
"""Operations that take entries out of a tensor: a batch may be cut with them."""


MOVES = frozenset({Kind.MOVE, Kind.TAKE, Kind.REORDER})
"""Operations that may stand between the parts of a batch and what joins them."""


JOINS = frozenset({Kind.CONCATENATE, Kind.STACK, Kind.SCATTER})
"""Operations that put entries of several tensors together."""


IN_PLACE = frozenset({Kind.MAP, Kind.ELEMENTWISE})
"""Operations each of whose numbers is made of those that stand in the same place."""


ROW_BY_ROW = IN_PLACE | {Kind.WINDOW, Kind.ROWWISE}
"""Operations that leave every entry of the first axis where it is."""


COMPUTING = ROW_BY_ROW | {
    Kind.REDUCTION,
    Kind.ALONG,
    Kind.FOLD,
    Kind.SEGMENT,
    Kind.MATRIX,
    Kind.PRODUCT,
}
"""Operations that make new numbers of those that they are given."""


KEEPING_SHAPE = frozenset({Kind.MAP, Kind.ALONG, Kind.REORDER})
"""Operations whose result has the shape of the first tensor that they read."""
