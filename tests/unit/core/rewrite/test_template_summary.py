"""The template in a report."""

from __future__ import annotations

import pytest

from tests.unit.core.build import DENSE, functional, layer, sequential, source, tensors
from unnest.core.model import Group, Tensor
from unnest.core.recognition_results import Template
from unnest.core.rewrite.template_summary import template_of, without_needless
from unnest.core.weight_assignment.layer_weights import Share


def test_a_template_with_its_weights() -> None:
    model = functional(source("x"), layer("y", ["x"], **DENSE))
    weights = tensors("y/kernel:0", "y/bias:0", shape=(4,))
    assert template_of(model, Share(weights)) == Template(
        "Functional", inputs=1, outputs=1, layers=2, parameters=20
    )


def test_one_whose_weights_nobody_can_tell() -> None:
    model = sequential(layer("a", **DENSE))
    assert template_of(model, None) == Template(
        "Sequential", inputs=1, outputs=1, layers=1, parameters=None
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["b'tied/kernel:0'_2", "pb/kernel:0"], ["tied/kernel:0", "pb/kernel:0"]),
        (["tied/kernel:0", "b'tied/kernel:0'_2"], ["tied/kernel:0", "b'tied/kernel:0'_2"]),
        (
            ["b'tied/kernel:0'_2", "b'tied/kernel:0'_3"],
            ["b'tied/kernel:0'_2", "b'tied/kernel:0'_3"],
        ),
        (["tied/kernel:0_2", "b'x'", "x_2"], ["tied/kernel:0_2", "b'x'", "x_2"]),
    ],
    ids=["alone", "beside its like", "beside another double", "other names"],
)
def test_a_number_goes_with_its_reason(before: list[str], after: list[str]) -> None:
    group = without_needless(Group("g", tuple(Tensor(name, (2,), "<f4", name) for name in before)))
    assert [(t.name, t.ref) for t in group.tensors] == list(zip(after, before, strict=True))
