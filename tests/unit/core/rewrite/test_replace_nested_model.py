"""Another model in the place of a nested one."""

from __future__ import annotations

from tests.unit.core.rewrite.wrapping import (
    EMBEDDED,
    TEMPLATE,
    found,
)
from unnest.core.architecture import read
from unnest.core.model import Ref
from unnest.core.rewrite import replace_nested_model


def test_a_nested_model_in_anothers_place_keeps_its_name_unless_it_is_taken() -> None:
    graph, _ = found(EMBEDDED)
    model, name = replace_nested_model.replace_nested_model(
        graph, "t", {**TEMPLATE, "config": {**TEMPLATE["config"], "name": "new"}}
    )
    assert name == "new"
    assert read(model).layers["m"].calls[0].reads == (Ref("new", 0, 0), Ref("new", 1, 0))
    taken = {**TEMPLATE, "config": {**TEMPLATE["config"], "name": "h"}}
    assert replace_nested_model.replace_nested_model(graph, "t", taken)[1] == "t"
