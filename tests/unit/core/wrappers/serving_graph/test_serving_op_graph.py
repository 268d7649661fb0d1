"""Tensors followed through calls, in and out, to the operation that makes them."""

from __future__ import annotations

import pytest

from unnest.core.wrappers.serving_graph.serving_op_graph import (
    Broken,
    GraphFunction,
    GraphView,
    Op,
    OpGraph,
    Place,
    number,
)


def graph(
    name: str, ops: list[Op], args: tuple[str, ...] = (), rets: tuple[str, ...] = (), **more: object
) -> OpGraph:
    return OpGraph(name, {op.name: op for op in ops}, args, rets, **more)  # type: ignore[arg-type]


def call(name: str, function: str, *inputs: str) -> Op:
    return Op(name, "PartitionedCall", inputs, attrs={"f": GraphFunction(function)})


# f(a, b) = relu(b), a
F = graph(
    "f",
    [Op("r", "Relu", ("b",), shapes=((-1, 3),))],
    ("a", "b"),
    ("r:activations:0", "a"),
    arg_shapes=((5,), None),
)
ROOT = graph("", [Op("x", "Placeholder", (), shapes=((-1, 3),)), Op("i", "Identity", ("x:0",)),
                  Op("s", "Softmax", ("c:1",)), call("c", "f", "s:0", "i:0")])  # fmt: skip
VIEW = GraphView(ROOT, {"f": F})


@pytest.mark.parametrize(
    ("tensor", "place"),
    [
        ("x:0", Place((), "x:0")),
        ("i:0", Place((), "x:0")),
        ("c:0", Place(("c",), "r:activations:0")),
        ("c:1", Place((), "s:0")),
    ],
    ids=["made here", "passed on", "made in a function", "in and out again"],
)
def test_a_tensor_is_followed_to_its_maker(tensor: str, place: Place) -> None:
    assert VIEW.resolve(Place((), tensor)) == place


def test_what_is_read_inside_is_followed_outward() -> None:
    (read,) = VIEW.inputs(Place(("c",), "r:activations:0"))
    assert VIEW.resolve(read) == Place((), "x:0")
    op = VIEW.op(Place(("c",), "r:activations:0"))
    assert op is not None
    assert op.kind == "Relu"
    assert VIEW.op(Place((), "nothing")) is None


def test_a_value_has_several_names_in_the_root() -> None:
    """The first that is met counts, and not the one nearest to its maker."""
    read = VIEW.inputs(Place(("c",), "r:activations:0"))[0]
    assert VIEW.at_root(read) == "i:0"
    assert VIEW.at_root(Place(("c",), "r:activations:0")) is None


def test_the_shape_is_from_whichever_name_states_one() -> None:
    assert VIEW.shape(Place((), "i:0")) == (-1, 3)
    assert VIEW.shape(Place((), "c:0")) == (-1, 3)
    assert VIEW.shape(Place(("c",), "a")) == (5,)
    assert VIEW.shape(Place((), "s:0")) is None


@pytest.mark.parametrize(
    ("root", "library"),
    [
        (graph("", [call("c", "g", "c:0")]), {}),
        (
            graph("", [call("c", "f", "x:0", "x:0"), Op("x", "Placeholder", ())]),
            {"f": graph("f", [], ("a",), ())},
        ),
        (graph("", [call("c", "f")]), {"f": graph("f", [], ("a",), ("a",))}),
        (graph("", [call("c", "f")]), {"f": graph("f", [], (), ("lost:0",))}),
        (graph("", [call("c", "f")]), {"f": graph("f", [call("c", "f")], (), ("c:0",))}),
        (graph("", [Op("c", "Identity", ("c:0",))]), {}),
    ],
    ids=[
        "no such function",
        "no such output",
        "no such argument",
        "made by nothing",
        "calls itself",
        "reads itself",
    ],
)
def test_a_graph_that_refers_to_what_it_does_not_hold(
    root: OpGraph, library: dict[str, OpGraph]
) -> None:
    with pytest.raises(Broken):
        GraphView(root, library).resolve(Place((), "c:0"))


@pytest.mark.parametrize(
    ("tensor", "output"), [("x", 0), ("x:3", 3), ("r:activations:2", 2), ("r:activations", 0)]
)
def test_the_number_of_an_output(tensor: str, output: int) -> None:
    assert number(tensor) == output
