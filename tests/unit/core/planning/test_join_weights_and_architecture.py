"""Weights and the architecture given for them: its layers are theirs, or the plan says that they are not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, layer, tensors
from tests.unit.core.test_make_plan import (
    TEMPLATE,
    stored,
)
from unnest.core.make_plan import plan
from unnest.core.model import Group, JsonObject, Stored
from unnest.core.plan import Refusal


def test_weights_with_the_json_of_a_class_that_keeps_its_layers_in_code() -> None:
    """It is the saved model's own, so that asking for it would not help."""
    weights = stored(TEMPLATE, ())._replace(contents="weights", architecture=None)
    refusal = plan(weights, architecture={"class_name": "ParallelModel", "config": {}}).refusal
    assert refusal == Refusal(
        "architecture-mismatch",
        "the architecture given lists no layers, which ParallelModel keeps in its code; "
        "pass that of the template, the model which is called on every part",
    )


@pytest.mark.parametrize(("second", "by_order"), [("dense_5", 0), ("dense_6", 1)])
def test_weights_of_a_sequential_in_another_without_a_name(second: str, by_order: int) -> None:
    """Keras before 2.2.3 stores the inner one as a bare list: its place shows whose the weights are."""
    inner: JsonObject = {"class_name": "Sequential", "config": [layer("d", **DENSE)]}
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": [inner, layer("dense_5", **DENSE)],
    }
    groups = (
        Group("sequential_2", tensors("d/kernel:0", "d/bias:0")),
        Group(second, tensors("e/kernel:0", "e/bias:0")),
    )
    made = plan(Stored("weights", groups=groups), architecture=architecture)
    assert made.complete is not None
    assert [finding.code for finding in made.findings] == ["by-order"] * by_order


def test_weights_with_their_json_read_mappings_as_their_release_did() -> None:
    """TensorFlow 2.0 takes a mapping of inputs in the order of its keys, in a whole model and in one kept in parts."""
    inputs: Any = [
        {"class_name": "InputLayer", "name": name, "config": {"name": name}} for name in ("b", "a")
    ]
    inner: Any = {
        "name": "t",
        "layers": inputs,
        "input_layers": [["b", 0, 0], ["a", 0, 0]],
        "output_layers": [["b", 0, 0]],
    }
    outer_inputs: Any = [
        {"class_name": "InputLayer", "name": name, "config": {"name": name}, "inbound_nodes": []}
        for name in ("x", "y")
    ]
    call: Any = {"b": ["x", 0, 0, {}], "a": ["y", 0, 0, {}]}
    layers = [
        *outer_inputs,
        {"class_name": "Model", "name": "t", "config": inner, "inbound_nodes": [call]},
    ]
    ends: Any = {"input_layers": [["x", 0, 0], ["y", 0, 0]], "output_layers": [["t", 1, 0]]}
    architecture: JsonObject = {
        "class_name": "Model",
        "config": {"name": "m", "layers": layers, **ends},
    }
    groups = tuple(Group(name, ()) for name in ("x", "y", "t"))
    whole = plan(Stored("model", architecture, groups=groups, keras_version="2.2.4-tf"))
    parts = plan(
        Stored("weights", groups=groups, keras_version="2.2.4-tf"), architecture=architecture
    )
    assert whole.output is not None
    assert parts.complete is not None
    assert parts.complete.architecture == whole.output.model.architecture
    read_today: Any = parts.complete.architecture
    assert read_today["config"]["layers"][2]["inbound_nodes"] == [
        [["y", 0, 0, {}], ["x", 0, 0, {}]]
    ]
