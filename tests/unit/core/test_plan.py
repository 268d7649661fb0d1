"""The result of a plan: the model without its wrappers, if there is one."""

from __future__ import annotations

import pytest

from unnest.core.model import Stored
from unnest.core.plan import GraphCut, Output, Plan, Rearranged, Rewritten

MODEL = Stored("model", {"class_name": "Sequential", "config": {}})


@pytest.mark.parametrize(
    "output",
    [
        Rewritten(MODEL),
        Rearranged(MODEL, (), "optimizer", stores_layer_names=False),
        GraphCut(MODEL),
    ],
)
def test_a_parallel_model_has_a_result_however_it_is_written(output: Output) -> None:
    assert Plan("parallel", Stored("model"), output).result is MODEL


def test_a_clean_or_refused_model_has_no_result() -> None:
    """Although a clean one is written, as it is."""
    assert Plan("clean", MODEL, Rewritten(MODEL)).result is None
    assert Plan("parallel", MODEL).result is None
