"""Heads that count the towers of a likely wrapper: each tower gave the whole batch, as test-time augmentation does.

A template that is called on four views of a batch gives four batches, joined along axis 0. The head takes them apart
again: `reshape(t, (4, -1, 3))`, a split in four. Behind a real wrapper the same head would group the rows of the batch
itself. Where the slices prove the wrapper, this is what it does; where they do not, the views are the nearer reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from unnest.core.architecture.graph import Graph
from unnest.core.frontends.operation_layers_as_op_calls import reshape_target
from unnest.core.interpreters.numbered_rows import Values, numbered
from unnest.core.model import CallId, Ref
from unnest.core.ops.apply_op_call_to_arrays import apply
from unnest.core.ops.call import OpCall, plain_name
from unnest.core.ops.element_dtype_and_checks import (
    ELEMENT,
    MAX_RESULT_ELEMENTS,
    NOT_COMPUTED,
    Array,
)
from unnest.core.ops.operation_kinds import MOVES, SLICES, Kind
from unnest.core.ops.registry import kind_of
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.wrapper_records import LayerWrapper
from unnest.core.wrappers.search.batch_trials import UNLIKE_ROWS
from unnest.core.wrappers.search.row_mixing_trials import rows_kept
from unnest.core.wrappers.stored_code import code_names_and_numbers

SHARES = (11, 13)
"""Rows of each tower that are tried: sizes that hardly any other axis has."""

UNKNOWN_SIZE = 7
"""Of an axis whose size the file does not store."""

REGROUPING = frozenset({Kind.MOVE, Kind.SLICE})
"""Operations that take the towers of a batch apart: reshapes, splits."""


def counting_layer(graph: Graph, wrapper: LayerWrapper) -> str | None:
    """Name of the layer behind a wrapper's merges that takes its towers apart along the batch; None if no layer does.

    Layers between that leave every row in its place are looked through.
    """
    tensors, towers = LayerTensors(graph), len(wrapper.towers)
    pending = [*wrapper.results(graph)]
    met = {*pending}
    for ref in pending:
        for at in (at for at, read in graph.readers.get(ref.call, ()) if read == ref):
            if towers > 1 and _takes_apart(tensors, ref, at, towers):
                return at.layer
            after = Ref(at.layer, at.call_index, 0)
            if after not in met and rows_kept(tensors, [after], {ref: tensors.shape(ref)}).are_kept:
                met.add(after)
                pending.append(after)
    return None


def _takes_apart(tensors: LayerTensors, ref: Ref, at: CallId, towers: int) -> bool:
    """True if a call takes the rows of the towers of `ref` apart, whatever the size of the batch."""
    if kind_of(tensors.of(at)) in MOVES | SLICES:
        trials = [
            _has_shares(made, share, towers)
            for row, share in product(_rows_tried(tensors, ref, at, towers), SHARES)
            if (made := _rows_after(tensors, ref, at, (share * towers, *row)))
        ]
        return bool(trials) and all(trials)
    code = code_names_and_numbers.stored_code(tensors.graph.layers[at.layer])
    if code is None or tensors.computed(at).name == "rowwise":
        return False
    return towers in code.numbers and any(
        kind_of(OpCall(plain_name(name), (), {})) in REGROUPING for name in code.names
    )


def _rows_tried(
    tensors: LayerTensors, ref: Ref, at: CallId, towers: int
) -> Sequence[tuple[int, ...]]:
    """Return the shape of a row of `ref`; if the file does not store it, those that a reshape may be meant for."""
    shape = tensors.shape(ref)
    if shape:
        return [tuple(UNKNOWN_SIZE if size is None else size for size in shape[1:])]
    target = reshape_target(tensors.of(at))
    sizes = [size for size in target if isinstance(size, int) and size > 0]
    if not sizes:
        return UNLIKE_ROWS
    return [(each,) for each in dict.fromkeys((prod(sizes), max(prod(sizes) // towers, 1)))]


def _rows_after(tensors: LayerTensors, ref: Ref, at: CallId, sizes: tuple[int, ...]) -> list[Array]:
    """Return, for each output of a call, an array with the row of `ref` that each element comes from; [] if unknown.

    `sizes` is the shape of `ref`.
    """
    if prod(sizes) > MAX_RESULT_ELEMENTS:
        return []
    try:
        values = Values(tensors, sizes[0], max(sizes), {ref: numbered(sizes)})
        made = apply(tensors.of(at), values.of)
    except NOT_COMPUTED:
        return []
    is_moved = all(array.dtype == ELEMENT and array.size for array in made)
    return [array["element"] // prod(sizes[1:]) for array in made] if is_moved else []


def _has_shares(made: Sequence[Array], share: int, towers: int) -> bool:
    """True if the outputs, or the entries along an axis of the only one, are each the rows of one tower."""
    rows = np.arange(towers * share)
    # End to end, or dealt out.
    for shares in (rows.reshape(towers, share), rows.reshape(share, towers).T):
        of_towers = [{*each.tolist()} for each in shares]
        if len(made) == 1 and {*made[0].flat} in of_towers:
            return True
        ways = (
            [made]
            if len(made) > 1
            else [[*np.moveaxis(each, axis, 0)] for each in made for axis in range(each.ndim)]
        )
        if any([{*part.flat} for part in parts] == of_towers for parts in ways):
            return True
    return False
