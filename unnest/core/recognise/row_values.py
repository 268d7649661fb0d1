"""What code that is followed computes with: numbered rows, vectors of known numbers, and what Python has.

A `Rows` is a tensor of which nothing is known but the rows it holds, by their numbers, and that all other axes are
whole. The sizes that code asks for are real: of a batch of so many rows. What is done beside cutting rows is kept as
a `change`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from unnest.core import json_tree
from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.model import Json, JsonObject

SIZES = (1009, 1013, 1019, 1021)
"""Stand-ins for the sizes of the axes after the batch: what equals none of them is no size that was asked for."""


class Rows(NamedTuple):
    """Rows of the batch by number; `rank` counts all axes. `change`: the first thing done beside cutting rows.

    `sizes`: those of the axes after the batch, where the file tells them; stand-ins otherwise. `is_partly`: whether
    parts of these axes may be all that is left: the rows are known, what is left of them is not. `along`: the first
    thing done along the rows, by which what is there for one row depends on the others; "" where each is by itself.
    `may_have_moved`: whether something was done that may have put rows elsewhere, or others in their place. `factors`:
    the numbers that the values were computed with, in order. `is_alike`: whether all values are the same number.
    """

    numbers: tuple[int, ...]
    rank: int
    change: str = ""
    sizes: tuple[int, ...] = SIZES
    is_partly: bool = False
    along: str = ""
    may_have_moved: bool = False
    factors: tuple[float, ...] = ()
    is_alike: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """As the code sees it."""
        return (len(self.numbers), *self.sizes[: self.rank - 1])

    @property
    def is_reduced(self) -> bool:
        """Whether it is one thing made of all rows, without an axis of theirs: `shape` says nothing of it."""
        return bool(self.along) and not self.numbers

    @property
    def has_true_sizes(self) -> bool:
        """Whether all sizes are the tensor's own."""
        return self.sizes is not SIZES


class Stacked(NamedTuple):
    """As many rows of several tensors, along a new axis: 0, or 1 beside the rows."""

    parts: tuple[Rows, ...]
    axis: int


class Vector(NamedTuple):
    """A tensor of one axis, of numbers that are known."""

    values: tuple[float, ...]


class Named(NamedTuple):
    """A module or function by its path: `tensorflow.shape`."""

    path: str


class Scope(NamedTuple):
    """What a `with` statement enters that says where or under which name things are computed, by its path."""

    path: str


class Unexplained(NamedTuple):
    """What comes of a name that the file does not explain: somebody's own function or number."""

    name: str


class ShapeMethod(NamedTuple):
    """An attribute that is only good for a call."""

    of: object
    name: str


class ListMethod(NamedTuple):
    """An attribute that changes a list."""

    of: list[object]
    name: str


class Once:
    """Values that can be had once, one after the other: a generator, or what `zip` and the like give."""

    def __init__(self, values: Iterator[Value]) -> None:
        self._values = values
        self._is_begun = False

    def begin(self) -> Iterator[Value]:
        """The values. Raises NotFollowed for the second time, when few people mean what is left of them."""
        if self._is_begun:
            raise NotFollowed
        self._is_begun = True
        return self._values


Value: TypeAlias = object
"""One of the classes above, `Vector` and `Rows` among them; or Python's own: a number, text, None, list."""

MAX_VALUES = 10_000
MAX_BITS = 2_000
"""Of an integer: more than any float."""

PLAIN_LISTS = (list, tuple)
"""As types: the named tuples of this module are none."""


VALUES_A_STEP = 50
"""Numbers that are handled in the time of one of the machine's steps."""


def size(value: Value) -> int:
    """The work that a value is to handle: one for each entry of lists, and a share of the numbers in it.

    Raises:
        NotFollowed: For long numbers and long lists, what stands in a list twice counted twice.

    """
    numbers, entries, within = 0, 1, [value]
    while within:
        part = within.pop()
        if isinstance(part, Rows):
            numbers += len(part.numbers)
        elif isinstance(part, Stacked):
            within += part.parts
        elif isinstance(part, Vector):
            numbers += len(part.values)
        elif isinstance(part, (list, tuple)) and type(part) in PLAIN_LISTS:
            entries += len(part)
            within += part
        if entries > MAX_VALUES or (isinstance(part, int) and part.bit_length() > MAX_BITS):
            raise NotFollowed("more than anyone's code computes with")
    return entries + numbers // VALUES_A_STEP


def is_number(value: Value) -> bool:
    """Whether it is a Python number, or a tensor of one: the two are not told apart."""
    return isinstance(value, (int, float))


def changed(rows: Rows, change: str) -> Rows:
    """The rows with a change, unless something was changed before."""
    return rows if rows.change else rows._replace(change=change)


def computed_with(tensors: Sequence[Rows], change: str, factors: Sequence[Value] = ()) -> Rows:
    """What is computed of several tensors, number by number: the largest one's rows, with what was done to any.

    `factors` are the other operands; of these the plain numbers are kept, and what nothing explains may be made of the
    rows, or of anything.
    """
    whole = max(tensors, key=lambda tensor: (tensor.rank, len(tensor.numbers)))
    numbers = (float(factor) for factor in factors if isinstance(factor, (int, float)))
    return whole._replace(
        change=next((tensor.change for tensor in tensors if tensor.change), change),
        along=next((tensor.along for tensor in tensors if tensor.along), ""),
        may_have_moved=any(tensor.may_have_moved for tensor in tensors)
        or any(isinstance(factor, Unexplained) for factor in factors),
        factors=(*(factor for tensor in tensors for factor in tensor.factors), *numbers),
        is_alike=all(tensor.is_alike for tensor in tensors),
    )


def joined(tensors: Sequence[Rows]) -> Rows:
    """What several tensors are put together to, but for its rows, of which each is what it was.

    Where other things were done to some, what is done to a row depends on its place.
    """
    done = {(tensor.change, tensor.factors, tensor.is_alike) for tensor in tensors}
    whole = computed_with(tensors, "")
    return whole if len(done) == 1 else whole._replace(may_have_moved=True)


def as_one_row(reduced: Rows) -> Rows:
    """What was made of all rows as a batch of one row, of some shape."""
    return reduced._replace(numbers=(0,), rank=max(reduced.rank, 2), sizes=SIZES, is_partly=True)


def combined(tensors: Sequence[Rows], change: str, factors: Sequence[Value] = ()) -> Rows:
    """`computed_with`, of what is lined up as TensorFlow does: a row with each of several, or rows with another axis.

    Raises NotFollowed where rows lie elsewhere, so that nobody knows what is lined up with what.
    """
    whole = computed_with(tensors, change, factors)
    others = [tensor for tensor in tensors if not tensor.is_reduced and (whole.is_alike or not tensor.is_alike)]
    is_crossed = any(tensor.numbers != whole.numbers or tensor.rank != whole.rank for tensor in others)
    if is_crossed and whole.may_have_moved:
        raise NotFollowed
    return whole._replace(along=whole.along or f"{change} of other rows") if is_crossed else whole


def static_shape(rows: Rows) -> tuple[int | None, ...]:
    """The shape when the model is made: the batch is not known. Raises NotFollowed for what has no batch."""
    if rows.is_reduced:
        raise NotFollowed
    return (None, *rows.shape[1:])


def as_number(value: Value) -> float:
    """A number; what is none raises NotFollowed."""
    if isinstance(value, (int, float)):
        return value
    raise NotFollowed


def as_numbers(value: Value) -> tuple[float, ...]:
    """Of a vector, of a list of numbers, or of one number."""
    if isinstance(value, Vector):
        return value.values
    if type(value) in PLAIN_LISTS:
        return tuple(as_number(part) for part in as_entries(value))
    return (as_number(value),)


def as_entries(value: Value) -> tuple[Value, ...]:
    """Of a list or tuple; what is none raises NotFollowed."""
    if isinstance(value, (list, tuple)) and type(value) in PLAIN_LISTS:
        return tuple(value)
    raise NotFollowed


def each(value: Value) -> Iterator[Value]:
    """The values that a loop over it has, of a list what is in it by then; what has none raises NotFollowed."""
    if isinstance(value, Once):
        return value.begin()
    if isinstance(value, (list, tuple)) and type(value) in PLAIN_LISTS:
        return iter(value)
    raise NotFollowed


def rows_in(values: Iterable[Value]) -> list[Rows]:
    """The tensors of rows among values, and within lists and tuples among them."""
    found, within = [], [*values]
    while within:
        value = within.pop(0)
        if isinstance(value, Rows):
            found.append(value)
        elif type(value) in PLAIN_LISTS:
            within[:0] = as_entries(value)
    return found


def lists_in(values: Iterable[Value]) -> list[list[Value]]:
    """The lists among values, and within lists and tuples among them."""
    found, within = [], [*values]
    while within:
        value = within.pop()
        if isinstance(value, (list, tuple)) and type(value) in PLAIN_LISTS:
            within += value
            found += [value] if isinstance(value, list) else []
    return found


def stored(value: Json) -> Value:
    """A value that is stored beside the code: an argument, a default, a cell."""

    def held(holder: Sequence[Json] | JsonObject, parts: list[Value]) -> Value:
        if not isinstance(holder, Mapping):
            return parts
        if holder.get("class_name") == "__tuple__":
            return dict(zip(holder, parts, strict=True)).get("items")
        raise NotFollowed

    return json_tree.fold(value, lambda leaf: leaf, held)
