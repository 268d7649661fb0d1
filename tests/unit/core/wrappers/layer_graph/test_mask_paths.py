"""Paths of masks through a graph, the models nested in it, and the models around it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, nested, sequential, source
from unnest.core.architecture import read
from unnest.core.model import Ref
from unnest.core.wrappers.layer_graph.mask_paths import MaskRules, mask_effects, mask_maker
from unnest.core.wrappers.layer_graph.wrapper_records import EnclosingModel

RULES = MaskRules(in_tensorflow=True)
MASKING = layer("masking", ["x"], kind="Masking", mask_value=0.0)
DROPOUT = layer("dropout", ["x"], kind="Dropout", rate=0.5)
CUSTOM = layer("custom", ["x"], kind="Mine")
CODE = layer("code", ["x"], kind="Lambda")
LSTM = layer("lstm", ["x"], kind="LSTM", units=3, return_sequences=True)


def model(*layers: dict[str, Any], output: str, name: str = "inner") -> dict[str, Any]:
    return functional(source(), *layers, outputs=[(output, 0, 0)], name=name)


def around(inner: dict[str, Any], before: str, *layers: dict[str, Any]) -> dict[str, Any]:
    """A model that calls another one behind the layer `before`."""
    name = inner["config"]["name"]
    return functional(
        source(), *layers, nested(inner, [before]), outputs=[(name, 1, 0)], name="outer"
    )


@pytest.mark.parametrize(
    ("inner", "before", "maker"),
    [
        (model(MASKING, output="masking"), "x", "inner"),
        (model(DROPOUT, output="dropout"), "masking", "masking"),
        (model(DROPOUT, output="dropout"), "x", None),
        (model(CODE, output="code"), "masking", None),
        (model(CUSTOM, output="custom"), "masking", None),
        (model(LSTM, output="lstm"), "masking", "masking"),
        (sequential(DROPOUT, name="inner"), "masking", "masking"),
        (sequential(CODE, name="inner"), "masking", None),
        (sequential(MASKING, DROPOUT, name="inner"), "x", "inner"),
    ],
    ids=["made", "handed on", "none", "code", "custom", "steps", "chain", "code in a chain", "made in a chain"],
)  # fmt: skip
def test_masks_out_of_a_nested_model(inner: dict[str, Any], before: str, maker: str | None) -> None:
    assert (
        mask_maker(read(around(inner, before, MASKING)), Ref("inner", 0, 0), None, RULES) == maker
    )


@pytest.mark.parametrize(("before", "maker"), [("masking", "masking"), ("x", None)])
def test_masks_into_a_nested_model(before: str, maker: str | None) -> None:
    inner = model(DROPOUT, output="dropout")
    outer = EnclosingModel(read(around(inner, before, MASKING)), "inner")
    assert mask_maker(read(inner), Ref("dropout", 0, 0), outer, RULES) == maker


@pytest.mark.parametrize(
    ("inner", "reader", "outputs"),
    [
        (model(LSTM, output="lstm"), "inner", set()),
        (model(DROPOUT, output="dropout"), None, {0}),
        (model(CODE, output="code"), "inner", set()),  # what is not stored may take `mask`
        (model(CUSTOM, output="custom"), "inner", set()),
        (sequential(LSTM, name="inner"), "inner", set()),
        (sequential(DROPOUT, name="inner"), None, {0}),
        (sequential(DROPOUT, LSTM, name="inner"), "inner", set()),
    ],
    ids=["heeded", "handed on", "code", "custom", "a chain heeds", "a chain hands on", "behind"],
)
def test_effects_in_a_nested_model(
    inner: dict[str, Any], reader: str | None, outputs: set[int]
) -> None:
    effects = mask_effects(read(around(inner, "x")), [Ref("x", 0, 0)], None, RULES)
    assert (effects.reader, set(effects.outputs)) == (reader, outputs)


@pytest.mark.parametrize(("behind", "reader"), [(LSTM, "lstm"), (DROPOUT, None)])
def test_effects_around_a_nested_model(behind: dict[str, Any], reader: str | None) -> None:
    inner = model(DROPOUT, output="dropout")
    behind = layer(behind["name"], [("inner", 1, 0)], kind=behind["class_name"])
    whole = functional(
        source(), nested(inner, ["x"]), behind, outputs=[(behind["name"], 0, 0)], name="outer"
    )
    outer = EnclosingModel(read(whole), "inner")
    assert mask_effects(read(inner), [Ref("x", 0, 0)], outer, RULES).reader == reader


def test_a_time_distributed_layer_heeds_by_what_it_holds() -> None:
    for held, reader in (("LSTM", "each"), ("Dense", None)):
        entry = {"class_name": held, "config": {"name": "held", "units": 3}}
        each = layer("each", ["x"], kind="TimeDistributed", layer=entry)
        graph = read(model(each, output="each"))
        assert mask_effects(graph, [Ref("x", 0, 0)], None, RULES).reader == reader


@pytest.mark.parametrize(
    ("held", "is_made"),
    [
        ({"class_name": "Masking", "config": {"name": "held", "mask_value": 0.0}}, True),
        (model(MASKING, output="masking"), True),
        (model(MASKING, layer("dense", ["masking"], kind="Conv1D"), output="dense"), False),
    ],
    ids=["masking", "a model", "a model that ends its mask"],
)
def test_masks_that_a_time_distributed_layer_makes(held: dict[str, Any], is_made: bool) -> None:
    each = layer("each", ["x"], kind="TimeDistributed", layer=held)
    maker = mask_maker(read(model(each, output="each")), Ref("each", 0, 0), None, RULES)
    assert (maker == "each") == is_made


CONV = layer("conv", ["masking"], kind="Conv1D", filters=2, kernel_size=2)
ALONE, TAKEN = (
    MaskRules(in_tensorflow=False),
    MaskRules(in_tensorflow=True, custom_code_makes_masks=True),
)


@pytest.mark.parametrize(
    ("behind", "rules", "maker"),
    [
        (CUSTOM, RULES, None),
        (CUSTOM, ALONE, "masking"),
        (CUSTOM, TAKEN, "custom"),
        (CODE, TAKEN, None),
        (layer("code", ["x"], kind="Lambda", mask="anything"), RULES, None),
        (layer("code", ["x"], kind="Lambda", mask="anything"), TAKEN, "code"),
    ],
    ids=["ended", "handed on", "made", "code without one", "its mask ends", "its mask is made"],
)
def test_what_custom_code_does_with_masks(
    behind: dict[str, Any], rules: MaskRules, maker: str | None
) -> None:
    behind = {**behind, "inbound_nodes": CONV["inbound_nodes"]}
    graph = read(functional(source(), MASKING, behind, outputs=[(behind["name"], 0, 0)], name="m"))
    assert mask_maker(graph, Ref(behind["name"], 0, 0), None, rules) == maker


@pytest.mark.parametrize(("rules", "reader"), [(RULES, None), (ALONE, "conv")])
def test_layers_that_take_no_mask(rules: MaskRules, reader: str | None) -> None:
    """Keras of its own raises an error there; TensorFlow's goes on without the mask."""
    graph = read(functional(source(), MASKING, CONV, outputs=[("conv", 0, 0)], name="m"))
    effects = mask_effects(graph, [Ref("masking", 0, 0)], None, rules)
    assert (effects.reader, effects.outputs) == (reader, frozenset())


def test_detours_pass_layers_by() -> None:
    behind = layer("lstm", ["code"], kind="LSTM", units=3)
    graph = read(functional(source(), CODE, behind, outputs=[("lstm", 0, 0)], name="m"))
    there, past = Ref("x", 0, 0), {Ref("x", 0, 0): Ref("code", 0, 0)}
    assert mask_effects(graph, [there], None, RULES, past).reader == "lstm"
