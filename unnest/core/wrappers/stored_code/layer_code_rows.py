"""Rows in the results of a layer's stored code, for tensors with rows of known numbers; kept across files."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unnest.budget import memoize_across_files
from unnest.core import json_tree
from unnest.core.architecture.graph import Layer
from unnest.core.model import JsonObject, Shape
from unnest.core.ops.element_dtype_and_checks import Array
from unnest.core.wrappers.stored_code import code_names_and_numbers

if TYPE_CHECKING:  # the byte code machine has tables of nine Pythons
    from unnest.core.wrappers.stored_code.traced_rows import CodeRows


Answer = TypeVar("Answer")


ROWS_A_TOWER = 2


def code_answer(layer: Layer, question: Hashable, follow: Callable[[Layer], Answer]) -> Answer:
    """Return the answer to a question about a layer's code; remembered, as other files have the same wrappers."""
    if not code_names_and_numbers.is_function(layer):
        return follow(layer)
    code = json_tree.as_key([layer.settings.get(key) for key in ("function", "arguments")])
    if code is None:
        return follow(layer)
    return memoize_across_files((question, code), partial(follow, layer))


RANKS = (2, 4, 3, 5)
"""Of the tensor, tried in turn: a file does not always say how many axes a Lambda is given."""


def code_result_rows(
    rows: Sequence[Array], shape: Shape | None, layer: Layer, *, assumes_imports: bool = False
) -> tuple[CodeRows | None, ...] | None:
    """Return the rows in each result of a layer's code for such tensors; None if it cannot be followed.

    `assumes_imports`: bare names of operations are taken for TensorFlow's functions.
    """
    if not code_names_and_numbers.is_function(layer):
        return None
    from unnest.core.wrappers.stored_code import (
        traced_rows,  # with the tables of nine Pythons, which most graphs do not need
    )

    return traced_rows.rows_of_code(
        layer.settings.get("function"),
        stored_arguments(layer),
        rows,
        shape,
        RANKS,
        assumes_imports=assumes_imports,
    )


def stored_arguments(layer: Layer) -> JsonObject:
    """Return the arguments that a layer stores for its function."""
    stored = layer.settings.get("arguments")
    return stored if isinstance(stored, Mapping) else {}


def is_shown(layer: Layer, towers: int, shape: Shape | None = None, *, dealt_out: bool) -> bool:
    """Return True if a layer has no code of its own, or code that can be followed to its end."""
    if code_names_and_numbers.stored_code(layer) is None:
        return True
    joined = merged_rows(layer, towers, shape, dealt_out=dealt_out)
    return joined is not None and not joined.is_partly


def puts_together(layer: Layer, towers: int, *, dealt_out: bool) -> bool:
    """Return True if the code of a layer can be followed, and gives the rows of so many towers back in order."""
    joined = merged_rows(layer, towers, dealt_out=dealt_out)
    return joined is not None and not joined.is_partly and _gives_back(joined, towers)


def lines_up(layer: Layer, operands: int) -> bool:
    """Return True unless the code of a layer gives the rows of so many tensors back otherwise, or may do so."""
    return code_names_and_numbers.stored_code(layer) is None or puts_together(
        layer, operands, dealt_out=False
    )


def may_put_together(layer: Layer, towers: int) -> bool:
    """Return True if a layer's code may give back the rows of all towers: in order, end to end or dealt out."""
    ways = (merged_rows(layer, towers, dealt_out=dealt_out) for dealt_out in (False, True))
    return any(joined is not None and _gives_back(joined, towers) for joined in ways)


def _gives_back(joined: CodeRows, towers: int) -> bool:
    return not joined.change and are_all_rows(joined, towers)


def are_all_rows(joined: CodeRows, towers: int) -> bool:
    """Return True if the result holds every row of so many towers once, in order."""
    return joined.numbers == tuple(range(towers * ROWS_A_TOWER))


def merged_rows(
    layer: Layer, towers: int, shape: Shape | None = None, *, dealt_out: bool
) -> CodeRows | None:
    """Return the effect of a layer's code on the rows of so many towers; None if it cannot be followed."""
    numbers, n = np.arange(towers * ROWS_A_TOWER, dtype=np.int32), ROWS_A_TOWER
    parts = [
        numbers[k::towers] if dealt_out else numbers[n * k : n * (k + 1)] for k in range(towers)
    ]
    results = code_answer(
        layer,
        (merged_rows, towers, dealt_out, shape and shape[1:]),
        partial(code_result_rows, parts, shape),
    )
    return results[0] if results is not None and len(results) == 1 else None
