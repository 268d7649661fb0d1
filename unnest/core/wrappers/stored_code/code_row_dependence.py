"""Row dependence of stored code: its trace is a graph of operations, as any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unnest.core.frontends.stored_code_tracer.trace_stored_code import follow
from unnest.core.interpreters.row_dependence_arithmetic import RowsMade, RowsMixed, along
from unnest.core.interpreters.row_mixing import TowerRows
from unnest.core.interpreters.tensor_graph import Column, TensorGraph
from unnest.core.interpreters.tower_tensor_facts import batch_size
from unnest.core.interpreters.trace import OtherSizes, Trace, TracedInput, TracedTensor, arguments
from unnest.core.model import CallId, Json, Ref, Shape
from unnest.core.ops.call import OpCall, Value, refs_in
from unnest.core.ops.element_dtype_and_checks import Array

SIZES = (7, 1)
"""Of axes whose size is not known, tried in turn: one that has entries to take, and one that fits any other."""


def rows_made(
    function: Json, values: Mapping[str, Json], shapes: Sequence[Shape | None], ranks: Sequence[int]
) -> RowsMade:
    """Return what stored code makes of tensors of these shapes; unknown ones have each of `ranks` axes in turn."""
    answers = set[RowsMade]()
    for rank in ranks if None in shapes else ranks[:1]:
        given = [(None,) * rank if shape is None else shape for shape in shapes]
        trials = (_trial(function, values, given, size) for size in SIZES)
        answers.add(
            next((made for made in trials if made is not RowsMade.UNKNOWN), RowsMade.UNKNOWN)
        )
    return answers.pop() if len(answers) == 1 else RowsMade.UNKNOWN


def _trial(
    function: Json, values: Mapping[str, Json], shapes: Sequence[Shape], size: int
) -> RowsMade:
    """Row dependence of stored code on tensors of known rank; `size` is tried for sizes that are not known."""
    rows = batch_size([shape[0] if shape else None for shape in shapes])

    def inputs(_: int) -> list[TracedInput]:
        order = np.arange(rows, dtype=np.int32)
        return [
            TracedInput(order, tuple(size if known is None else known for known in shape[1:]))
            for shape in shapes
        ]

    try:
        made = follow(function, values, inputs, [0], lambda trace: _run(trace, shapes, size))
    except OtherSizes:
        return RowsMade.UNKNOWN
    return made or RowsMade.UNKNOWN


def _run(trace: Trace, shapes: Sequence[Shape], size: int) -> RowsMade:
    """Return the row dependence after one run of the code."""
    results = trace.result if isinstance(trace.result, (list, tuple)) else [trace.result]
    tensors = [each for each in results if isinstance(each, TracedTensor)]
    if not tensors or len(tensors) < len(results):
        return RowsMade.UNKNOWN
    graph = TracedTensors(trace, shapes)
    rows = TowerRows(
        graph,
        {tensor.ref: shape for tensor, shape in zip(trace.input_tensors, shapes, strict=True)},
        0,
        size,
    )
    made = [_result_rows(rows, tensor) for tensor in tensors]
    if {*made} == {RowsMade.ONE}:
        return RowsMade.ONE
    if {*made} & {RowsMade.ONE, RowsMade.MIXED}:
        return RowsMade.MIXED
    if {*made} == {RowsMade.KEPT} and not trace.leaves_trace:
        return RowsMade.KEPT
    return RowsMade.OTHERS if RowsMade.OTHERS in made else RowsMade.UNKNOWN


def _result_rows(rows: TowerRows, tensor: TracedTensor) -> RowsMade:
    """Return the row dependence of one of the results."""
    kept = rows.rows_up_to(tensor.ref)
    if kept.are_kept:
        return RowsMade.KEPT
    known = rows.facts.tensors.get(tensor.ref)
    if known is None:  # rows were mixed on the way to it
        shape = tensor.shape if tensor.arrays else None
        if shape == ():
            return RowsMade.UNKNOWN
        return RowsMade.ONE if shape is not None and shape[0] == 1 else RowsMade.MIXED
    if kept.mixing is None or not isinstance(known, np.ndarray):
        return RowsMade.UNKNOWN
    return RowsMade.UNKNOWN if len(known) == 1 and _depends_on_several(known) else RowsMade.OTHERS


def _depends_on_several(tensor: Array) -> bool:
    """True if a tensor depends on more than one row."""
    try:
        along(tensor, range(tensor.ndim))
    except RowsMixed:
        return True
    return False


class TracedTensors(TensorGraph):
    """The tensors of a trace; `shapes` are those of its inputs, None for sizes that are not known."""

    def __init__(self, trace: Trace, shapes: Sequence[Shape]) -> None:
        super().__init__()
        self._trace, self._shapes = trace, shapes
        self._rows = {len(each.rows) for each in trace.inputs}

    def reads(self, at: CallId) -> Sequence[Ref]:
        """Return the tensors that an operation reads."""
        return [*dict.fromkeys(refs_in(arguments(self.parsed(at))))]

    def shape(self, ref: Ref, known_shapes: dict[Ref, Shape | None] | None = None) -> Shape | None:
        """Return the shape of a tensor, with None for axes as long as the batch."""
        if known_shapes is not None and ref in known_shapes:
            return known_shapes[ref]
        if ref.call_index < len(self._shapes):
            return self._shapes[ref.call_index]
        arrays = self._trace.tensors[ref].arrays
        return (
            tuple(None if size in self._rows else size for size in arrays[0].shape)
            if arrays
            else None
        )

    def parsed(self, at: CallId) -> OpCall:
        """Return the operation as a call."""
        return self._trace.steps[at.call_index].call

    def computed(self, at: CallId, known_shapes: dict[Ref, Shape | None] | None = None) -> OpCall:
        """Return the operation as a call."""
        del known_shapes
        return self.parsed(at)

    def rank_of(self, ref: Ref, known_shapes: dict[Ref, Shape | None] | None = None) -> int | None:
        """Return the number of axes of a tensor."""
        shape = self.shape(ref, known_shapes)
        return None if shape is None else len(shape)

    def differ(self, column: Column) -> str | None:
        """Return why operations differ: in their names, or in arguments that are no tensors; None if they agree."""
        first, *others = (self.parsed(ref.call) for ref in column)
        is_same = all(
            other.name == first.name and _without_refs(other) == _without_refs(first)
            for other in others
        )
        return None if is_same else "other operations"


def _without_refs(value: Value) -> Value:
    """Return an argument with None for its tensors."""
    if isinstance(value, Ref):
        return None
    if isinstance(value, OpCall):
        return _without_refs([*value.args]), _without_refs([*value.kwargs.items()])
    if isinstance(value, (list, tuple)):
        return [_without_refs(part) for part in value]
    if isinstance(value, slice):
        return "slice", _without_refs([value.start, value.stop, value.step])
    return value
