"""Plans for a stored model: clean, parallel with a result, or refused; and no tensor is forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, names, nested, source, tensors
from tests.unit.core.rewrite.wrapping import MERGE, split
from unnest.core.make_plan import NotAGraph, plan
from unnest.core.model import Contents, Group, Stored
from unnest.core.plan import Plan

TEMPLATE = functional(
    source("tx"), layer("a", ["tx"], **DENSE), layer("b", ["a"], **DENSE),
    inputs=[("tx", 0, 0)], outputs=[("b", 0, 0)], name="t",
)  # fmt: skip


def template_of(first: str, second: str) -> dict[str, Any]:
    """The template with other names for its two layers, which are of one shape."""
    chain = (source("tx"), layer(first, ["tx"], **DENSE), layer(second, [first], **DENSE))
    return functional(*chain, inputs=[("tx", 0, 0)], outputs=[(second, 0, 0)], name="t")


def with_head(name: str) -> dict[str, Any]:
    """The single-device model whose last layer is no part of the template."""
    config = TEMPLATE["config"]
    layers = [*config["layers"], layer(name, ["b"], **DENSE)]
    return {**TEMPLATE, "config": {**config, "layers": layers, "output_layers": [[name, 0, 0]]}}


PARALLEL = functional(
    source(), split("s", "x"), nested(TEMPLATE, [("s", 0, 0)], [("s", 0, 1)]), MERGE,
    outputs=[("m", 0, 0)], name="outer",
)  # fmt: skip
WEIGHTS = tensors("a/kernel:0", "a/bias:0", "b/kernel:0", "b/bias:0")
GROUPS = (Group("x", ()), Group("s", ()), Group("t", WEIGHTS), Group("m", ()))
BARE = (
    Group("x", ()),
    Group("lambda_1", ()),
    Group("lambda_2", ()),
    Group("t", WEIGHTS),
    Group("concatenate_1", ()),
)


def stored(
    architecture: dict[str, Any] | None = PARALLEL, groups: tuple[Group, ...] = GROUPS, **more: Any
) -> Stored:
    contents: Contents = "model" if architecture is not None else "weights"
    return Stored(
        contents, architecture, None, groups, keras_version="2.4.0", backend="tensorflow", **more
    )


def of_layers(result: Plan) -> dict[str, list[str]]:
    """Layer -> its tensors, in the result."""
    assert result.result is not None
    return {group.name: [t.name for t in group.tensors] for group in result.result.groups}


def test_a_parallel_model_becomes_its_template_with_every_tensor() -> None:
    result = plan(stored())
    assert (result.verdict, result.refusal, result.dropped) == ("parallel", None, ())
    assert [(w.template, w.towers, w.confidence) for w in result.wrappers] == [("t", 2, "proven")]
    assert of_layers(result) == {
        "tx": [],
        "a": ["a/kernel:0", "a/bias:0"],
        "b": ["b/kernel:0", "b/bias:0"],
    }
    assert result.result is not None
    assert result.result.architecture is not None
    config = result.result.architecture["config"]
    assert isinstance(config, dict)
    assert names(config["layers"]) == ["tx", "a", "b"]
    assert result.template is not None
    assert (result.template.inputs, result.template.outputs, result.template.parameters) == (
        1,
        1,
        24,
    )


def test_compile_settings_within_the_json_stay_with_the_template() -> None:
    """Keras 3 writes them so, and empty ones of every model within."""
    template = {**TEMPLATE, "compile_config": {}}
    compiled = functional(
        source(), split("s", "x"), nested(template, [("s", 0, 0)], [("s", 0, 1)]), MERGE,
        outputs=[("m", 0, 0)], name="outer",
    )  # fmt: skip
    compiled["compile_config"] = {"loss": {"m": "mse"}, "jit_compile": False}
    result = plan(Stored("architecture", compiled)).result
    assert result is not None
    assert result.architecture is not None
    assert result.architecture["compile_config"] == {"loss": {"b": "mse"}, "jit_compile": False}


@pytest.mark.parametrize(
    "architecture", [TEMPLATE, functional(source(), layer("y", ["x"]))], ids=["template", "net"]
)
def test_a_model_without_a_wrapper_stays(architecture: dict[str, Any]) -> None:
    result = plan(stored(architecture, ()))
    assert (result.verdict, result.wrappers, result.result, result.refusal) == (
        "clean",
        (),
        None,
        None,
    )


def test_a_model_that_keeps_its_layers_in_code_is_not_looked_into() -> None:
    result = plan(stored({"class_name": "Mine", "config": {}}, ()))
    assert result.verdict == "clean"
    assert [finding.code for finding in result.findings] == ["no-graph"]


@pytest.mark.parametrize(
    ("architecture", "why"),
    [
        (
            {
                **TEMPLATE,
                "config": {**TEMPLATE["config"], "layers": [*TEMPLATE["config"]["layers"], 7]},
            },
            "not a layer",
        ),
        ({"class_name": "Sequential", "config": [layer("a", []), 7]}, "not a layer"),
        (functional(source(), {**layer("y", ["x"]), "config": None}), "has no config"),
        (
            functional(source(), {**layer("y", ["x"]), "inbound_nodes": [[["x", 0, -1, {}]]]}),
            "below zero",
        ),
    ],
)
def test_what_is_no_graph(architecture: dict[str, Any], why: str) -> None:
    with pytest.raises(NotAGraph, match=why):
        plan(stored(architecture, ()))


@pytest.mark.parametrize("layers", [[64, 32], 3, ["relu"], [{"units": 4}]])
def test_layers_of_a_class_of_ones_own_are_what_it_likes(layers: Any) -> None:
    result = plan(stored({"class_name": "MLP", "config": {"layers": layers}}, ()))
    assert [finding.code for finding in result.findings] == ["no-graph"]


def test_a_near_miss_is_told() -> None:
    merge = {**MERGE, "config": {**MERGE["config"], "axis": 1}}
    channels = functional(
        *PARALLEL["config"]["layers"][:-1], merge, outputs=[("m", 0, 0)], name="outer"
    )
    result = plan(stored(channels))
    assert result.verdict == "clean"
    assert [miss.layer for miss in result.near_misses] == ["m"]


def test_no_nested_template_is_advised_that_loads_nowhere() -> None:
    """A model that is called and applied to steps, listed once and under names that are not its own."""
    each = functional(
        source("ex"),
        layer("score", ["ex"], **DENSE),
        inputs=[("ex", 0, 0)],
        outputs=[("score", 0, 0)],
        name="each",
    )
    steps = layer("steps", ["tx"], kind="TimeDistributed", layer=each)
    template = functional(
        source("tx"),
        steps,
        nested(each, ["tx"]),
        inputs=[("tx", 0, 0)],
        outputs=[("each", 1, 0)],
        name="t",
    )
    towers = nested(template, [("s", 0, 0)], [("s", 0, 1)])
    parallel = functional(
        source(), split("s", "x"), towers, MERGE, outputs=[("m", 0, 0)], name="outer"
    )
    weights = tensors("p/kernel:0", "p/bias:0")
    groups = (Group("x", ()), Group("s", ()), Group("t", weights), Group("m", ()))
    refusal = plan(stored(parallel, groups)).refusal
    assert refusal is not None
    assert refusal.code == "weights-ambiguous"
    assert "--keep-nested" not in refusal.message
