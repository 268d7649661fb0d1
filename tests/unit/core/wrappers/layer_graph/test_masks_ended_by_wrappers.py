"""Masks that would be handed on without slices or merges, and those that none of these ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.judged import only_wrapper
from tests.unit.core.build import DENSE, functional, layer, nested, source
from tests.unit.core.rewrite.wrapping import HEEDFUL, MERGE, OPS, TEMPLATE, concatenate, split
from tests.unit.core.wrappers.near import OUTER, reasons
from tests.unit.core.wrappers.one_layer import function
from unnest.core.architecture import read
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.masks_ended_by_wrappers import mask_end_before_loss
from unnest.core.wrappers.layer_graph.wrapper_records import Assumptions, Recognised

REASON = "the mask of made ends at the slices, and would reach t without them"
MASKED = {**layer("made", ["x"], mask_value=0.0), "class_name": "Masking"}


CUSTOM = layer("mine", ["x"], kind="Mine")


def _behind(*before: dict[str, Any], template: dict[str, Any] = HEEDFUL) -> list[dict[str, Any]]:
    """Layers, and a wrapper that slices what the last of them gives."""
    towers = nested(template, [("s", 0, 0)], [("s", 0, 1)])
    return [source(), *before, split("s", before[-1]["name"]), towers, MERGE]


def _recognise(*layers: dict[str, Any], in_tensorflow: bool = True) -> Recognised:
    graph = read(functional(*layers, **OUTER))
    return recognise_layer_graph.recognise(graph, Assumptions(in_tensorflow=in_tensorflow))


@pytest.mark.parametrize(
    "before",
    [
        [MASKED],
        [MASKED, {**layer("drop", ["made"], rate=0.5), "class_name": "Dropout"}],
        [{**layer("made", ["x"], mask_zero=True), "class_name": "Embedding"}],
    ],
    ids=["at once", "handed on", "an embedding"],
)
def test_operations_end_masks(before: list[dict[str, Any]]) -> None:
    assert reasons(*_behind(*before)) == {"m": REASON}


@pytest.mark.parametrize(
    "before",
    [
        [{**layer("made", ["x"], mask_zero=False), "class_name": "Embedding"}],
        [MASKED, {**layer("last", ["made"], units=3), "class_name": "LSTM"}],
        [MASKED, {**layer("flat", ["made"]), "class_name": "Lambda"}],
    ],
    ids=["none is made", "the last step has none", "code ends it before"],
)
def test_what_has_no_mask_is_sliced(before: list[dict[str, Any]]) -> None:
    assert only_wrapper(_recognise(*_behind(*before))).mask_doubt is None


def test_a_template_that_heeds_no_mask() -> None:
    """The mask goes through it to the output and to the loss, where the slices ended it."""
    layers = _behind(MASKED, template=TEMPLATE)
    wrapper = only_wrapper(_recognise(*layers))
    graph = read(functional(*layers, **OUTER))
    assert mask_end_before_loss(graph, wrapper, Assumptions(in_tensorflow=True)) == "slices"


def test_a_mask_that_would_go_on_behind_the_merge() -> None:
    head = layer("h", ["m"], kind="LSTM", units=2)
    layers = [*_behind(MASKED, template=TEMPLATE), head]
    reason = "the mask of made ends at the slices, and would reach h without them"
    assert reasons(*layers, outputs=[("h", 0, 0)]) == {"m": reason}


@pytest.mark.parametrize(
    ("before", "doubt"),
    [
        ([CUSTOM], "the mask of mine ends at the slices, and would reach t without them"),
        ([CUSTOM, {**layer("flat", ["mine"]), "class_name": "Lambda"}], None),
    ],
    ids=["at once", "code ends it before"],
)
def test_a_custom_class_that_may_make_a_mask(
    before: list[dict[str, Any]], doubt: str | None
) -> None:
    """The wrapper is likely, and says what would be otherwise."""
    wrapper = only_wrapper(_recognise(*_behind(*before)))
    assert (wrapper.mask_doubt, wrapper.confidence) == (doubt, "likely" if doubt else "proven")


def test_a_custom_class_hands_a_mask_on_in_keras_of_its_own() -> None:
    layers = _behind(MASKED, {**CUSTOM, "inbound_nodes": [[["made", 0, 0, {}]]]})
    assert only_wrapper(_recognise(*layers)).mask_doubt is not None
    assert [miss.reason for miss in _recognise(*layers, in_tensorflow=False).near_misses] == [
        REASON
    ]


MASKED_TEMPLATE = functional(
    source("tx"), {**layer("tm", ["tx"], mask_value=0.0), "class_name": "Masking"},
    layer("td", ["tm"], units=3), inputs=[("tx", 0, 0)], outputs=[("td", 0, 0)], name="t",
)  # fmt: skip
MASKED_TOWERS = nested(MASKED_TEMPLATE, [("s", 0, 0)], [("s", 0, 1)])


def _concat(*refs: tuple[str, int, int]) -> dict[str, Any]:
    """tf.concat, as tf.keras 2.4 on stores the call."""
    entry = layer("m", kind="TFOpLambda", function="concat", **OPS)
    return {**entry, "inbound_nodes": [[[*ref, {"axis": 0}] for ref in refs]]}


BY_CODE = _concat(("t", 1, 0), ("t", 2, 0))
HEEDING = layer("h", ["m"], kind="LSTM", units=2)
HEEDLESS = layer("h", ["m"], units=2)


def _joined_by(merge: dict[str, Any], head: dict[str, Any]) -> list[dict[str, Any]]:
    return [source(), split("s", "x"), MASKED_TOWERS, merge, head]


def test_a_merge_by_code_ends_the_mask_of_the_template() -> None:
    reason = "the mask of t ends at the merge, and would reach h without it"
    assert reasons(*_joined_by(BY_CODE, HEEDING), outputs=[("h", 0, 0)]) == {"m": reason}


@pytest.mark.parametrize(
    ("merge", "head", "reaches_the_output"),
    [(MERGE, HEEDING, False), (BY_CODE, HEEDLESS, True)],
    ids=["the merge hands it on", "nothing heeds it"],
)
def test_masks_that_change_no_prediction(
    merge: dict[str, Any], head: dict[str, Any], reaches_the_output: bool
) -> None:
    graph = read(functional(*_joined_by(merge, head), outputs=[("h", 0, 0)], name="outer"))
    wrapper = only_wrapper(recognise_layer_graph.recognise(graph))
    end = mask_end_before_loss(graph, wrapper, Assumptions(in_tensorflow=True))
    assert end == ("merge" if reaches_the_output else None)


CUTS = [layer(f"s{i}", ["made"], kind="Cut", part=i, of=2) for i in range(2)]
CUT_TOWERS = nested(HEEDFUL, ["s0"], ["s1"])


def test_a_custom_class_may_end_masks() -> None:
    reason = "the mask of made may end at the slices, and would reach t without them"
    layers = [source(), MASKED, *CUTS, CUT_TOWERS, MERGE]
    near_misses = _recognise(*layers).near_misses
    assert {miss.layer: miss.reason for miss in near_misses} == {"m": reason}
    assert only_wrapper(_recognise(*layers, in_tensorflow=False)).template == "t"


@pytest.mark.parametrize(
    ("before", "changes"),
    [
        ({**MASKED, "config": {"name": "made", "units": 4}, "class_name": "Dense"}, {}),
        (MASKED, {"class_name": "unnest>TowerSlice"}),
    ],
    ids=["no mask", "its own slices cut masks"],
)
def test_custom_classes_that_end_none(before: dict[str, Any], changes: dict[str, Any]) -> None:
    cuts = [{**cut, **changes} for cut in CUTS]
    wrapper = only_wrapper(_recognise(source(), before, *cuts, CUT_TOWERS, MERGE))
    assert wrapper.mask_doubt is None


def _cut(x: Any, i: int) -> Any:
    return tf.split(x, 2)[i]


tf: Any = None  # what the code names; it is read, not called


def test_towers_of_own_layers_have_the_same_reason() -> None:
    cuts = [
        layer(f"s{i}", ["made"], kind="Lambda", function=function(_cut), arguments={"i": i})
        for i in range(2)
    ]
    last = layer("l", ["s0"], ["s1"], kind="LSTM", units=3)
    dense = layer("d", [("l", 0, 0)], [("l", 1, 0)], **DENSE)
    merge = concatenate("m", ("d", 0, 0), ("d", 1, 0))
    reason = "the mask of made ends at the slices, and would reach l without them"
    assert reasons(source(), MASKED, *cuts, last, dense, merge) == {"m": reason}
