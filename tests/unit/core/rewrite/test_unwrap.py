"""Wrappers out of an architecture and its weights, until none is left."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, nested, sequential, source, tensors
from tests.unit.core.recognise.towers import arguments
from tests.unit.core.recognise.towers import model as parallel
from tests.unit.core.rewrite.wrapping import HEAD, WHOLE, concatenate, split
from unnest.core.architecture import read
from unnest.core.assign.shares import Share
from unnest.core.rewrite import unwrap

WEIGHTS = tensors("td/kernel:0", "td/bias:0")


def level(model: dict[str, Any], template: str = "t", head: str | None = None) -> unwrap.ModelWeights:
    groups = {name: Share() for name in read(model).layers}
    groups[template] = Share(WEIGHTS, sorted_out=False)
    if head:
        groups[head] = Share(tensors("h/kernel:0", "h/bias:0", shape=(2,)), sorted_out=False)
    return unwrap.ModelWeights(model, groups)


def dense_template(name: str) -> dict[str, Any]:
    return functional(
        source("tx"), layer("td", ["tx"], **DENSE), inputs=[("tx", 0, 0)], outputs=[("td", 0, 0)], name=name
    )


def wrapped(template: dict[str, Any], name: str) -> dict[str, Any]:
    inner = template["config"]["name"]
    return functional(
        source(), split("s", "x"), nested(template, [("s", 0, 0)], [("s", 0, 1)]),
        concatenate("m", (inner, 1, 0), (inner, 2, 0)), outputs=[("m", 0, 0)], name=name,
    )  # fmt: skip


def test_a_model_without_wrappers_is_left() -> None:
    start = level(dense_template("t"), "td")
    unwrapped = unwrap.unwrap_all(start, keep_nested=False)
    assert (unwrapped.wrappers, unwrapped.left.model, unwrapped.removed) == ((), start.model, frozenset())


def test_whole() -> None:
    template = dense_template("t")
    unwrapped = unwrap.unwrap_all(level(wrapped(template, "outer")), keep_nested=False)
    (wrapper,) = unwrapped.wrappers
    assert (wrapper.name, wrapper.template, wrapper.towers, wrapper.scope, wrapper.merge, wrapper.depth) == (
        "outer", "t", 2, "whole", ("m",), 0,
    )  # fmt: skip
    assert unwrapped.left.model == template
    assert unwrapped.left.by_layer()["td"].tensors == WEIGHTS
    assert unwrapped.outputs == {"m": "td"}
    assert unwrapped.removed == {"s", "m"}
    assert unwrapped.template is not None
    assert (unwrapped.template.layers, unwrapped.template.parameters) == (2, 12)


def test_several_levels_outermost_first() -> None:
    template = dense_template("t")
    unwrapped = unwrap.unwrap_all(level(wrapped(wrapped(template, "inner"), "outer"), "inner"), keep_nested=False)
    assert [(w.name, w.template, w.depth) for w in unwrapped.wrappers] == [("outer", "inner", 0), ("inner", "t", 1)]
    assert unwrapped.left.model == template
    assert unwrapped.left.by_layer()["td"].tensors == WEIGHTS


def test_a_head_takes_its_weights_along() -> None:
    unwrapped = unwrap.unwrap_all(level(HEAD, head="h"), keep_nested=False)
    shares = unwrapped.left.by_layer()
    assert list(shares) == ["tx", "td", "h"]
    assert [t.name for t in shares["h"].tensors] == ["h/kernel:0", "h/bias:0"]
    assert shares["td"].tensors == WEIGHTS


def test_weights_that_fit_nothing_refuse_or_stay_nested() -> None:
    """units=3 and tensors of 5: whole."""
    model = wrapped(dense_template("t"), "outer")
    bad = {name: Share() for name in read(model).layers} | {"t": Share(tensors("p", "q", shape=(5,)), sorted_out=False)}
    refused = unwrap.unwrap_all(unwrap.ModelWeights(model, bad), keep_nested=False)
    assert refused.refusal is not None
    assert "do not fit" in refused.refusal
    kept = unwrap.unwrap_all(unwrap.ModelWeights(model, bad), keep_nested=True)
    assert kept.refusal is None
    assert list(read(kept.left.model).layers) == ["x", "t"]
    assert [finding.code for finding in kept.findings] == ["stays-nested"]


@pytest.mark.parametrize(("frozen", "trained"), [(False, 2), (True, 0)])
def test_what_the_optimizer_holds_state_for(frozen: bool, trained: int) -> None:
    config = {**DENSE, "trainable": False} if frozen else DENSE
    model = functional(source(), layer("y", ["x"], **config))
    of_file = unwrap.ModelWeights(model, {"y": Share(tensors("y/kernel:0", "y/bias:0"), sorted_out=False)})
    ordered = unwrap.trained_in_order(of_file)
    assert ordered is not None
    assert len(ordered) == trained


def test_whole_of_this_modules_wrapper_has_no_findings() -> None:
    assert unwrap.unwrap_all(level(WHOLE), keep_nested=False).findings == ()


def test_a_model_that_begins_with_a_merge_stays_a_layer_and_that_is_said() -> None:
    """Keras 1's Sequential of models that are merged: its inputs are those of the merged models."""
    branches = [sequential(source(f"in{j}"), layer(f"d{j}", units=3)) for j in range(2)]
    merged = sequential(
        layer("merge_1", kind="Merge", mode="sum", concat_axis=-1, layers=branches), layer("d2", **DENSE)
    )
    told = [[arguments(f"s{j}{k}", {"i": k, "parts": 2}) for k in range(2)] for j in range(2)]
    model = parallel(told)
    net = next(entry for entry in model["config"]["layers"] if entry["name"] == "net")
    net.update(class_name="Sequential", config=merged["config"])
    unwrapped = unwrap.unwrap_all(unwrap.ModelWeights(model), keep_nested=False)
    assert [*read(unwrapped.left.model).layers] == ["x0", "x1", "net"]
    (finding,) = unwrapped.findings
    assert (finding.code, "net stays a nested model" in finding.message) == ("stays-nested", True)


def test_what_shows_itself_without_the_inner_wrapper_goes_too() -> None:
    """Shapes that contradict each other hide the outer one: once the inner one is gone, none is stored any more."""
    of_any_rows = functional(
        layer("tx", kind="InputLayer"), layer("td", ["tx"], **DENSE), inputs=[("tx", 0, 0)], outputs=[("td", 0, 0)],
        name="t",
    )  # fmt: skip
    inner = wrapped(of_any_rows, "inner")
    inner["config"]["layers"][0]["config"]["batch_input_shape"] = [None, 5]
    outer = wrapped(inner, "outer")
    left = unwrap.unwrap_all(level(outer, "inner"), keep_nested=False)
    assert [(wrapper.name, wrapper.towers) for wrapper in left.wrappers] == [("inner", 2), ("outer", 2)]
    assert [*read(left.left.model).layers] == ["tx", "td"]
    assert left.near_misses == ()
    again = unwrap.unwrap_all(left.left, keep_nested=False)
    assert again.wrappers == ()
