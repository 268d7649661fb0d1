"""The template in a report."""

from __future__ import annotations

from tests.unit.core.build import DENSE, functional, layer, sequential, source, tensors
from unnest.core.recognition_results import Template
from unnest.core.rewrite.summarize_template import summarize_template
from unnest.core.weight_assignment.layer_weights_record import LayerWeights


def test_a_template_with_its_weights() -> None:
    model = functional(source("x"), layer("y", ["x"], **DENSE))
    weights = tensors("y/kernel:0", "y/bias:0", shape=(4,))
    assert summarize_template(model, LayerWeights(weights)) == Template(
        "Functional", inputs=1, outputs=1, layers=2, parameters=20
    )


def test_one_whose_weights_nobody_can_tell() -> None:
    model = sequential(layer("a", **DENSE))
    assert summarize_template(model, None) == Template(
        "Sequential", inputs=1, outputs=1, layers=1, parameters=None
    )
