"""Keras 1's Sequential that begins with a Merge of models: written whole, or refused where the file does not tell."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.test_convert_stored_model import layers_of
from unnest.core.keras3.convert_stored_model import convert
from unnest.core.model import Group, JsonObject, Stored, Tensor


def dense(name: str, size: int, units: int, **more: Any) -> JsonObject:
    """A Dense of Keras 1."""
    return {"class_name": "Dense", "config": {
        "name": name, "output_dim": units, "activation": "linear", "bias": False, "init": "uniform", "input_dim": size,
        "trainable": True,
        **more,
    }}  # fmt: skip


def branch(*layers: JsonObject) -> JsonObject:
    """A Sequential of Keras 1: a bare list."""
    return {"class_name": "Sequential", "config": list(layers)}


def model(*branches: JsonObject, mode: str = "concat") -> Stored:
    """Two branches of a Dense, joined, and a Dense over both."""
    merge: JsonObject = {"class_name": "Merge", "config": {
        "name": "merge_1", "mode": mode, "concat_axis": -1, "layers": list(branches),
    }}  # fmt: skip
    groups = [
        Group(n, (Tensor(f"{n}_W", s, "<f4", f"/{n}"),))
        for n, s in (("a", (4, 2)), ("b", (3, 2)), ("c", (4, 1)))
    ]
    architecture = branch(merge, dense("c", 4, 1))
    return Stored(
        "model", architecture, groups=tuple(groups), keras_version="1.2.2", backend="tensorflow"
    )


MASKED = branch(
    {
        "class_name": "Masking",
        "config": {"name": "m", "batch_input_shape": [None, 3, 2], "trainable": True},
    }
)
FLAT: JsonObject = {"class_name": "Flatten", "config": {"name": "f"}}
LEFT, RIGHT = (branch(dense(n, s, 2, batch_input_shape=[None, s])) for n, s in (("a", 4), ("b", 3)))


def test_every_branch_is_a_model_with_an_input() -> None:
    """In the order of the branches; each weight where its layer is."""
    done = convert(model(LEFT, RIGHT))
    classes = [entry["class_name"] for entry in layers_of(done)]
    assert sorted(classes) == [
        "Concatenate",
        "Dense",
        "InputLayer",
        "InputLayer",
        "Sequential",
        "Sequential",
    ]
    assert done.model is not None
    assert done.model.architecture is not None
    config: Any = done.model.architecture["config"]
    assert [ref[0] for ref in config["input_layers"]] == [
        "merge_1_branch_0_input",
        "merge_1_branch_1_input",
    ]
    placed = {g.name: [t.ref for t in g.tensors] for g in done.model.groups if g.tensors}
    assert placed == {"merge_1_branch_0": ["/a"], "merge_1_branch_1": ["/b"], "c": ["/c"]}
    assert {"merge", "sequential-graph"} <= {c.rule for c in done.conversions}


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        (model(LEFT, LEFT), "share layers"),
        (model(LEFT, RIGHT, mode="cos"), "mode 'cos'"),
        (model(LEFT, branch(FLAT, dense("b", 3, 2))), "input is not stored"),
        (model(LEFT, dense("b", 3, 2)), "no models"),
        (model(LEFT, MASKED), "masks"),
    ],
    ids=["shared", "cos", "no-input", "layer", "masked"],
)  # fmt: skip
def test_refused(stored: Stored, why: str) -> None:
    """The message names the Merge."""
    refusal = convert(stored).refusal
    assert refusal is not None
    assert "'merge_1' (Merge)" in refusal.message
    assert why in refusal.message
