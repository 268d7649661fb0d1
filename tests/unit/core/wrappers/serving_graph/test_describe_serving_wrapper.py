"""Scope of a wrapper in a serving graph, the size of its template, and the batch it was traced for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from tests.property.opgraphs import Writer, cut
from unnest.core.wrappers.serving_graph.describe_serving_wrapper import (
    built_for,
    objection,
    parameters,
    scope,
)
from unnest.core.wrappers.serving_graph.recognise_serving_graph import ServingWrapper, find
from unnest.core.wrappers.serving_graph.serving_op_graph import OpGraph


def unchanged(_: Writer, x: str) -> str:
    return x


def through(kind: str) -> Callable[[Writer, str], str]:
    return lambda w, x: w.op(kind, x, shape=(-1, 3))


def graph_of(
    before: Callable[[Writer, str], str] = unchanged, after: Callable[[Writer, str], str] = unchanged, rows: int = -1,
    inside: Callable[[Writer, str], str] = unchanged,
) -> tuple[OpGraph, ServingWrapper, str]:  # fmt: skip
    """A wrapper with operations before, inside and after it; the served tensor."""
    w = Writer()
    x = before(w, w.op("Placeholder", shape=(rows, 3)))
    ends = [w.op("MatMul", inside(w, part), w.variable(0)) for part in cut(w, "split", x, 2)]
    served = after(w, w.op("ConcatV2", *ends, w.op("Const", value=0), shape=(rows, 3)))
    graph = w.graph([served])
    towers = find([graph], {}).wrapper
    assert towers is not None
    return graph, towers, served


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        (unchanged, unchanged, "whole"),
        (through("Cast"), unchanged, "whole"),
        (unchanged, through("Identity"), "whole"),
        (unchanged, through("Softmax"), "head"),
        (through("Relu"), unchanged, "embedded"),
        (through("Relu"), through("Softmax"), "embedded"),
    ],
    ids=["all of it", "after a cast", "handed on", "under a head", "after a layer", "between two"],
)
def test_where_a_wrapper_sits(
    before: Callable[[Writer, str], str], after: Callable[[Writer, str], str], where: str
) -> None:
    graph, towers, served = graph_of(before, after)
    assert scope(graph, {}, [[served]], towers) == where


def test_one_signature_that_serves_the_merge_alone_is_enough() -> None:
    graph, towers, served = graph_of(after=through("Softmax"))
    assert scope(graph, {}, [[served], towers.merges], towers) == "whole"
    assert scope(graph, {}, [["n0:0"]], towers) == "embedded"


@pytest.mark.parametrize(
    ("shape", "count"),
    [((3, 4), 12), ((), 1), ((-1, 4), None), (None, None)],
    ids=["known", "scalar", "open", "untold"],
)
def test_parameters_are_those_of_one_tower(
    shape: tuple[int, ...] | None, count: int | None
) -> None:
    w = Writer()
    variable = w.op("VarHandleOp", shape=None)
    handle = w.ops[variable.partition(":")[0]]
    w.ops[handle.name] = handle.__class__(handle.name, handle.kind, (), attrs={"shape": shape})
    parts = cut(w, "split", w.op("Placeholder", shape=(-1, 3)), 2)
    ends = [w.op("MatMul", part, w.op("ReadVariableOp", variable)) for part in parts]
    graph = w.graph([w.op("ConcatV2", *ends, w.op("Const", value=0))])
    towers = find([graph], {}).wrapper
    assert towers is not None
    assert parameters(graph, {}, towers) == count


@pytest.mark.parametrize(
    ("shapes", "only_normalizes"),
    [
        ([(3,), (3,)], True),
        ([(3,), (3, 3)], False),
        ([(3,), ()], False),
        ([(3,), None], False),
        ([], False),
    ],
    ids=["vectors", "a matrix", "a number", "untold", "no weights"],
)
def test_towers_that_only_scale_and_shift_are_none(
    shapes: list[tuple[int, ...] | None], only_normalizes: bool
) -> None:
    w = Writer()
    x = w.op("Placeholder", shape=(-1, 3))
    variables = [w.op("VarHandleOp") for _ in shapes]
    for variable, shape in zip(variables, shapes, strict=True):
        handle = w.ops[variable.partition(":")[0]]
        w.ops[handle.name] = dataclasses.replace(handle, attrs={"shape": shape})
    ends = []
    for part in cut(w, "split", x, 2):
        end = w.op("Neg", part)
        for variable in variables:
            end = w.op("Mul", end, w.op("ReadVariableOp", variable))
        ends.append(end)
    graph = w.graph([w.op("ConcatV2", *ends, w.op("Const", value=0))])
    found = find([graph], {}).wrapper
    assert found is not None
    reason = (
        "the towers hold no weights, except those of normalizations" if only_normalizes else None
    )
    assert objection(graph, {}, [], found) == reason
    assert objection(graph, {}, [graph.rets], found) is None  # the whole of what is served


def test_what_is_objected_to_is_a_near_miss() -> None:
    graph, towers, _ = graph_of()
    near = find([graph], {}, objection=lambda _: "they only normalize")
    assert near.wrapper is None
    assert [(miss.layer, miss.reason) for miss in near.near_misses] == [
        (towers.merges[0].partition(":")[0], "they only normalize")
    ]


@pytest.mark.parametrize(
    ("rows", "first", "built"), [(8, 4, 4), (8, -1, None), (8, 3, None), (-1, 4, None)],
    ids=["its share", "open", "another number", "no fixed batch"],
)  # fmt: skip
def test_a_template_may_hold_its_share_of_the_batch_as_a_number(
    rows: int, first: int, built: int | None
) -> None:
    def reshaped(w: Writer, x: str) -> str:
        return w.op("Reshape", x, w.op("Const", value=[first, 3]), shape=(first, 3))

    graph, towers, _ = graph_of(rows=rows, inside=reshaped)
    assert built_for(graph, {}, towers) == built


def size_of_batch(w: Writer, x: str) -> str:
    """`tf.shape(x)[0]` of a tensor of four rows: TensorFlow writes the shape down."""
    begin, end, step = (w.op("Const", value=[at]) for at in (0, 1, 1))
    rows = w.op("StridedSlice", w.op("Const", value=[4, 3]), begin, end, step, shape=())
    return w.op("Reshape", x, w.op("Pack", rows, w.op("Const", value=3)), shape=(4, 3))


def size_of_row(w: Writer, x: str) -> str:
    begin, end, step = (w.op("Const", value=[at]) for at in (1, 2, 1))
    columns = w.op("StridedSlice", w.op("Const", value=[4, 3]), begin, end, step, shape=())
    return w.op("Reshape", x, w.op("Pack", w.op("Const", value=-1), columns), shape=(4, 3))


def constant(w: Writer, value: np.ndarray) -> str:
    tensor = w.op("Const")
    name = tensor.partition(":")[0]
    w.ops[name] = dataclasses.replace(w.ops[name], value=value.astype(np.float32))
    return tensor


def zeros(w: Writer, x: str) -> str:
    return w.op("AddV2", x, constant(w, np.zeros((4, 3))), shape=(4, 3))


def ones(w: Writer, x: str) -> str:
    return w.op("MatMul", x, constant(w, np.ones((4, 3))), shape=(4, 3))


def zeros_of_no_rows(w: Writer, x: str) -> str:
    return w.op("AddV2", x, constant(w, np.zeros(4)), shape=(4, 3))


def _variable(w: Writer, shape: tuple[int, ...]) -> str:
    """One variable for all towers."""
    if 9 not in w.variables:
        w.variables[9] = w.op("VariableV2")
        name = w.variables[9].partition(":")[0]
        w.ops[name] = dataclasses.replace(w.ops[name], attrs={"shape": shape})
    return w.variables[9]


def loop_state(w: Writer, x: str) -> str:
    """A loop that begins with what a variable holds."""
    return w.op("AddV2", x, w.op("Merge", w.op("Enter", _variable(w, (4, 3)))), shape=(4, 3))


def loop_kernel(w: Writer, x: str) -> str:
    """A loop that reads a kernel."""
    return w.op("MatMul", x, w.op("Enter", _variable(w, (4, 3))), shape=(4, 3))


@pytest.mark.parametrize("inside", [size_of_batch, zeros, loop_state])
def test_a_template_may_be_built_for_the_rows_of_its_slice(
    inside: Callable[[Writer, str], str],
) -> None:
    graph, towers, _ = graph_of(rows=8, inside=inside)
    assert built_for(graph, {}, towers) == 4


@pytest.mark.parametrize("inside", [size_of_row, ones, zeros_of_no_rows, loop_kernel])
def test_what_is_as_long_as_a_slice_need_not_be_its_rows(
    inside: Callable[[Writer, str], str],
) -> None:
    graph, towers, _ = graph_of(rows=8, inside=inside)
    assert built_for(graph, {}, towers) is None
