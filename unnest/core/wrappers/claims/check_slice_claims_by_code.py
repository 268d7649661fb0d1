"""Check claims of slices against their code, if it can be followed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from unnest.budget import check_memory
from unnest.core.architecture.graph import Layer
from unnest.core.model import Shape
from unnest.core.ops.call import plain_name
from unnest.core.ops.element_dtype_and_checks import MAX_RESULT_ELEMENTS, Array
from unnest.core.wrappers.claims.slice_claims import ClaimStatus, SliceClaim
from unnest.core.wrappers.claims.stored_slice_numbers import Slice, numbers_of
from unnest.core.wrappers.stored_code import code_names_and_numbers
from unnest.core.wrappers.stored_code.layer_code_rows import code_answer, code_result_rows

if TYPE_CHECKING:  # the byte code machine has tables of nine Pythons
    from unnest.core.wrappers.stored_code.traced_rows import CodeRows


ROWS_A_PART = 700
FEWER_ROWS = ((12, ROWS_A_PART), (100, 100))
"""Numbers of slices, each with the rows tried for every one of so many: a multiple of 100 for shares in percent."""
LEAST_ROWS = 4
MOST_ROWS = FEWER_ROWS[0][0] * ROWS_A_PART
"""Of an answer that is kept for other files."""
BYTES_A_NUMBER = 8
"""Of a row's number in a tuple."""


def _rows_tried(slices: int) -> int:
    """Return how many rows tell code that takes `slices` shares of them from code that does not."""
    return slices * next((rows for most, rows in FEWER_ROWS if slices <= most), LEAST_ROWS)


def checked(claim: SliceClaim, slices: Sequence[Slice], shape: Shape | None = None) -> SliceClaim:
    """Return the claim of slices, unless their code, followed with numbered rows, says otherwise.

    `shape` is that of the source. Code that can be followed to its end says more than its numeric arguments. A
    remainder that no slice takes is no objection, nor are rows in order, from the first on, that do not depend on how
    many there are: such code knows the batch that it was made for. One slice that does more than cut is enough. What
    follows only if bare names are TensorFlow's functions is said with these names, and proves nothing.
    """
    count = (shape[0] if shape else None) or _rows_tried(len(slices))
    if claim.status is ClaimStatus.LATE:
        return _bound_late(claim, slices, shape, count)
    parts = _each(slices, count, shape)
    checked_claim = _checked_by_parts(claim, slices, parts, shape, count)
    assumed = sorted({f"`{name}`" for part in parts if part is not None for name in part.assumed})
    if not assumed or checked_claim.sentence in {claim.sentence, None}:
        return checked_claim
    is_rows = checked_claim.status is ClaimStatus.ROWS
    return checked_claim._replace(
        status=ClaimStatus.PARTLY if is_rows else checked_claim.status,
        sentence=f"{checked_claim.sentence}, taking {' and '.join(assumed)} for TensorFlow's",
    )


def _checked_by_parts(
    claim: SliceClaim,
    slices: Sequence[Slice],
    parts: Sequence[CodeRows | None],
    shape: Shape | None,
    count: int,
) -> SliceClaim:
    """Return the claim of slices, unless the rows that their code takes say otherwise; None: not followed."""
    if claim.status is not ClaimStatus.OTHERWISE and (reason := _change(slices, parts)) is not None:
        return SliceClaim(ClaimStatus.OTHERWISE, reason)
    followed = [part for part in parts if part is not None]
    is_followed = len(followed) == len(parts)
    if not is_followed and _is_told_nothing(slices):
        names = _names(slices)
        reason = f"no number tells which rows {names} take, and their code cannot be followed"
        return SliceClaim(ClaimStatus.OTHERWISE, reason)
    if is_followed and not any(part.change for part in followed) and not _may_be(followed, count):
        return _in_order(claim, followed, slices, shape, count)
    if claim.status is ClaimStatus.UNEXPLAINED:
        return claim._replace(status=ClaimStatus.OTHERWISE)
    return claim


def _change(slices: Sequence[Slice], parts: Sequence[CodeRows | None]) -> str | None:
    """Return the first reason why the code of a slice does more than cut rows, by its result or by the names in it."""
    for part, (layer, _, _) in zip(parts, slices, strict=True):
        change = _does_more(layer) if part is None else part.change
        if change:
            return f"the code of {layer.name} does more than cut rows: it {change}"
    return None


def _names(slices: Sequence[Slice]) -> str:
    """Return the names of the slices' layers, each once."""
    return ", ".join(dict.fromkeys(layer.name for layer, _, _ in slices))


def _bound_late(
    claim: SliceClaim, slices: Sequence[Slice], shape: Shape | None, count: int
) -> SliceClaim:
    """Return the claim of slices whose cells were bound late, unless code that can be followed takes another part."""
    larger = count if shape and shape[0] else 2 * count
    for part, of_larger in zip(
        _each(slices, count, shape), _each(slices, larger, shape), strict=True
    ):
        if part is None or of_larger is None or part.change or part.is_partly or part.assumed:
            continue
        is_literal = larger > count and part.numbers == of_larger.numbers and 0 not in part.numbers
        if not is_literal and not _is_last_part(part.numbers, count, len(slices)):
            names = _names(slices)
            return SliceClaim(
                ClaimStatus.OTHERWISE, f"the code of {names} does not take every row once"
            )
    return claim


def _is_last_part(numbers: Sequence[int], count: int, parts: int) -> bool:
    """True for the last rows of a batch, but for a remainder that no slice takes, or for the last of each `parts`."""
    if not 0 < len(numbers) < count or count - numbers[-1] > parts:
        return False
    start = numbers[0]
    return [*numbers] in ([*range(start, start + len(numbers))], [*range(parts - 1, count, parts)])


def _is_told_nothing(slices: Sequence[Slice]) -> bool:
    """True if slices have code, and beside it neither numbers, nor arguments, nor cells that may be functions."""
    codes = [code_names_and_numbers.stored_code(layer) for layer, _, _ in slices]
    if any(code is None or code.captures for code in codes):
        return False
    return not any(
        layer.settings.get("arguments") or numbers_of(layer, call) for layer, call, _ in slices
    )


def _does_more(layer: Layer) -> str | None:
    """Return what code that cannot be followed, a loop say, does besides cutting rows, by the names in it."""
    code = code_names_and_numbers.stored_code(layer)
    names = () if code is None else sorted(code.names)
    name = next((name for name in names if plain_name(name).startswith(BEYOND_CUTS)), None)
    return None if name is None else f"uses `{name}`"


BEYOND_CUTS = (
    "random", "shuffle", "dropout", "bandpart", "matrixband", "einsum", "matmul", "tensordot", "mapfn", "whileloop",
    "fold", "scan", "spacetobatch", "batchtospace", "spacetodepth", "depthtospace", "scatter", "segment",
    "unsortedsegment", "unique", "onehot", "softmax", "relu", "sigmoid", "tanh", "argsort", "topk", "l2normalize",
    "conv1d", "conv2d", "reverse", "roll", "pyfunc", "eagerpyfunc", "numpyfunction", "intrainphase", "intestphase",
    *code_names_and_numbers.OTHER_GRADIENTS,
)  # fmt: skip
"""Beginnings of the names of functions that neither cut rows nor compute the bounds of a cut."""


def _may_be(parts: Sequence[CodeRows], count: int) -> bool:
    """Return True if parts are all rows in order, of which something may be missing along another axis."""
    return any(part.is_partly for part in parts) and _are_whole(parts, count)


def are_followed(slices: Sequence[Slice], shape: Shape | None) -> bool:
    """Return True if the code of every slice can be followed to its end; `shape` is the source's."""
    count = (shape[0] if shape else None) or _rows_tried(len(slices))
    return all(
        part is not None and not part.is_partly and not part.assumed
        for part in _each(slices, count, shape)
    )


def takes_all_rows(cut: Slice) -> bool:
    """Return True if the code of a slice can be followed, and gives every batch back as it is."""
    for rows in (1, 7, ROWS_A_PART):
        parts = _parts([cut], rows)
        if parts is None or any(
            part.change or part.is_partly or part.assumed or part.numbers != tuple(range(rows))
            for part in parts
        ):
            return False
    return True


def _in_order(
    claim: SliceClaim,
    parts: Sequence[CodeRows],
    slices: Sequence[Slice],
    shape: Shape | None,
    count: int,
) -> SliceClaim:
    """Return the claim of slices that only cut rows, weakened if these are not all rows in order."""
    if claim.status in UNSURE and any(part.is_partly for part in parts):
        return claim._replace(status=ClaimStatus.OTHERWISE)
    names = _names(slices)
    if _are_whole(parts, count):
        return _confirmed(claim, parts, slices, shape, count)
    if all(
        part.numbers == tuple(range(start, count, len(slices))) for start, part in enumerate(parts)
    ):
        return (
            claim
            if claim.status is ClaimStatus.DEALT
            else SliceClaim(ClaimStatus.DEALT, f"the code of {names} deals the rows out")
        )
    rows = _numbers(parts, count) or []
    is_literal = (
        bool(rows) and not (shape and shape[0]) and _parts(slices, 2 * count, shape) == parts
    )
    if is_literal and rows == list(range(len(rows))):
        return _of_one_batch(claim, len(rows), names)
    if claim.status is ClaimStatus.OTHERWISE:
        return claim
    is_all = sorted(rows) == list(range(len(rows) if is_literal else count))
    does = "takes the rows in another order" if is_all else "does not take every row once"
    return SliceClaim(ClaimStatus.OTHERWISE, f"the code of {names} {does}")


def _takes_some_batch_whole(
    slices: Sequence[Slice], parts: Sequence[CodeRows], count: int, shape: Shape | None
) -> bool:
    """Return True if no row is left out of a batch of `count` rows, of which these are the parts, or of a larger one.

    A remainder is left out of some batches only, `x[n // 2 : -1]` leaves a row out of each. Shares that are rounded
    down may not fit the first batches that are tried.
    """
    if sum(len(part.numbers) for part in parts) == count:
        return True
    larger = ((rows, _parts(slices, rows, shape)) for rows in (2 * count, 3 * count, 10 * count))
    return any(
        found is not None and sum(len(part.numbers) for part in found) == rows
        for rows, found in larger
    )


UNSURE = frozenset({ClaimStatus.OTHERWISE, ClaimStatus.UNEXPLAINED})
"""What numbers tell that only code can make good: it must be followed to its end, and say all of it."""


def _of_one_batch(claim: SliceClaim, count: int, names: str) -> SliceClaim:
    """Return the claim of slices that take the first rows of any batch, in order: made for one batch size."""
    if claim.status in UNSURE:
        return SliceClaim(
            ClaimStatus.PARTLY,
            f"the code of {names} takes the first {count} rows, each once and in order",
        )
    return claim._replace(status=ClaimStatus.PARTLY) if claim.status is ClaimStatus.DEALT else claim


def _confirmed(
    claim: SliceClaim,
    parts: Sequence[CodeRows],
    slices: Sequence[Slice],
    shape: Shape | None,
    rows_tried: int,
) -> SliceClaim:
    """Return the claim of slices that take all rows in order, proven by their code if not by their numbers.

    A batch of a fixed size may leave the same remainder out each time; of others some must be taken whole.
    """
    is_fixed = bool(shape and shape[0])
    if not is_fixed and not _takes_some_batch_whole(slices, parts, rows_tried, shape):
        reason = f"the code of {_names(slices)} leaves rows of every batch out"
        return SliceClaim(ClaimStatus.OTHERWISE, reason)
    if claim.status not in {ClaimStatus.PARTLY, ClaimStatus.UNEXPLAINED, ClaimStatus.OTHERWISE}:
        return claim
    count = sum(len(part.numbers) for part in parts)
    is_whole = all(part.numbers for part in parts)
    # Where the batch is fixed, these are all rows that there ever are.
    if not (shape and shape[0] == count):
        is_whole = is_whole and _takes_in_order(slices, 2 * count, shape) is True
        is_whole = is_whole and _takes_in_order(slices, 2 * count + 1, shape) is not False
    if not is_whole:
        return (
            claim._replace(status=ClaimStatus.OTHERWISE)
            if claim.status is ClaimStatus.UNEXPLAINED
            else claim
        )
    edges = tuple(part.numbers[0] / count for part in parts)
    reason = f"the code of {_names(slices)} takes all rows, each once and in order"
    sizes = () if is_fixed else range(2 * count, 2 * count + len(slices))
    if any(_leaves_a_remainder(slices, size, shape) for size in sizes):
        reason += ", but for a remainder of fewer rows than slices"
    return SliceClaim(ClaimStatus.ROWS, reason, edges)


def _leaves_a_remainder(slices: Sequence[Slice], count: int, shape: Shape | None) -> bool:
    """Return True if slices take less than all of so many rows."""
    parts = _parts(slices, count, shape)
    rows = None if parts is None else _numbers(parts, count)
    return rows is not None and len(rows) < count


def _takes_in_order(slices: Sequence[Slice], count: int, shape: Shape | None) -> bool | None:
    """Return True if slices take so many rows in order, but for a remainder; None if that cannot be followed (a split).

    (Of an even number `x[-2 * n : -n]` is the first half.)
    """
    parts = _parts(slices, count, shape)
    return None if parts is None else _are_whole(parts, count)


def _are_whole(parts: Sequence[CodeRows], count: int) -> bool:
    """True if the parts, one of each slice, are so many rows in order, but for a remainder that no slice takes."""
    rows = _numbers(parts, count)
    return rows is not None and rows == list(range(len(rows))) and count - len(rows) < len(parts)


def _numbers(parts: Sequence[CodeRows], count: int) -> list[int] | None:
    """Return the rows of all parts in turn; None if they are more than the `count` of the batch.

    Slices that overlap may take as many as the square of what the file stores.
    """
    total = sum(len(part.numbers) for part in parts)
    return [number for part in parts for number in part.numbers] if total <= count else None


def _parts(
    slices: Sequence[Slice], count: int, shape: Shape | None = None
) -> list[CodeRows] | None:
    """Return the rows that each slice takes of `count`; None if the code of one cannot be followed."""
    parts = [part for part in _each(slices, count, shape) if part is not None]
    return parts if len(parts) == len(slices) else None


def _each(slices: Sequence[Slice], count: int, shape: Shape | None = None) -> list[CodeRows | None]:
    """Return the rows that each slice's code takes of `count` rows of shape `shape`; None if it cannot be followed."""
    parts: list[CodeRows | None] = []
    taken = 0
    for layer, _, output in slices:
        results = _slice_result(layer, count, shape) or ()
        part = results[output] if output < len(results) else None
        parts.append(part)
        taken += len(part.numbers) if part is not None else 0
        check_memory(BYTES_A_NUMBER * taken)
    return parts


def _slice_result(
    layer: Layer, count: int, shape: Shape | None
) -> tuple[CodeRows | None, ...] | None:
    """Return the result of a slice's code for so many rows."""
    if count > MAX_RESULT_ELEMENTS:
        return None
    row = None if shape is None else shape[1:]
    shape = None if row is None else (None, *row)
    follow = partial(code_result_rows, [_numbered(count)], shape, assumes_imports=True)
    return (
        code_answer(layer, (_slice_result, count, row), follow)
        if count <= MOST_ROWS
        else follow(layer)
    )


@lru_cache(maxsize=16)
def _numbered(count: int) -> Array:
    """Return the row numbers 0 to count - 1, int32."""
    return np.arange(count, dtype=np.int32)
