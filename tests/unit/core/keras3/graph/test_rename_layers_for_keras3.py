"""Names that Keras 3 does not take are changed."""

from __future__ import annotations

import pytest

from tests.unit.core import build
from tests.unit.core.build import layer, sequential
from unnest.core.architecture import read
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.graph.rename_layers_for_keras3 import keras_3_names


@pytest.mark.parametrize(
    ("found", "masks", "today", "renamed"),
    [
        (["dense", "concat"], False, ["dense", "concat"], []),
        (["tower/dense"], False, ["tower_dense"], ["tower/dense"]),
        (["tower/dense", "tower_dense"], False, ["tower_dense_1", "tower_dense"], ["tower/dense"]),
        (["a/b/c", "a/b_c"], False, ["a_b_c", "a_b_c_1"], ["a/b/c", "a/b_c"]),
        (
            ["any", "where_1", "wherever"],
            True,
            ["any_layer", "where_1_layer", "wherever"],
            ["any", "where_1"],
        ),
        (["any", "where_1"], False, ["any", "where_1"], []),
        (["where/1"], True, ["where_1_1"], ["where/1"]),
        (["where/1"], False, ["where_1"], ["where/1"]),
        (["where/1", "where_1"], True, ["where_1_1", "where_1_layer"], ["where/1", "where_1"]),
    ],
)
def test_names_of_today(
    found: list[str], masks: bool, today: list[str], renamed: list[str]
) -> None:
    """Without slashes; those of the operations that compute masks only where there are masks."""
    context = Context(masks=masks)
    graph = read(sequential(*(layer(name, **build.DENSE) for name in found)))
    assert keras_3_names(graph.layers, context) == dict(zip(found, today, strict=True))
    assert [n for c in context.conversions() for n in c.layers] == renamed
