"""A graph without its wrapper, wherever the wrapper sits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, nested, source
from tests.unit.core.rewrite.wrapping import (
    EMBEDDED,
    HEAD,
    MERGE,
    TEMPLATE,
    TOWERS,
    WHOLE,
    concatenate,
    found,
    split,
)
from tests.unit.core.wrappers.inline import UNITS, Tensor, Writer
from unnest.core.architecture import model_json_as_saved_alone, read
from unnest.core.model import CallId, Ref
from unnest.core.rewrite import remove_one_wrapper


@pytest.mark.parametrize(
    ("model", "scope"), [(WHOLE, "whole"), (HEAD, "head"), (EMBEDDED, "embedded")]
)
def test_scope(model: dict[str, Any], scope: str) -> None:
    graph, wrapper = found(model)
    assert wrapper.scope(graph) == scope


def _with_two_outputs(ends: Any, own_ends: Any) -> dict[str, Any]:
    """Towers of a template with two outputs, and the ends of both as they are stored."""
    own = functional(
        source("tx"), layer("td", ["tx"], units=3), layer("te", ["tx"], units=2), inputs=[("tx", 0, 0)], outputs=[],
        name="t",
    )  # fmt: skip
    own["config"]["output_layers"] = own_ends
    towers = nested(own, [("s", 0, 0)], [("s", 0, 1)])
    joins = [concatenate(f"m{n}", ("t", 1, n), ("t", 2, n)) for n in (0, 1)]
    model = functional(source(), split("s", "x"), towers, *joins, outputs=[], name="outer")
    model["config"]["output_layers"] = ends
    return model


D, E = ["td", 0, 0], ["te", 0, 0]
FIRST, SECOND = ["m0", 0, 0], ["m1", 0, 0]


@pytest.mark.parametrize(
    ("ends", "own_ends", "exchanges"),
    [
        ({"y": FIRST, "z": SECOND}, {"y": D, "z": E}, False),
        ({"z": SECOND, "y": FIRST}, {"y": D, "z": E}, False),
        ({"y": SECOND, "z": FIRST}, {"y": D, "z": E}, True),
        ({"y": SECOND, "z": FIRST}, {"z": E, "y": D}, True),
        ({"p": SECOND, "q": FIRST}, {"y": D, "z": E}, False),
        ({"y": SECOND, "q": FIRST}, {"y": D, "z": E}, True),
        ([SECOND, FIRST], [D, E], False),
        ({"td": SECOND, "te": FIRST}, [D, E], True),
        ({"tx": FIRST, "te": SECOND}, {"te": D, "z": E}, True),
        ({"tx": SECOND, "q": FIRST}, [D, E], False),
    ],
)
def test_names_of_other_ends(ends: Any, own_ends: Any, exchanges: bool) -> None:
    """The first output of a template with a dictionary is that whose key sorts first."""
    graph, wrapper = found(_with_two_outputs(ends, own_ends))
    assert wrapper.scope(graph) == "whole"
    assert remove_one_wrapper.exchanges_names(graph, wrapper) is exchanges


def test_whole_is_the_template_with_what_stands_beside_a_top_level_config() -> None:
    outer = {**WHOLE, "keras_version": "2.4.0"}
    graph, _ = found(outer)
    assert model_json_as_saved_alone.as_top_level_model(outer, graph.layers["t"]) == {
        **TEMPLATE,
        "keras_version": "2.4.0",
    }


def test_a_head_is_put_upon_the_templates_own_layers() -> None:
    flattened = read(remove_one_wrapper.with_template_flattened(*found(HEAD)))
    assert flattened.name == "outer"
    assert list(flattened.layers) == ["tx", "td", "h"]
    assert flattened.call(CallId("h", 0)).reads == (Ref("td", 0, 0),)
    assert (flattened.inputs, flattened.outputs) == ((Ref("tx", 0, 0),), (Ref("h", 0, 0),))


def test_embedded_leaves_one_call_of_the_template_where_the_wrapper_was() -> None:
    left = read(remove_one_wrapper.with_first_tower_in_place(*found(EMBEDDED)))
    assert list(left.layers) == ["x", "before", "t", "h"]
    assert left.layers["t"].stored["inbound_nodes"] == [[["before", 0, 0, {}]]]
    assert left.layers["h"].stored["inbound_nodes"] == [[["t", 1, 0, {}]]]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (HEAD, None),
        (functional(source(), split("s", "x"), TOWERS, MERGE, layer("td", ["m"]), outputs=[("td", 0, 0)]),
         "both models have a layer td"),
    ],
)  # fmt: skip
def test_what_cannot_be_flattened_says_why(model: dict[str, Any], reason: str | None) -> None:
    assert remove_one_wrapper.why_not_flattened(*found(model)) == reason


def test_order_is_keras_own_only_where_that_explains_the_order_before() -> None:
    swapped = functional(source(), layer("b", ["x"]), layer("a", ["x"]), layer("y", ["a", "b"]))
    # A, b would be Keras's order.
    assert remove_one_wrapper.sort_layers(read(swapped), swapped) is swapped


def _with_towers(rows: int | None = None, *, swapped: bool = False) -> tuple[Writer, Tensor]:
    """Two towers of the model's own layers, the first of which may be the one that was made last."""
    writer = Writer(rows)
    parts = [writer.rows(0, None, 2), writer.rows(1, None, 2)]
    made = writer.dense(*(parts[::-1] if swapped else parts))
    copies = [writer.call("nn.relu", part, name=None) for part in (made[::-1] if swapped else made)]
    (head,) = writer.dense(
        writer.call("reshape", writer.call("stack", copies, axis=1), shape=[-1, UNITS]), name="head"
    )
    return writer, head


@pytest.mark.parametrize("swapped", [False, True])
def test_towers_of_the_models_own_layers_become_one(*, swapped: bool) -> None:
    writer, head = _with_towers(swapped=swapped)
    graph, wrapper = found(writer.model(head))
    left = remove_one_wrapper.with_first_tower_in_place(graph, wrapper)
    assert wrapper.scope(graph) == "head"
    config = left["config"]
    assert isinstance(config, dict)
    relu = wrapper.template
    told = {entry["name"]: entry["inbound_nodes"] for entry in config["layers"]}
    assert told == {
        "x": [],
        "dense": [[["x", 0, 0, {}]]],
        relu: [["dense", 0, 0, {"name": None}]],
        "head": [[[relu, 0, 0, {}]]],
    }
    assert graph.layers[relu].calls[0].reads == (Ref("dense", int(swapped), 0),)


OLDER, NEWER = "keras.engine.functional", "keras.src.engine.functional"


@pytest.mark.parametrize(
    ("release", "module"), [((2, 12, 0), OLDER), ((2, 13, 1), NEWER), ((), OLDER)]
)
def test_the_class_of_a_model_is_where_its_release_has_it(
    release: tuple[int, ...], module: str
) -> None:
    assert model_json_as_saved_alone.with_module_of_release(
        {"module": OLDER, "config": {}}, release
    ) == {
        "module": module,
        "config": {},
    }
    assert model_json_as_saved_alone.with_module_of_release({"module": None}, release) == {
        "module": None
    }
