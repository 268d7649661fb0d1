"""Merge layers held against their code, if it can be followed: it must give back the rows of every tower in order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unnest.core.architecture.graph import Layer
from unnest.core.model import Shape
from unnest.core.ops.call import plain_name
from unnest.core.ops.registry import COMPUTING, COMPUTING_MODULES, OPERATIONS, Kind
from unnest.core.wrappers import layer_batch_roles
from unnest.core.wrappers.layer_code_rows import ROWS_A_TOWER, code_answer, code_result_rows

if TYPE_CHECKING:  # the byte code machine has tables of nine Pythons
    from unnest.core.wrappers.traced_rows import CodeRows


def objection_to_merge(
    layer: Layer, towers: int, shape: Shape | None = None, *, dealt_out: bool
) -> str | None:
    """Return why a layer with stored code is not a merge of so many towers; None if it may be.

    `shape` is that of what a tower gives, `dealt_out`: every tower holds each k-th row. A merge must give all rows back
    in order, and nothing else.
    """
    joined = _merge_result(layer, towers, shape, dealt_out=dealt_out)
    if joined is None:
        return _computes(layer)
    if joined.change:
        return f"the code of {layer.name} does more than join rows: it {joined.change}"
    return (
        None
        if _are_all(joined, towers)
        else f"the code of {layer.name} joins the rows in another order"
    )


def _computes(layer: Layer) -> str | None:
    """Return why code that cannot be followed is not a merge: it computes with tensors, or turns them."""
    code = layer_batch_roles.stored_code(layer)
    if code is None:
        return None
    computing = (
        name for name in code.names if name in TURNING or _computes_with_tensors(plain_name(name))
    )
    name = min((name for name in computing if name not in OF_PYTHON), default=None)
    return (
        f"the code of {layer.name} uses `{name}`, and cannot be followed"
        if name is not None
        else None
    )


def _computes_with_tensors(name: str) -> bool:
    """True for a function that makes other rows than it is given; arithmetic may be that of bounds."""
    operation = OPERATIONS.get(name)
    if operation is None:
        return name in COMPUTING_MODULES
    return operation.kind in COMPUTING | CHANGING_ROWS and operation.function is None


CHANGING_ROWS = frozenset({Kind.REORDER, Kind.REPEAT})
"""Operations that hand on rows in another order, or several times."""


TURNING = frozenset({"reverse", "reversed", "insert", "sorted", "flip", "map", "filter"})
"""What puts the entries of a list, or rows, in another order, or something else in their place."""


OF_PYTHON = frozenset({"sum", "max", "min", "any", "all", "abs"})
"""What Python itself has under such names, for lists and numbers."""


def is_shown(layer: Layer, towers: int, shape: Shape | None = None, *, dealt_out: bool) -> bool:
    """Return True if a layer has no code of its own, or code that can be followed to its end."""
    if layer_batch_roles.stored_code(layer) is None:
        return True
    joined = _merge_result(layer, towers, shape, dealt_out=dealt_out)
    return joined is not None and not joined.is_partly


def puts_together(
    layer: Layer, towers: int, shape: Shape | None = None, *, dealt_out: bool
) -> bool:
    """Return True if the code of a layer can be followed, and gives the rows of so many towers back in order."""
    joined = _merge_result(layer, towers, shape, dealt_out=dealt_out)
    return joined is not None and not joined.is_partly and _gives_back(joined, towers)


def lines_up(layer: Layer, operands: int) -> bool:
    """Return True unless the code of a layer gives the rows of so many tensors back otherwise, or may do so."""
    return layer_batch_roles.stored_code(layer) is None or puts_together(
        layer, operands, dealt_out=False
    )


def may_put_together(layer: Layer, towers: int) -> bool:
    """Return True if a layer's code may give back the rows of all towers: in order, end to end or dealt out."""
    ways = (_merge_result(layer, towers, dealt_out=dealt_out) for dealt_out in (False, True))
    return any(joined is not None and _gives_back(joined, towers) for joined in ways)


def _gives_back(joined: CodeRows, towers: int) -> bool:
    return not joined.change and _are_all(joined, towers)


def _are_all(joined: CodeRows, towers: int) -> bool:
    return joined.numbers == tuple(range(towers * ROWS_A_TOWER))


def _merge_result(
    layer: Layer, towers: int, shape: Shape | None = None, *, dealt_out: bool
) -> CodeRows | None:
    """Return the effect of a layer's code on the rows of so many towers; None if it cannot be followed."""
    numbers, n = np.arange(towers * ROWS_A_TOWER, dtype=np.int32), ROWS_A_TOWER
    parts = [
        numbers[k::towers] if dealt_out else numbers[n * k : n * (k + 1)] for k in range(towers)
    ]
    results = code_answer(
        layer,
        (_merge_result, towers, dealt_out, shape and shape[1:]),
        partial(code_result_rows, parts, shape),
    )
    return results[0] if results is not None and len(results) == 1 else None
