"""Merge layers held against their code, if it can be followed: it must give back the rows of every tower in order."""

from __future__ import annotations

from unnest.core.architecture.graph import Layer
from unnest.core.model import Shape
from unnest.core.ops.call import plain_name
from unnest.core.ops.operation_kinds import COMPUTING, Kind
from unnest.core.ops.registry import COMPUTING_MODULES, OPERATIONS
from unnest.core.wrappers.stored_code import code_names_and_numbers
from unnest.core.wrappers.stored_code.layer_code_rows import are_all_rows, merged_rows


def objection_to_merge(
    layer: Layer, towers: int, shape: Shape | None = None, *, dealt_out: bool
) -> str | None:
    """Return why a layer with stored code is not a merge of so many towers; None if it may be.

    `shape` is that of what a tower gives, `dealt_out`: every tower holds each k-th row. A merge must give all rows back
    in order, and nothing else.
    """
    joined = merged_rows(layer, towers, shape, dealt_out=dealt_out)
    if joined is None:
        return _computes(layer)
    if joined.change:
        return f"the code of {layer.name} does more than join rows: it {joined.change}"
    return (
        None
        if are_all_rows(joined, towers)
        else f"the code of {layer.name} joins the rows in another order"
    )


def _computes(layer: Layer) -> str | None:
    """Return why code that cannot be followed is no merge: it computes, turns tensors, or changes gradients."""
    code = code_names_and_numbers.stored_code(layer)
    if code is None:
        return None
    computing = (
        name
        for name in code.names
        if name in TURNING
        or _computes_with_tensors(plain_name(name))
        or plain_name(name).startswith(code_names_and_numbers.OTHER_GRADIENTS)
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
    return operation.kind in COMPUTING | CHANGING_ROWS and operation.number_function is None


CHANGING_ROWS = frozenset({Kind.REORDER, Kind.REPEAT})
"""Operations that hand on rows in another order, or several times."""


TURNING = frozenset({"reverse", "reversed", "insert", "sorted", "flip", "map", "filter"})
"""What puts the entries of a list, or rows, in another order, or something else in their place."""


OF_PYTHON = frozenset({"sum", "max", "min", "any", "all", "abs"})
"""What Python itself has under such names, for lists and numbers."""
