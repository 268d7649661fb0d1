"""Shapes that layers store, and rows of one shape."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, sequential, source
from tests.unit.core.wrappers.one_layer import (
    called,
)
from unnest.core.model import Shape
from unnest.core.wrappers.layer_graph import stored_layer_shapes


@pytest.mark.parametrize(
    ("config", "shape"),
    [
        ({"batch_input_shape": [None, 3]}, (None, 3)),
        ({"batch_shape": [8, 3]}, (8, 3)),
        ({"batch_shape": "83"}, None),
        ({}, None),
    ],
)
def test_the_shape_of_an_input(config: dict[str, Any], shape: Shape | None) -> None:
    given, embedding = called("InputLayer", **config)[0], called("Embedding", **config)[0]
    assert stored_layer_shapes.stored_shape(given._replace(calls=())) == shape
    assert stored_layer_shapes.stored_shape(embedding) is None  # it reads another layer


def test_the_shapes_that_a_template_takes() -> None:
    two = functional(source("a", (None, 3)), source("b", (8, 2)), layer("y", ["a", "b"]),
                     inputs=[("b", 0, 0), ("a", 0, 0)])  # fmt: skip
    assert stored_layer_shapes.template_shapes(two) == [(8, 2), (None, 3)]
    chain = sequential(layer("d", batch_input_shape=[None, 4]))
    assert stored_layer_shapes.template_shapes(chain) == [(None, 4)]
    assert stored_layer_shapes.template_shapes(sequential(layer("d"))) == [None]
    assert stored_layer_shapes.template_shapes(sequential()) is None


@pytest.mark.parametrize(
    ("source_shape", "template_shape", "answer"),
    [
        ((None, 3), (8, 3), True),
        ((None, 3), (None, 4), False),
        ((None, 3), (None, 3, 1), False),
        ((None, None), (None, 4), True),
        (None, (None, 4), True),
    ],
)
def test_a_row_of_the_source_is_a_row_for_the_template(
    source_shape: Shape | None, template_shape: Shape | None, answer: bool
) -> None:
    assert stored_layer_shapes.same_rows(source_shape, template_shape) is answer
