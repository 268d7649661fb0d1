"""Masks that would reach a template without the slices, and those that no slice ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.judged import only_wrapper
from tests.unit.core.build import functional, layer, source
from tests.unit.core.rewrite.wrapping import MERGE, TOWERS, split
from tests.unit.core.wrappers.near import OUTER, reasons
from unnest.core.architecture import read
from unnest.core.wrappers.layer_graph import recognise_layer_graph
from unnest.core.wrappers.layer_graph.masks_ended_by_slices import ended_mask

REASON = "the mask of made ends at the slices, and would reach t without them"
MASKED = {**layer("made", ["x"], mask_value=0.0), "class_name": "Masking"}


def _behind(*before: dict[str, Any]) -> list[dict[str, Any]]:
    """Layers, and a wrapper that slices what the last of them gives."""
    return [source(), *before, split("s", before[-1]["name"]), TOWERS, MERGE]


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
    graph = read(functional(*_behind(*before), **OUTER))
    wrapper = only_wrapper(recognise_layer_graph.recognise(graph))
    assert ended_mask(graph, wrapper) is None
