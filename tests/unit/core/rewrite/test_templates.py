"""What a report says of a template."""

from __future__ import annotations

from tests.unit.core.build import DENSE, functional, layer, sequential, source, tensors
from unnest.core.assign.layer_weights import Share
from unnest.core.model import Template
from unnest.core.rewrite.templates import template_of


def test_a_template_with_its_weights() -> None:
    model = functional(source("x"), layer("y", ["x"], **DENSE))
    weights = tensors("y/kernel:0", "y/bias:0", shape=(4,))
    assert template_of(model, Share(weights)) == Template("Functional", inputs=1, outputs=1, layers=2, parameters=20)


def test_one_whose_weights_nobody_can_tell() -> None:
    model = sequential(layer("a", **DENSE))
    assert template_of(model, None) == Template("Sequential", inputs=1, outputs=1, layers=1, parameters=None)
