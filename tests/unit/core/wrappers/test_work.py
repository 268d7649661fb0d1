"""Recognition costs in proportion to what there is to recognise: counted in calls of our functions, by no clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from tests.property.opgraphs import Writer, template
from tests.unit.core.build import DENSE, functional, layer, nested, source
from tests.unit.core.wrappers import inline
from tests.unit.core.wrappers.one_layer import function
from tests.unit.core.wrappers.towers import arguments
from tests.unit.core.wrappers.towers import model as parallel
from unnest.budget import Budget, limited
from unnest.core.make_plan import plan
from unnest.core.model import Stored
from unnest.core.wrappers.serving_graph import recognise_serving_graph
from unnest.core.wrappers.serving_graph.serving_op_graph import OpGraph

MORE_THAN_TWICE = 2.2
"""The most that twice the work may cost; 4 would be quadratic."""

BYTES_A_NODE = 220
"""What an operation takes in a saved_model.pb; those of genuine files take 228 or more."""


def counted(work: Callable[[], object]) -> int:
    """How many of our functions are called."""
    count = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and "unnest" in frame.f_code.co_filename

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def planned(model: dict[str, Any], wrappers: int) -> Callable[[], None]:
    def work() -> None:
        with limited(Budget.of("", 0, trust=True)):
            made = plan(Stored(contents="model", architecture=model))
        assert len(made.wrappers) == wrappers

    return work


def levels(count: int) -> Callable[[], None]:
    """So many wrappers, one in the other; the arguments of the slices are bounds of rows."""
    model = functional(
        source("tx", (None, 3)),
        layer("td", ["tx"], **DENSE),
        inputs=[("tx", 0, 0)],
        outputs=[("td", 0, 0)],
    )
    for _ in range(count):
        outer = parallel([[arguments(f"s{k}", {"i": k, "parts": 2}) for k in range(2)]])
        net = next(entry for entry in outer["config"]["layers"] if entry["name"] == "net")
        net.update(class_name="Model", config={**model["config"], "name": "net"})
        model = outer
    return planned(model, count)


def layers(count: int) -> Callable[[], None]:
    """A chain of so many layers around a wrapper, half of them before it."""
    chain = [
        layer(f"d{n}", [f"d{n - 1}" if n else "x"], trainable=True, **DENSE) for n in range(count)
    ]
    middle = count // 2
    reads = [[[f"d{middle - 1}", 0, 0, {}]]]
    cut = [
        {**arguments(f"s{k}", {"i": k, "parts": 2}), "name": f"s{k}", "inbound_nodes": reads}
        for k in range(2)
    ]
    inner = functional(
        source("tx", (None, 3)),
        layer("td", ["tx"], units=3),
        inputs=[("tx", 0, 0)],
        outputs=[("td", 0, 0)],
        name="t",
    )
    merge = layer("m", [("t", 1, 0), ("t", 2, 0)], kind="Concatenate", axis=0)
    chain[middle]["inbound_nodes"] = [[["m", 0, 0, {}]]]
    entries = [
        source(),
        *chain[:middle],
        *cut,
        nested(inner, ["s0"], ["s1"]),
        merge,
        *chain[middle:],
    ]
    return planned(functional(*entries, outputs=[(f"d{count - 1}", 0, 0)], name="outer"), 1)


def template_layers(count: int) -> Callable[[], None]:
    """A wrapper around a chain of so many layers."""
    chain = [layer(f"d{n}", [f"d{n - 1}" if n else "tx"], **DENSE) for n in range(count)]
    return planned(wrapped(source("tx", (None, 3)), *chain, end=f"d{count - 1}"), 1)


def nested_models(count: int) -> Callable[[], None]:
    """A wrapper around a chain of so many models."""
    models = [
        functional(
            source("i"),
            layer("d", ["i"], **DENSE),
            inputs=[("i", 0, 0)],
            outputs=[("d", 0, 0)],
            name=f"n{n}",
        )
        for n in range(count)
    ]
    chain = [
        nested(model, [(f"n{n - 1}", 1, 0) if n else ("tx", 0, 0)])
        for n, model in enumerate(models)
    ]
    return planned(wrapped(source("tx", (None, 3)), *chain, end=f"n{count - 1}", node=1), 1)


def towers(count: int) -> Callable[[], None]:
    """So many slices by code that is followed."""
    slices = [arguments(f"s{k}", {"i": k, "parts": count}) for k in range(count)]
    for each in slices:
        each["config"]["function"] = function(cut)
    return planned(parallel([slices]), 1)


tf: Any = None  # what the code of `cut` names; it is read, not called


def cut(x: Any, i: int, parts: int) -> Any:
    size = tf.shape(x)[0] // parts
    return x[i * size : (i + 1) * size]


def wrapped(*template: dict[str, Any], end: str, node: int = 0) -> dict[str, Any]:
    """Two towers of one template, whose output is `end`'s."""
    outer = parallel([[arguments(f"s{k}", {"i": k, "parts": 2}) for k in range(2)]])
    net = next(entry for entry in outer["config"]["layers"] if entry["name"] == "net")
    net.update(functional(*template, inputs=[("tx", 0, 0)], outputs=[(end, node, 0)]))
    return outer


def operations(count: int) -> Callable[[], None]:
    """Two towers of so many operations in all."""
    writer = Writer()
    steps = [("Relu", (n,)) if n % 2 else ("BiasAdd", (n,)) for n in range(count // 3)]
    x = writer.op("Placeholder", shape=(-1, 3))
    axis = writer.op("Const", value=[0])
    cut = writer.op("Split", axis, x, num_split=2).partition(":")[0]
    ends = [template(writer, steps, [f"{cut}:{k}"])[-1] for k in range(2)]
    graph = writer.graph([writer.op("ConcatV2", *ends, axis)])
    return lambda: found_two(graph)


def joins_of_columns(count: int) -> Callable[[], None]:
    """A chain of so many joins of parts of a row, as attention has them: each is looked at, and none is of towers."""
    writer, x, whole = inline.Writer(), inline.X, {"start": None, "stop": None, "step": None}
    for _ in range(count):
        columns = [{"start": first, "stop": first + 2, "step": None} for first in (0, 2)]
        parts = [
            writer.call("__operators__.getitem", x, slice_spec=[whole, each]) for each in columns
        ]
        x = writer.call("concat", parts, axis=1)
    return planned(writer.model(x), 0)


def found_two(graph: OpGraph) -> None:
    with limited(Budget.of("", len(graph.ops) * BYTES_A_NODE)):
        towers = recognise_serving_graph.find([graph], {}).wrapper
    assert towers is not None
    assert towers.towers == 2


@pytest.mark.parametrize(
    ("made", "size"),
    [
        (levels, 100),
        (layers, 1_000),
        (template_layers, 1_000),
        (nested_models, 200),
        (towers, 200),
        (operations, 8_000),
        (joins_of_columns, 100),
    ],
    ids=[
        "levels",
        "layers",
        "layers of the template",
        "models in the template",
        "towers",
        "operations",
        "joins",
    ],
)
def test_twice_as_much_costs_twice_as_much(
    made: Callable[[int], Callable[[], None]], size: int
) -> None:
    assert counted(made(size)) < MORE_THAN_TWICE * counted(made(size // 2))


def test_a_serving_graph_of_a_hundred_thousand_operations_stays_within_its_budget() -> None:
    operations(100_000)()
