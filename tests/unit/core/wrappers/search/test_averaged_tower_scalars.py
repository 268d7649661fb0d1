"""Numbers of which there is one per tower: a mean of them may be cut, however it is written; nothing else may."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.property.opgraphs import MEANS, Writer, cut, loss
from unnest.core.wrappers.search.averaged_tower_scalars import averages
from unnest.core.wrappers.serving_graph.serving_op_graph import GraphView, Place
from unnest.core.wrappers.serving_graph.serving_tensor_graph import ServingTensors

Combine = Callable[[Writer, Sequence[str]], str]


def averaged(
    w: Writer, output: str, slices: Sequence[str], merges: Sequence[str] = ()
) -> list[tuple[str, list[str]]]:
    """Every mean with what it is the mean of, by names."""
    tensors = ServingTensors(GraphView(w.graph([output]), {}), 2)
    parts = tuple(tensors.ref(Place((), name)) for name in slices)
    found = averages(tensors, [parts], [tensors.ref(Place((), name)) for name in merges])
    return [
        (tensors.place(mean).tensor, [tensors.place(ref).tensor for ref in numbers])
        for mean, numbers, _ in found
    ]


def means(combine: Combine, towers: int = 2) -> tuple[list[tuple[str, list[str]]], str, list[str]]:
    """The means that are seen, the output, and the towers' losses."""
    w = Writer()
    slices = cut(w, "split", w.op("Placeholder", shape=(-1, 3)), towers)
    losses = [loss(w, part) for part in slices]
    output = combine(w, losses)
    return averaged(w, output, slices), output, losses


@pytest.mark.parametrize("towers", [2, 3, 5])
@pytest.mark.parametrize("combine", MEANS.values(), ids=list(MEANS))
def test_a_mean_is_seen_however_it_is_written(combine: Combine, towers: int) -> None:
    found, output, losses = means(combine, towers)
    assert found == [(output, losses)]


def weighted(w: Writer, xs: Sequence[str]) -> str:
    parts = [
        w.op("Mul", x, w.op("Const", value=share))
        for x, share in zip(xs, (0.75, 0.25), strict=True)
    ]
    return w.op("AddN", *parts)


@pytest.mark.parametrize(
    "combine",
    [
        lambda w, xs: w.op("AddN", *xs),
        weighted,
        lambda w, xs: w.op("RealDiv", w.op("AddN", *xs), w.op("Const", value=3.0)),
        lambda w, xs: w.op("RealDiv", w.op("AddN", xs[0], xs[0]), w.op("Const", value=2.0)),
        lambda w, xs: w.op("Maximum", *xs),
        lambda w, xs: w.op("Pack", *xs, axis=0),
    ],
    ids=["a sum", "weighted", "another number", "of one tower", "the largest", "both"],
)
def test_nothing_else_is_a_mean(combine: Combine) -> None:
    assert means(combine)[0] == []


def test_what_is_computed_of_a_mean_is_looked_behind() -> None:
    found, _, losses = means(lambda w, xs: w.op("Sqrt", MEANS["divided"](w, xs)))
    assert [towers for _, towers in found] == [losses]


def test_what_lies_behind_a_merge_is_left_alone() -> None:
    w = Writer()
    slices = cut(w, "split", w.op("Placeholder", shape=(-1, 3)), 2)
    mean = MEANS["divided"](w, [loss(w, part) for part in slices])
    assert averaged(w, mean, slices, [mean]) == []
    assert [tensor for tensor, _ in averaged(w, mean, slices)] == [mean]
