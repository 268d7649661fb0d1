"""Operations of a tower that work along the batch: rows are reduced, sorted, weighed against each other.

Such a tower does not compute row by row: what it gives for a row depends on which rows it got with it. The axis of the
rows is followed from the slices on, through what is known of each operation. Where it is lost nothing is said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from unnest.budget import remembered, spend
from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import CallId, Graph, Ref
from unnest.core.recognise.elements import NOT_COMPUTED, whole_numbers
from unnest.core.recognise.kernels import ELEMENTWISE
from unnest.core.recognise.layer_tensors import KEEPING_SHAPE, LayerTensors
from unnest.core.recognise.op_calls import OpCall, Value
from unnest.core.recognise.symbolic_rows import DIVISIBLE
from unnest.core.recognise.tensor_graph import TensorGraph, Values

REDUCING = frozenset({
    "max", "min", "mean", "sum", "prod", "all", "any", "logsumexp", "var", "std", "median", "argmax", "argmin",
    "reducemax", "reducemin", "reducemean", "reducesum", "reduceprod", "reduceall", "reduceany", "reducelogsumexp",
    "reducevariance", "reducestd", "reduceeuclideannorm", "countnonzero",
})  # fmt: skip
"""Operations that make one number of all along some axes; of all axes where none is named."""

ALONG = {
    "softmax": -1, "logsoftmax": -1, "sort": -1, "argsort": -1, "l2normalize": -1, "cumsum": 0, "cumprod": 0,
    "topk": -1, "topkv2": -1,
}  # fmt: skip
"""Operations that keep the shape and work along one axis, with the axis where none is named."""

KEEPING = (KEEPING_SHAPE - ALONG.keys()) | frozenset(ELEMENTWISE) | frozenset({
    "biasadd", "pow", "power", "squareddifference", "rsqrt", "reciprocal", "sign", "where", "selectv2", "erf", "tanh",
    "conv2d", "depthwiseconv2dnative", "conv3d", "maxpool", "avgpool", "fusedbatchnorm", "fusedbatchnormv2",
    "fusedbatchnormv3", "resizebilinear", "resizenearestneighbor", "addn", "average", "rowwise",
})  # fmt: skip
"""Operations that leave every row where it is."""

CHOOSING = frozenset({
    "merge", "switch", "if", "statelessif", "while", "statelesswhile", "exit", "range", "arange", "sequencemask",
    "shape", "shapen", "size", "rank", "zeroslike", "oneslike", "zeros", "ones", "fill",
})  # fmt: skip
"""Operations that need not hand on what is in their tensors: one of two branches (training or not), a size."""

MATRIX_PRODUCTS = frozenset({"matmul", "batchmatmulv2"})

MATRIX = 2
"""The axes of one."""

LOST = -1
"""The axis of rows that nobody knows the place of."""

MIXED = -2
"""Stands for rows that were mixed."""


def along_the_batch(graph: TensorGraph, ends: Collection[Ref], entries: Collection[Ref]) -> CallId | None:
    """The first call between rows (`entries`, on axis 0) and some tensors that works along these rows; None if none."""
    axes: dict[Ref, int | None] = dict.fromkeys(entries, 0)
    entered: set[Ref] = set()
    pending = [*ends]
    while pending:
        spend()
        here = pending[-1]
        what = graph.computed(here.call)
        reads = [] if what.name in CHOOSING else [*graph.reads(here.call)]
        missing = [ref for ref in reads if ref not in axes and ref not in entered]
        if here not in axes and here not in entered and missing:
            entered.add(here)
            pending += missing
            continue
        pending.pop()
        if here in axes:
            continue
        of_reads = {ref: axes.get(ref, LOST) for ref in reads}
        if what.name in CHOOSING:
            axes[here] = LOST
        elif all(axis is None for axis in of_reads.values()):
            axes[here] = None
        else:
            axis = _after(graph, what, of_reads)
            if axis == MIXED:
                return here.call
            axes[here] = axis
    return None


def mixing_layer(model: Graph) -> str | None:
    """The layer of a model, or of one nested in it, that works along the batch for certain; None if none.

    Asked once, however many models it is in.
    """
    return remembered(model, _mixing_layer)


def _mixing_layer(model: Graph) -> str | None:
    tensors = LayerTensors(model)
    calls = [along_the_batch(tensors, [output], model.inputs) for output in model.outputs]
    for at in calls:  # a loss is reduced over the batch beside what is told of rows
        if at is not None and not (None in calls and tensors.is_number(Ref(at.layer, at.rank, 0))):
            return at.layer
    nested = (layer for layer in model.layers.values() if is_model(layer.stored) and layer.calls)
    return next((name for layer in nested if (name := mixing_layer(read(layer.stored))) is not None), None)


def _after(graph: TensorGraph, what: OpCall, reads: Mapping[Ref, int | None]) -> int | None:
    """Where the rows lie in what an operation makes; MIXED where it works along them, LOST where it does not say."""
    if what.name in KEEPING:
        return _together(graph, reads)
    first = next((value for value in what.args if isinstance(value, Ref)), None)
    axis = None if first is None else reads.get(first)
    if first is None or axis is None or axis == LOST:
        return LOST
    if what.name in MATRIX_PRODUCTS:
        return _of_product(graph, what, first, reads)
    if what.name in REDUCING or what.name in ALONG:
        return _along(graph, what, axis, graph.rank_of(first))
    return _moved(graph, what, axis)


def _along(graph: TensorGraph, what: OpCall, axis: int, rank: int | None) -> int:
    """Where the rows lie behind an operation that works along some axes."""
    along = _axes(graph, what, rank)
    if along is None:
        return LOST
    if axis in along:
        return MIXED
    return axis if what.name in ALONG or axis == 0 else LOST


def _moved(graph: TensorGraph, what: OpCall, axis: int) -> int:
    """Where the rows lie behind an operation that may move them; MIXED where time lies on their axis."""
    if what.name == "timemajor":
        return MIXED if axis == 0 else LOST
    order = _numbers(graph, _argument(what, 1, "perm", "axes")) if what.name == "transpose" else None
    return order.index(axis) if order is not None and axis in order else LOST


def _together(graph: TensorGraph, reads: Mapping[Ref, int | None]) -> int | None:
    """The axis of rows where tensors are combined number by number: the same in all that have some."""
    with_rows = {ref: axis for ref, axis in reads.items() if axis is not None}
    axes, ranks = {*with_rows.values()}, {graph.rank_of(ref) for ref in with_rows}
    return axes.pop() if len(axes) == 1 and (len(with_rows) == 1 or len(ranks) == 1) else LOST


def _of_product(graph: TensorGraph, what: OpCall, first: Ref, reads: Mapping[Ref, int | None]) -> int:
    """The product of two matrices: rows of the second one, or the columns of the first, are added up or compared."""
    second = _argument(what, 1, "b", "x2")
    of_second = reads[second] if isinstance(second, Ref) else None
    is_turned = any(what.kwargs.get(key) for key in ("transpose_a", "adjoint_a"))
    if reads[first] == 0 and of_second is None and not is_turned:
        return 0
    is_of_rows = reads[first] == 0 and of_second != LOST and graph.rank_of(first) == MATRIX
    return MIXED if is_of_rows else LOST


def _argument(what: OpCall, position: int, *names: str) -> Value:
    named = next((what.kwargs[name] for name in names if what.kwargs.get(name) is not None), None)
    return named if named is not None else what.args[position] if position < len(what.args) else None


def _axes(graph: TensorGraph, what: OpCall, rank: int | None) -> Collection[int] | None:
    """The axes that an operation works along; None where they are computed. Some of unknown ranks are left out."""
    given = _argument(what, 1, "axis", "axes", "reduction_indices", "dim")
    if given is None and what.name in REDUCING:
        return range(rank or 1)
    if what.name in ("topk", "topkv2") or given is None:
        given = ALONG[what.name]
    numbers = _numbers(graph, given)
    if numbers is None:
        return None
    if rank is not None:
        return [number + rank if number < 0 else number for number in numbers]
    return [number for number in numbers if number >= 0]


def _numbers(graph: TensorGraph, value: Value) -> list[int] | None:
    """The whole numbers of an argument that is written down, or computed of such; None for any other."""
    if isinstance(value, Ref):
        try:
            value = Values(graph, DIVISIBLE, 0, {}).of(value)
        except NOT_COMPUTED:
            return None
    try:
        return whole_numbers(value)
    except NOT_COMPUTED:
        return None
