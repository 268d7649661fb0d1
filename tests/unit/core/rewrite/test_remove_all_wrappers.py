"""Wrappers out of an architecture and its weights, until none is left."""

from __future__ import annotations

from typing import Any

from tests.judged import only_wrapper
from tests.unit.core.build import DENSE, functional, layer, nested, sequential, source, tensors
from tests.unit.core.rewrite.wrapping import HEAD, WHOLE, concatenate, split
from tests.unit.core.wrappers.towers import arguments
from tests.unit.core.wrappers.towers import model as parallel
from unnest.core.architecture import read
from unnest.core.rewrite import remove_all_wrappers
from unnest.core.rewrite.model_with_weights import ModelWithWeights
from unnest.core.weight_assignment.layer_weights_record import LayerWeights
from unnest.core.wrappers.layer_graph.wrapper_records import Assumptions

WEIGHTS = tensors("td/kernel:0", "td/bias:0")


def level(model: dict[str, Any], template: str = "t", head: str | None = None) -> ModelWithWeights:
    groups = {name: LayerWeights() for name in read(model).layers}
    groups[template] = LayerWeights(WEIGHTS, sorted_out=False)
    if head:
        groups[head] = LayerWeights(tensors("h/kernel:0", "h/bias:0", shape=(2,)), sorted_out=False)
    return ModelWithWeights(model, groups)


def dense_template(name: str) -> dict[str, Any]:
    return functional(
        source("tx"),
        layer("td", ["tx"], **DENSE),
        inputs=[("tx", 0, 0)],
        outputs=[("td", 0, 0)],
        name=name,
    )


def wrapped(template: dict[str, Any], name: str) -> dict[str, Any]:
    inner = template["config"]["name"]
    return functional(
        source(), split("s", "x"), nested(template, [("s", 0, 0)], [("s", 0, 1)]),
        concatenate("m", (inner, 1, 0), (inner, 2, 0)), outputs=[("m", 0, 0)], name=name,
    )  # fmt: skip


def test_a_model_without_wrappers_is_left() -> None:
    start = level(dense_template("t"), "td")
    unwrapped = remove_all_wrappers.unwrap_all(start, keep_nested=False)
    assert (unwrapped.wrappers, unwrapped.left.model, unwrapped.removed) == (
        (),
        start.model,
        frozenset(),
    )


def test_whole() -> None:
    template = dense_template("t")
    unwrapped = remove_all_wrappers.unwrap_all(level(wrapped(template, "outer")), keep_nested=False)
    wrapper = only_wrapper(unwrapped)
    assert (wrapper.name, wrapper.template, wrapper.towers, wrapper.scope, wrapper.merge, wrapper.depth) == (
        "outer", "t", 2, "whole", ("m",), 0,
    )  # fmt: skip
    assert unwrapped.left.model == template
    assert unwrapped.left.by_layer()["td"].tensors == WEIGHTS
    assert unwrapped.outputs == {"m": "td"}
    assert unwrapped.removed == {"s", "m"}
    assert unwrapped.template is not None
    assert (unwrapped.template.layers, unwrapped.template.parameters) == (2, 12)


def test_a_penalty_that_each_tower_added() -> None:
    """Keras of its own sums it over the rows, in towers as in the template: nothing to say."""
    template = dense_template("t")
    template["config"]["layers"][1]["config"]["activity_regularizer"] = {
        "class_name": "L2",
        "config": {"l2": 0.5},
    }
    start = level(wrapped(template, "outer"))
    for in_tensorflow, codes in ((True, ["penalty-of-towers"]), (False, [])):
        unwrapped = remove_all_wrappers.unwrap_all(
            start, Assumptions(in_tensorflow=in_tensorflow), keep_nested=False
        )
        assert [finding.code for finding in unwrapped.findings] == codes


def test_several_levels_outermost_first() -> None:
    template = dense_template("t")
    unwrapped = remove_all_wrappers.unwrap_all(
        level(wrapped(wrapped(template, "inner"), "outer"), "inner"), keep_nested=False
    )
    assert [(w.name, w.template, w.depth) for w in unwrapped.wrappers] == [
        ("outer", "inner", 0),
        ("inner", "t", 1),
    ]
    assert unwrapped.left.model == template
    assert unwrapped.left.by_layer()["td"].tensors == WEIGHTS


def test_a_head_takes_its_weights_along() -> None:
    unwrapped = remove_all_wrappers.unwrap_all(level(HEAD, head="h"), keep_nested=False)
    shares = unwrapped.left.by_layer()
    assert list(shares) == ["tx", "td", "h"]
    assert [t.name for t in shares["h"].tensors] == ["h/kernel:0", "h/bias:0"]
    assert shares["td"].tensors == WEIGHTS


def test_weights_that_fit_nothing_refuse_or_stay_nested() -> None:
    """units=3 and tensors of 5: whole."""
    model = wrapped(dense_template("t"), "outer")
    bad = {name: LayerWeights() for name in read(model).layers} | {
        "t": LayerWeights(tensors("p", "q", shape=(5,)), sorted_out=False)
    }
    refused = remove_all_wrappers.unwrap_all(ModelWithWeights(model, bad), keep_nested=False)
    assert refused.refusal is not None
    assert "do not fit" in refused.refusal
    kept = remove_all_wrappers.unwrap_all(ModelWithWeights(model, bad), keep_nested=True)
    assert kept.refusal is None
    assert list(read(kept.left.model).layers) == ["x", "t"]
    assert [finding.code for finding in kept.findings] == ["stays-nested", "order-not-told"]


def test_a_template_that_is_called_in_training() -> None:
    """The call goes with the wrapper, and says what it did."""
    model = wrapped(dense_template("t"), "outer")
    called = next(entry for entry in model["config"]["layers"] if entry["name"] == "t")
    for call in called["inbound_nodes"]:
        call[0][3] = {"training": True}
    unwrapped = remove_all_wrappers.unwrap_all(level(model), keep_nested=False)
    assert [(w.template, w.scope) for w in unwrapped.wrappers] == [("t", "whole")]
    assert [finding.code for finding in unwrapped.findings] == ["called-in-training"]


def template_around_a_wrapper() -> dict[str, Any]:
    """A model `mid` of a wrapper of `t`, and a layer behind it."""
    inner = wrapped(dense_template("t"), "inner")
    return functional(
        source("mx"), nested(inner, ["mx"]), layer("beside", ["inner"], **DENSE), inputs=[("mx", 0, 0)],
        outputs=[("beside", 0, 0)], name="mid",
    )  # fmt: skip


def test_what_stays_nested_has_no_wrapper_inside() -> None:
    model = wrapped(template_around_a_wrapper(), "outer")
    bad = tensors("p", "q", shape=(5,))
    kept = remove_all_wrappers.unwrap_all(
        ModelWithWeights(model, {"mid": LayerWeights(bad, sorted_out=False)}), keep_nested=True
    )
    assert [(w.name, w.template) for w in kept.wrappers] == [("outer", "mid"), ("inner", "t")]
    middle = read(kept.left.model).layers["mid"]
    assert [*read(kept.left.model).layers] == ["x", "mid"]
    assert [*read(middle.stored).layers] == ["mx", "t", "beside"]
    assert kept.left.by_layer()["mid"].tensors == bad
    assert remove_all_wrappers.unwrap_all(kept.left, keep_nested=True).wrappers == ()


def test_what_stays_nested_keeps_its_ends() -> None:
    template = dense_template("t")
    template["config"]["layers"].append(layer("te", ["tx"], **DENSE))
    template["config"]["output_layers"].append(["te", 0, 0])
    merges = [concatenate(name, ("t", 1, k), ("t", 2, k)) for k, name in enumerate("mn")]
    outer = functional(
        source(), split("s", "x"), nested(template, [("s", 0, 0)], [("s", 0, 1)]), *merges,
        outputs=[("n", 0, 0), ("m", 0, 0)], name="outer",
    )  # fmt: skip
    groups = {"t": LayerWeights(tensors("p", "q", shape=(5,)), sorted_out=False)}
    kept = remove_all_wrappers.unwrap_all(ModelWithWeights(outer, groups), keep_nested=True)
    assert kept.outputs == {"n": "t", "m": "t_1"}
    assert [finding.code for finding in kept.findings] == ["stays-nested", "order-not-told"]


def test_weights_with_owners_keep_them_when_their_model_goes() -> None:
    """Those of `t` were said to be of `inner`, which is gone; nothing in their names says whose they are."""
    owners = ("inner", "t", "td"), ("inner", "t", "td"), ("beside",), ("beside",)
    told = [t._replace(owner=o) for t, o in zip(tensors("a", "b", "c", "d"), owners, strict=True)]
    model = wrapped(template_around_a_wrapper(), "outer")
    unwrapped = remove_all_wrappers.unwrap_all(
        ModelWithWeights(model, {"mid": LayerWeights(tuple(told))}), keep_nested=False
    )
    assert unwrapped.refusal is None
    shares = unwrapped.left.by_layer()
    assert {name: [(t.name, t.owner) for t in share.tensors] for name, share in shares.items()} == {
        "mx": [], "t": [("a", ("td",)), ("b", ("td",))], "beside": [("c", ()), ("d", ())],
    }  # fmt: skip


def test_whole_of_this_modules_wrapper_has_no_findings() -> None:
    assert remove_all_wrappers.unwrap_all(level(WHOLE), keep_nested=False).findings == ()


def test_a_model_that_begins_with_a_merge_stays_a_layer_and_that_is_said() -> None:
    """Keras 1's Sequential of models that are merged: its inputs are those of the merged models."""
    branches = [sequential(source(f"in{j}"), layer(f"d{j}", units=3)) for j in range(2)]
    merged = sequential(
        layer("merge_1", kind="Merge", mode="sum", concat_axis=-1, layers=branches),
        layer("d2", **DENSE),
    )
    told = [[arguments(f"s{j}{k}", {"i": k, "parts": 2}) for k in range(2)] for j in range(2)]
    model = parallel(told)
    net = next(entry for entry in model["config"]["layers"] if entry["name"] == "net")
    net.update(class_name="Sequential", config=merged["config"])
    unwrapped = remove_all_wrappers.unwrap_all(ModelWithWeights(model), keep_nested=False)
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
    left = remove_all_wrappers.unwrap_all(level(outer, "inner"), keep_nested=False)
    assert [(wrapper.name, wrapper.towers) for wrapper in left.wrappers] == [
        ("inner", 2),
        ("outer", 2),
    ]
    assert [*read(left.left.model).layers] == ["tx", "td"]
    assert left.near_misses == ()
    again = remove_all_wrappers.unwrap_all(left.left, keep_nested=False)
    assert again.wrappers == ()
