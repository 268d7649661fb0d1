"""The graph of a model: who reads what, and the order that Keras keeps layers in."""

from __future__ import annotations

import pytest

from tests.unit.core.build import DENSE, functional, layer, source
from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph, in_order, keras_order, reached
from unnest.core.model import CallId, Ref


def diamond(*, swapped: bool = False) -> Graph:
    """X -> a, x -> b, y = [a, b] or [b, a]; stored in the order x, a, b, y."""
    ends = ("b", "a") if swapped else ("a", "b")
    return read(functional(source(), layer("a", ["x"]), layer("b", ["x"]), layer("y", ends)))


def test_readers_are_calls_with_the_tensor_that_they_read() -> None:
    readers = diamond().readers
    assert readers[CallId("x", 0)] == (
        (CallId("a", 0), Ref("x", 0, 0)),
        (CallId("b", 0), Ref("x", 0, 0)),
    )
    assert CallId("y", 0) not in readers  # no call reads the model's own outputs


def test_a_call_that_reads_a_tensor_twice_is_one_reader() -> None:
    graph = read(functional(source(), layer("y", ["x", "x"])))
    assert graph.readers[CallId("x", 0)] == ((CallId("y", 0), Ref("x", 0, 0)),)
    assert graph.call(CallId("y", 0)).reads == (Ref("x", 0, 0), Ref("x", 0, 0))


@pytest.mark.parametrize(
    ("swapped", "order"), [(False, ["x", "a", "b", "y"]), (True, ["x", "b", "a", "y"])]
)
def test_layers_of_one_depth_stand_as_a_walk_back_from_the_outputs_meets_them(
    swapped: bool, order: list[str]
) -> None:
    graph = diamond(swapped=swapped)
    assert keras_order(lambda at: graph.call(at).reads, graph.inputs, graph.outputs) == order


def test_a_shared_layer_stands_where_its_deepest_call_is() -> None:
    """`s` is called on x and, behind a, again: it comes before a."""
    model = functional(source(), layer("a", ["s"]), layer("s", ["x"], ["a"]), outputs=[("s", 1, 0)])
    graph = read(model)
    assert keras_order(lambda at: graph.call(at).reads, graph.inputs, graph.outputs) == [
        "x",
        "s",
        "a",
    ]


def test_a_shallow_call_that_is_met_later_does_not_lift_a_shared_layer() -> None:
    """`s` is called on x twice, once just before the output: it stays as deep as c, and is met first."""
    model = functional(
        source(), layer("s", ["x"], ["x"]), layer("c", ["x"]), layer("b", [("s", 0, 0), "c"]),
        layer("y", [("s", 1, 0), "b"]),
    )  # fmt: skip
    graph = read(model)
    assert keras_order(lambda at: graph.call(at).reads, graph.inputs, graph.outputs) == [
        "x",
        "s",
        "c",
        "b",
        "y",
    ]


def test_an_input_that_nothing_reads_stands_last_among_the_outputs_depth_but_first_met() -> None:
    graph = read(
        functional(
            source(), source("idle"), layer("y", ["x"]), inputs=[("x", 0, 0), ("idle", 0, 0)]
        )
    )
    assert keras_order(lambda at: graph.call(at).reads, graph.inputs, graph.outputs) == [
        "x",
        "idle",
        "y",
    ]


def test_a_graph_of_20_000_layers_is_ordered_without_recursion() -> None:
    chain = [source(), *(layer(f"l{i}", [f"l{i - 1}" if i else "x"]) for i in range(20_000))]
    graph = read(functional(*chain, outputs=[("l19999", 0, 0)]))
    order = keras_order(lambda at: graph.call(at).reads, graph.inputs, graph.outputs)
    assert order == ["x", *(f"l{i}" for i in range(20_000))]


def test_a_sequential_takes_one_tensor_whether_or_not_it_stores_its_input() -> None:
    assert read({"class_name": "Sequential", "config": [layer("a")]}).arity == 1
    assert diamond().arity == 1


def test_calls_come_after_what_they_read() -> None:
    """Stored the other way round; among calls that are ready, in stored order."""
    graph = read(functional(
        layer("y", ["b", "a"], kind="Add"), layer("b", ["a"], **DENSE), layer("a", ["x"], **DENSE), source(),
    ))  # fmt: skip
    assert [at.layer for at, _ in in_order(graph)] == ["x", "a", "b", "y"]


EDGES: dict[str, list[str]] = {
    name: list(to) for name, to in {"a": "bc", "b": "d", "c": "d", "d": "", "e": "a"}.items()
} | {"loop": ["loop"]}


@pytest.mark.parametrize(
    ("starts", "expected"),
    [("a", "abcd"), ("d", "d"), ("bc", "bcd"), ("e", "abcde"), ("", ""), (["loop"], ["loop"])],
)
def test_all_that_edges_lead_to(starts: list[str], expected: list[str]) -> None:
    assert reached(starts, lambda name: EDGES[name]) == set(expected)


def test_each_is_asked_once() -> None:
    asked: list[str] = []

    def leads_to(name: str) -> list[str]:
        asked.append(name)
        return EDGES[name]

    reached("aa", leads_to)
    assert sorted(asked) == ["a", "b", "c", "d"]


def test_a_chain_of_any_length() -> None:
    assert len(reached([0], lambda n: [n + 1] if n < 100_000 else [])) == 100_001
