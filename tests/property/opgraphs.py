"""Serving graphs made at random, wrapped in the ways that people cut, join and average; or spoilt a little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from unnest.core.wrappers.serving_graph.serving_op_graph import Op, OpGraph

#: A step of a template: what is computed, and of which earlier values.
Step = tuple[str, tuple[int, ...]]
KINDS = ("MatMul", "BiasAdd", "Relu", "AddV2", "Scale", "Softmax")


@dataclass
class Writer:
    """A flat graph in the making; names are numbers, so that nothing can be read off them."""

    ops: dict[str, Op] = field(default_factory=dict)
    variables: dict[int, str] = field(default_factory=dict)

    def op(
        self,
        kind: str,
        *inputs: str,
        value: float | list[int] | None = None,
        shape: tuple[int, ...] | None = None,
        **attrs: object,
    ) -> str:
        """One operation's first output."""
        name = f"n{len(self.ops)}"
        if shape is None and kind in (*KINDS, "Mul", "Elu"):
            shape = (-1, 3)
        array = (
            None
            if value is None
            else np.asarray(value, np.int32 if not isinstance(value, float) else np.float32)
        )
        self.ops[name] = Op(name, kind, inputs, (), attrs, array, () if shape is None else (shape,))
        return f"{name}:0"

    def variable(self, number: int) -> str:
        """The value of a variable; always the same one for a number."""
        if number not in self.variables:
            self.variables[number] = self.op("VarHandleOp", shared_name=f"v{number}".encode())
        return self.op("ReadVariableOp", self.variables[number])

    def graph(self, rets: Sequence[str]) -> OpGraph:
        """Return the graph that was written."""
        return OpGraph("", dict(self.ops), (), tuple(rets))


@dataclass(frozen=True)
class Case:
    """A template and how it is wrapped."""

    steps: tuple[Step, ...]
    inputs: int
    towers: int
    cut: str
    mean: str | None


def template(w: Writer, steps: Sequence[Step], xs: Sequence[str], offset: int = 0) -> list[str]:
    """The values computed from the inputs; `offset` names other variables."""
    values = list(xs)
    for number, (kind, reads) in enumerate(steps):
        a = [values[r % len(values)] for r in reads]
        if kind in ("MatMul", "BiasAdd"):
            values.append(w.op(kind, a[0], w.variable(number + offset)))
        elif kind == "Scale":
            values.append(w.op("Mul", a[0], w.op("Const", value=0.5 + number)))
        elif kind == "AddV2":
            values.append(w.op("AddV2", *a))
        else:
            values.append(w.op(kind, a[0]))
    return values[len(xs) :]


# ---- slices: tower k of n ----


def _batch(w: Writer, x: str) -> str:
    zero, one = w.op("Const", value=[0]), w.op("Const", value=[1])
    return w.op("StridedSlice", w.op("Shape", x), zero, one, one, shrink_axis_mask=1)


def _edge(w: Writer, x: str, k: int, n: int) -> str:
    share = w.op("FloorDiv", _batch(w, x), w.op("Const", value=n))
    return w.op("Mul", share, w.op("Const", value=k))


def _strided(w: Writer, x: str, k: int, n: int) -> str:
    stop = _batch(w, x) if k == n - 1 else _edge(w, x, k + 1, n)
    return w.op(
        "StridedSlice",
        x,
        w.op("Pack", _edge(w, x, k, n)),
        w.op("Pack", stop),
        w.op("Const", value=[1]),
    )


def _sliced(w: Writer, x: str, k: int, n: int) -> str:
    size = w.op("Sub", _batch(w, x), _edge(w, x, k, n)) if k == n - 1 else _edge(w, x, 1, n)
    begin = w.op("Pack", _edge(w, x, k, n), w.op("Const", value=0))
    return w.op(
        "Slice",
        x,
        begin,
        w.op("ConcatV2", w.op("Pack", size), w.op("Const", value=[-1]), w.op("Const", value=0)),
    )


def _counted(w: Writer, x: str, k: int, n: int) -> str:
    """Bounds as numbers; the last tower takes the rest."""
    start, stop = w.op("Const", value=[4 * k]), w.op("Const", value=[4 * (k + 1)])
    return w.op("StridedSlice", x, start, stop, w.op("Const", value=[1]), end_mask=int(k == n - 1))


def _gathered(w: Writer, x: str, k: int, n: int) -> str:
    stop = _batch(w, x) if k == n - 1 else _edge(w, x, k + 1, n)
    rows = w.op("Range", _edge(w, x, k, n), stop, w.op("Const", value=1))
    return w.op("GatherV2", x, rows, w.op("Const", value=0))


def _alternating(w: Writer, x: str, k: int, n: int) -> str:
    """Every n-th row; joined by a stack and a reshape."""
    start, none = w.op("Const", value=[k]), w.op("Const", value=[0])
    return w.op("StridedSlice", x, start, none, w.op("Const", value=[n]), end_mask=1, shape=(-1, 3))


CUTS: dict[str, Callable[[Writer, str, int, int], str]] = {
    "strided": _strided, "sliced": _sliced, "counted": _counted, "gathered": _gathered, "alternating": _alternating,
}  # fmt: skip


def _owners(w: Writer, x: str, n: int) -> str:
    """The tower of each row, in turn."""
    return w.op("FloorMod", _numbers(w, _batch(w, x)), w.op("Const", value=n))


def _numbers(w: Writer, count: str) -> str:
    return w.op("Range", w.op("Const", value=0), count, w.op("Const", value=1))


def joined(w: Writer, case: Case, ends: Sequence[str], axis: int) -> str:
    """The towers' outputs, put together as they were cut."""
    if case.cut == "alternating":
        stacked = w.op("Pack", *ends, axis=1)
        return w.op("Reshape", stacked, w.op("Const", value=[-1, 3]))
    if case.cut == "dealt":
        total = _batch(w, ends[0])
        for end in ends[1:]:
            total = w.op("AddV2", total, _batch(w, end))
        numbers = _numbers(w, total)
        owners = w.op("FloorMod", numbers, w.op("Const", value=case.towers))
        places = w.op("DynamicPartition", numbers, owners, num_partitions=case.towers).partition(
            ":"
        )[0]
        return w.op("DynamicStitch", *(f"{places}:{k}" for k in range(len(ends))), *ends)
    return w.op("ConcatV2", *ends, w.op("Const", value=axis), shape=(-1, 3))


def cut(w: Writer, how: str, x: str, n: int, order: Sequence[int] | None = None) -> list[str]:
    """The towers' slices of one input."""
    if how == "split":
        parts = w.op("Split", w.op("Const", value=0), x, num_split=n).partition(":")[0]
        slices = [f"{parts}:{k}" for k in range(n)]
    elif how == "splitv":
        sizes = [4] * (n - 1) + [-1]
        parts = w.op(
            "SplitV", x, w.op("Const", value=sizes), w.op("Const", value=0), num_split=n
        ).partition(":")[0]
        slices = [f"{parts}:{k}" for k in range(n)]
    elif how == "dealt":
        parts = w.op("DynamicPartition", x, _owners(w, x, n), num_partitions=n).partition(":")[0]
        slices = [f"{parts}:{k}" for k in range(n)]
    else:
        slices = [CUTS[how](w, x, k, n) for k in range(n)]
    return [slices[k] for k in order] if order else slices


# ---- means: of one loss per tower ----


def _divided(w: Writer, xs: Sequence[str]) -> str:
    return w.op("RealDiv", w.op("AddN", *xs), w.op("Const", value=float(len(xs))))


def _stacked(w: Writer, xs: Sequence[str]) -> str:
    return w.op("Mean", w.op("Pack", *xs, axis=0), w.op("Const", value=[0]), keep_dims=False)


def _chained(w: Writer, xs: Sequence[str]) -> str:
    total = xs[0]
    for x in xs[1:]:
        total = w.op("AddV2", total, x)
    return w.op("Mul", total, w.op("Const", value=1.0 / len(xs)))


MEANS: dict[str, Callable[[Writer, Sequence[str]], str]] = {
    "divided": _divided,
    "stacked": _stacked,
    "chained": _chained,
}


def loss(w: Writer, y: str) -> str:
    """A number of a tensor."""
    return w.op("Mean", w.op("Square", y), w.op("Const", value=[0, 1]), keep_dims=False)


def sources(w: Writer, case: Case) -> list[str]:
    """The inputs."""
    return [w.op("Placeholder", shape=(-1, 3)) for _ in range(case.inputs)]


def plain(case: Case) -> OpGraph:
    """The template by itself."""
    w = Writer()
    values = template(w, case.steps, sources(w, case))
    return w.graph([values[-1], *([loss(w, values[-1])] if case.mean else [])])


def wrapped(case: Case, spoil: str | None = None) -> OpGraph:
    """The template in its towers; `spoil` names what makes it no wrapper."""
    w = Writer()
    xs = sources(w, case)
    n = case.towers
    order = [1, 0, *range(2, n)] if spoil == "order" else None
    parts = [cut(w, case.cut, x, n, order) for x in xs]
    if spoil == "twice":
        parts = [[*p[:-1], p[0]] for p in parts]
    ends, losses = [], []
    for k in range(n):
        offset = 100 if spoil == "variables" and k == n - 1 else 0
        value = template(w, case.steps, [p[k] for p in parts], offset)[-1]
        if spoil == "operation" and k == n - 1:
            value = w.op("Elu", value)
        if spoil == "constant":
            value = w.op("Mul", value, w.op("Const", value=1.0 + k))
        ends.append(value)
        losses.append(loss(w, value))
    ends = ends[:-1] if spoil == "missing" else ends
    axis = 1 if spoil == "axis" else 0
    rets = [w.op("Identity", joined(w, case, ends, axis))]
    if case.mean:
        total = w.op("AddN", *losses) if spoil == "sum" else MEANS[case.mean](w, losses)
        rets.append(total)
    if spoil == "inside":
        rets.append(ends[0])
    return w.graph(rets)


@st.composite
def cases(draw: st.DrawFn, *, mean: bool | None = None) -> Case:
    """Templates of some operations, with at least one variable, and any way to wrap them."""
    inputs = draw(st.integers(1, 3))
    first: list[Step] = [("MatMul", (0,))]
    for k in range(1, inputs):
        first += [("MatMul", (k,)), ("AddV2", (len(first) + inputs - 1, len(first) + inputs))]
    reads = st.tuples(st.integers(0, 20), st.integers(0, 20))
    rest = draw(st.lists(st.tuples(st.sampled_from(KINDS), reads), max_size=6))
    last = len(first) + len(rest) + inputs
    # Everything is used: the last step adds up what was computed before.
    steps = [*first, *rest, ("AddV2", (last - 1, len(first) + inputs - 1)), ("BiasAdd", (last,))]
    how = draw(st.sampled_from(["split", "splitv", "dealt", *CUTS]))
    means = (
        st.none()
        if mean is False
        else st.sampled_from(list(MEANS))
        if mean
        else st.sampled_from([None, *MEANS])
    )
    return Case(tuple(steps), inputs, draw(st.integers(2, 5)), how, draw(means))
