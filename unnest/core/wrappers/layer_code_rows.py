"""Rows in the results of a layer's stored code, for tensors with rows of known numbers; kept across files."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from unnest.budget import memoize_across_files
from unnest.core.architecture.graph import Layer
from unnest.core.model import JsonObject, Shape
from unnest.core.ops.numbered_elements import Array
from unnest.core.wrappers import layer_batch_roles

if TYPE_CHECKING:  # the byte code machine has tables of nine Pythons
    from unnest.core.wrappers.traced_rows import CodeRows


Answer = TypeVar("Answer")


ROWS_A_TOWER = 2


def code_answer(layer: Layer, question: Hashable, follow: Callable[[Layer], Answer]) -> Answer:
    """Return the answer to a question about a layer's code; remembered, as other files have the same wrappers."""
    if not layer_batch_roles.is_function(layer):
        return follow(layer)
    try:
        code = json.dumps([layer.settings.get(key) for key in ("function", "arguments")])
    except (
        RecursionError,
        TypeError,
    ):  # TypeError: a custom mapping, in an architecture that a caller gave
        return follow(layer)
    return memoize_across_files((question, code), partial(follow, layer))


RANKS = (2, 4, 3, 5)
"""Of the tensor, tried in turn: a file does not always say how many axes a Lambda is given."""


def code_result_rows(
    rows: Sequence[Array], shape: Shape | None, layer: Layer
) -> tuple[CodeRows | None, ...] | None:
    """Return the rows in each result of a layer's code for such tensors; None if it cannot be followed."""
    if not layer_batch_roles.is_function(layer):
        return None
    from unnest.core.wrappers import (
        traced_rows,
    )  # with the tables of nine Pythons, which most graphs do not need

    return traced_rows.rows_of_code(
        layer.settings.get("function"), stored_arguments(layer), rows, shape, RANKS
    )


def stored_arguments(layer: Layer) -> JsonObject:
    """Return the arguments that a layer stores for its function."""
    stored = layer.settings.get("arguments")
    return stored if isinstance(stored, Mapping) else {}
