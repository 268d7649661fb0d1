"""A serving graph as the engine asks of it: what operations say, what they come to, and whether two are one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.property.opgraphs import Case, Writer, cut, joined
from unnest.core.interpreters.numbered_rows import Values, numbered, rows_of
from unnest.core.model import DataDependent, Ref, Unknown
from unnest.core.wrappers.search.match_towers import Copies, Unlike, walk_back
from unnest.core.wrappers.search.operation_slice_towers import join_operands
from unnest.core.wrappers.serving_graph.recognise_serving_graph import find
from unnest.core.wrappers.serving_graph.serving_op_graph import (
    GraphFunction,
    GraphView,
    Op,
    OpGraph,
    Place,
)
from unnest.core.wrappers.serving_graph.serving_tensor_graph import ServingTensors

N = 8


def tensors_of(w: Writer, *rets: str) -> tuple[ServingTensors, list[Ref]]:
    """The graph that gives these, and they."""
    tensors = ServingTensors(GraphView(w.graph(rets), {}), 2)
    return tensors, [tensors.ref(Place((), name)) for name in rets]


# ---- what operations come to ----


def value(build: Callable[[Writer], str]) -> np.ndarray[Any, Any]:
    """The value of what is built, for batches of 10 rows."""
    w = Writer()
    tensors, (last,) = tensors_of(w, build(w))
    return Values(tensors, 10, 2, {}).of(last)


def number(w: Writer, *values: int) -> str:
    """A constant."""
    return w.op("Const", value=list(values) if len(values) > 1 else values[0])


def doubled(w: Writer) -> str:
    """A vector of 2 ** 40."""
    x = number(w, 1, 2)
    for _ in range(39):
        x = w.op("ConcatV2", x, x, number(w, 0))
    return x


def crossed(w: Writer) -> str:
    """A row against a column of three million each."""
    x = w.op("Range", number(w, 0), number(w, 3_000_000), number(w, 1))
    return w.op("Add", w.op("ExpandDims", x, number(w, 0)), w.op("ExpandDims", x, number(w, 1)))


HOSTILE: list[Callable[[Writer], str]] = [
    lambda w: w.op("Range", number(w, 0), number(w, 2**31 - 1), number(w, 1)),
    lambda w: w.op("Fill", number(w, 70_000, 70_000), number(w, 1)),
    lambda w: w.op("Fill", w.op("Fill", number(w, 100), number(w, 1)), number(w, 1)),
    doubled,
    crossed,
]


@pytest.mark.parametrize("build", HOSTILE, ids=["range", "fill", "rank", "doubled", "crossed"])
def test_no_value_grows_out_of_bounds(build: Callable[[Writer], str]) -> None:
    """Refused before it is made."""
    with pytest.raises((Unknown, ValueError)):
        value(build)


@pytest.mark.parametrize(
    ("build", "result"),
    [
        (lambda w: w.op("Range", number(w, 1), number(w, 9), number(w, 3)), [1, 4, 7]),
        (lambda w: w.op("Fill", w.op("Pack", number(w, 2)), number(w, 5)), [5, 5]),
        (lambda w: w.op("Sum", number(w, 3, 4), number(w, 0), keep_dims=False), 7),
        (
            lambda w: w.op(
                "Mean", w.op("Pack", number(w, 3, 5), number(w, 5, 9), axis=0), number(w, 0)
            ),
            [4, 7],
        ),
        (lambda w: w.op("Shape", w.op("Placeholder", shape=(-1, 3))), [10, 3]),
        (lambda w: w.op("ShapeN", w.op("Placeholder", shape=(-1, 3)), number(w, 1, 2)), [10, 3]),
        (lambda w: w.op("Div", number(w, -7), number(w, 2)), -3),
        (
            lambda w: w.op(
                "Squeeze", w.op("ExpandDims", number(w, 4, 5), number(w, 0)), squeeze_dims=(0,)
            ),
            [4, 5],
        ),
        (lambda w: w.op("Cast", w.op("Const", value=2.5), DstT=3), 2),
    ],
)
def test_values(build: Callable[[Writer], str], result: object) -> None:
    """As TensorFlow computes them."""
    assert value(build).tolist() == result


def test_slices_of_an_absurd_batch() -> None:
    """Halves of a batch that is said to have a million million rows, joined the wrong way round."""
    w = Writer()
    x = w.op("Placeholder", shape=(10**12, 3))
    parts = w.op("Split", number(w, 0), x, num_split=2).partition(":")[0]
    ends = [w.op("Relu", w.op("MatMul", f"{parts}:{k}", w.variable(0))) for k in (1, 0)]
    assert find([w.graph([w.op("ConcatV2", *ends, number(w, 0))])], {}).wrapper is None


# ---- what is joined ----


def order(
    make: Callable[[Writer, list[str]], str], rows: Sequence[Sequence[int]]
) -> list[int] | None:
    """The order of the rows of what is made; None where nothing is put together, or not rows."""
    w = Writer()
    x = w.op("Placeholder", shape=(-1, 3))
    operands = [w.op("Relu", x, shape=(-1, 3)) for _ in rows]
    tensors, (root, *refs) = tensors_of(w, make(w, operands), *operands)
    if not join_operands(tensors, root):
        return None
    whole = numbered((N, 3))
    given = {ref: whole[list(taken)] for ref, taken in zip(refs, rows, strict=True)}
    try:
        found = rows_of(Values(tensors, N, 3, given).of(root), whole)
    except (Unknown, DataDependent, ValueError):
        return None
    return None if found is None else [int(row) for row in found]


def concat(axis: int) -> Callable[[Writer, list[str]], str]:
    return lambda w, xs: w.op("ConcatV2", *xs, w.op("Const", value=axis), shape=(-1, 3))


def stacked(axis: int, *shape: int) -> Callable[[Writer, list[str]], str]:
    return lambda w, xs: w.op(
        "Reshape", w.op("Pack", *xs, axis=axis), w.op("Const", value=list(shape))
    )


def dealt(w: Writer, xs: list[str]) -> str:
    return joined(w, Case((), 1, len(xs), "dealt", None), xs, 0)


@pytest.mark.parametrize(
    ("make", "rows", "result"),
    [
        (concat(0), [range(4), range(4, 8)], [*range(8)]),
        (concat(0), [range(4, 8), range(4)], [4, 5, 6, 7, 0, 1, 2, 3]),
        (concat(-2), [range(4), range(4, 8)], [*range(8)]),
        (concat(1), [range(4), range(4, 8)], None),
        (concat(-1), [range(4), range(4, 8)], None),
        (stacked(1, -1, 3), [range(0, 8, 2), range(1, 8, 2)], [*range(8)]),
        (stacked(1, -1, 3), [range(1, 8, 2), range(0, 8, 2)], [1, 0, 3, 2, 5, 4, 7, 6]),
        (stacked(1, -1, 3), [range(2), range(2, 8)], None),
        (dealt, [range(0, 8, 2), range(1, 8, 2)], [*range(8)]),
        (lambda w, xs: w.op("AddN", *xs), [range(4), range(4, 8)], None),
        (lambda w, xs: w.op("Mul", *xs), [range(4), range(4, 8)], None),
    ],
    ids=["end to end", "the wrong way round", "from behind", "along the features", "the last axis", "interleaved",
         "interleaved wrongly", "of unlike size", "dealt back", "a sum", "a product"],
)  # fmt: skip
def test_the_order_of_the_rows(
    make: Callable[[Writer, list[str]], str],
    rows: Sequence[Sequence[int]],
    result: list[int] | None,
) -> None:
    assert order(make, rows) == result


# ---- whether two are one computation ----


def dense(
    w: Writer, x: str, *, kind: str = "Relu", variable: int = 0, scale: float = 0.5, **attrs: Any
) -> str:
    return w.op(
        "Mul",
        w.op(kind, w.op("MatMul", x, w.variable(variable)), **attrs),
        w.op("Const", value=scale),
    )


def walked(make: Callable[[Writer, list[str]], tuple[str, str]]) -> Copies | None:
    """Two tensors made of the halves of a batch, walked back together; None where they are not alike."""
    w = Writer()
    halves = cut(w, "split", w.op("Placeholder", shape=(-1, 3)), 2)
    tensors, (first, second, *parts) = tensors_of(w, *make(w, halves), *halves)
    source = tensors.reads(parts[0].call)[1]
    try:
        return walk_back(
            tensors, (first, second), lambda column: source if column == (*parts,) else None
        )
    except Unlike:
        return None


def test_towers_are_one_computation_on_other_rows() -> None:
    copies = walked(lambda w, parts: (dense(w, parts[0]), dense(w, parts[1])))
    assert copies is not None
    assert len(copies.cut_points) == 1
    assert not copies.calls[0] & copies.calls[1]


@pytest.mark.parametrize(
    "other",
    [
        lambda w, x: dense(w, x, kind="Elu"),
        lambda w, x: dense(w, x, variable=1),
        lambda w, x: dense(w, x, scale=0.25),
        lambda w, x: dense(w, x, alpha=0.5),
        lambda w, x: w.op("Relu", dense(w, x)),
    ],
    ids=[
        "another operation",
        "another variable",
        "another constant",
        "another attribute",
        "one more operation",
    ],
)
def test_one_difference_is_enough(other: Callable[[Writer, str], str]) -> None:
    assert walked(lambda w, parts: (dense(w, parts[0]), other(w, parts[1]))) is None


def test_notes_and_seeds_are_no_difference() -> None:
    assert (
        walked(
            lambda w, p: (dense(w, p[0], seed=1, _class="a"), dense(w, p[1], seed=2, _class="b"))
        )
        is not None
    )


def test_variables_are_two_however_alike() -> None:
    w = Writer()
    made = [w.op("ReadVariableOp", w.op("VarHandleOp", shared_name=b"v")) for _ in range(2)]
    tensors, (first, second) = tensors_of(w, *made)
    assert tensors.differ((first, second)) is None
    assert tensors.differ((tensors.reads(first.call)[0], tensors.reads(second.call)[0])) is not None


def test_rows_that_both_read() -> None:
    """Both towers on one part of the batch: nothing is put together."""
    assert walked(lambda w, parts: (dense(w, parts[0]), dense(w, parts[0]))) is None


def test_what_is_read_twice_is_read_so_in_both() -> None:
    """A * a is not b * a."""
    assert walked(lambda w, p: (w.op("Mul", p[0], p[0]), w.op("Mul", p[1], p[1]))) is not None
    assert walked(lambda w, p: (w.op("Mul", p[0], p[0]), w.op("Mul", p[1], p[0]))) is None


def test_three_parts_in_two_towers() -> None:
    """A * a is not b * c, though all three are parts of one batch."""
    w = Writer()
    a, b, c = cut(w, "split", w.op("Placeholder", shape=(-1, 3)), 3)
    tensors, (square, other, *parts) = tensors_of(w, w.op("Mul", a, a), w.op("Mul", b, c), a)
    source = tensors.reads(parts[0].call)[1]
    with pytest.raises(Unlike, match="in different ways"):
        walk_back(tensors, (square, other), lambda column: source if parts[0] in column else None)


def body(name: str, kind: str) -> OpGraph:
    return OpGraph(name, {"o": Op("o", kind, ("a",))}, ("a",), ("o:0",))


@pytest.mark.parametrize(("kind", "same"), [("Relu", True), ("Elu", False)])
def test_bodies_of_loops_are_compared(kind: str, same: bool) -> None:
    library = {"f": body("f", "Relu"), "g": body("g", kind)}
    loops = [
        Op("p", "While", ("x:0",), attrs={"body": GraphFunction("f")}),
        Op("q", "While", ("x:0",), attrs={"body": GraphFunction("g")}),
    ]
    root = OpGraph(
        "", {op.name: op for op in [Op("x", "Placeholder", ()), *loops]}, (), ("p:0", "q:0")
    )
    tensors = ServingTensors(GraphView(root, library), 2)
    assert (tensors.differ((tensors.outputs[0], tensors.outputs[1])) is None) is same


@pytest.mark.parametrize(("pair", "same"), [((0, 0), True), ((0, 1), False)])
def test_constants_are_compared_by_bytes_and_dtype(pair: tuple[int, int], same: bool) -> None:
    w = Writer()
    made = [w.op("Const", value=value) for value in (1, 1.0, 1, 1.0)]
    tensors, refs = tensors_of(w, *made)
    assert (tensors.differ((refs[pair[0]], refs[2 + pair[1]])) is None) is same


@pytest.mark.parametrize(
    ("other", "same"), [((1.0, 2.0), True), ((1.0, 3.0), False), (None, False)]
)
def test_constants_that_a_function_captures_are_compared_too(
    other: tuple[float, ...] | None, same: bool
) -> None:
    """Each tower may capture one of its own, handed in as an argument; of others nothing is known."""
    known = {"a": np.array((1.0, 2.0)), **({} if other is None else {"b": np.array(other)})}
    ops = {name: Op(name, "Mul", ("x", of)) for name, of in (("p", "a"), ("q", "b"))}
    root = OpGraph("", ops, ("x", "a", "b"), ("p:z:0", "q:z:0"), known=known)
    tensors = ServingTensors(GraphView(root, {}), 2)
    of_each = (tensors.reads(tensors.outputs[0].call)[1], tensors.reads(tensors.outputs[1].call)[1])
    assert (tensors.differ(of_each) is None) is same
    assert tensors.differ((of_each[0], tensors.reads(tensors.outputs[0].call)[0])) is not None


def test_a_template_that_is_called_is_seen_in_every_call() -> None:
    """The same operation in two chains of calls is two tensors; arguments are followed outward."""
    ops = [
        Op("x", "Placeholder", (), shapes=((-1, 3),)),
        Op("y", "Placeholder", (), shapes=((-1, 3),)),
    ]
    calls = [
        Op(n, "PartitionedCall", (r,), attrs={"f": GraphFunction("f")})
        for n, r in (("p", "x:0"), ("q", "y:0"))
    ]
    root = OpGraph("", {op.name: op for op in [*ops, *calls]}, (), ("p:0", "q:0"))
    tensors = ServingTensors(GraphView(root, {"f": body("f", "Relu")}), 2)
    one, other = tensors.outputs
    assert (one.layer, other.layer, one == other) == ("o", "o", False)
    assert tensors.reads(one.call) == (tensors.ref(Place((), "x:0")),)
    assert tensors.differ((one, other)) is None


def test_outputs_of_other_names_are_other_tensors() -> None:
    """`y:0` and `idx:0` of one operation in a function."""
    root = OpGraph("f", {"u": Op("u", "Unique", ("a",))}, ("a",), ("u:y:0", "u:idx:0", "u:y:0"))
    tensors = ServingTensors(GraphView(root, {}), 2)
    first, second, again = tensors.outputs
    assert (first == again, first == second) == (True, False)


# ---- casts ----


def test_casts_of_one_tensor_to_one_type_are_one_tensor() -> None:
    """Mixed precision: every layer casts what it reads. Another type, and another tensor, are others."""
    w = Writer()
    x, y = w.op("Placeholder", shape=(-1, 3)), w.op("Placeholder", shape=(-1, 3))
    casts = [
        w.op("Cast", x, DstT=19),
        w.op("Cast", x, DstT=19),
        w.op("Cast", x, DstT=14),
        w.op("Cast", y, DstT=19),
    ]
    _, (half, again, bfloat16, other) = tensors_of(w, *casts)
    assert half == again
    assert len({half, bfloat16, other}) == 3


def test_casts_of_casts_are_themselves() -> None:
    """However long a file makes their chain."""
    w = Writer()
    last = w.op("Placeholder", shape=(-1, 3))
    for _ in range(5000):
        last = w.op("Cast", last, DstT=19)
    before = list(w.ops)[-2] + ":0"
    _, (one, two) = tensors_of(w, w.op("Cast", before, DstT=19), last)
    assert one != two
