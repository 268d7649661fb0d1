"""Numbers of shared objects, as a model's writer gives them at top level."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, nested, source
from unnest.core.architecture import as_saved_at_top_level


def numbered(entry: dict[str, Any], number: int) -> dict[str, Any]:
    return {**entry, "shared_object_id": number}


def test_a_number_goes_where_its_object_is_left_once() -> None:
    """The outer model reuses the template's input layer: it stands in both, numbered."""
    shared = numbered(source(), 0)
    template = functional(shared, layer("y", ["x"]), name="template")
    outer = functional(shared, nested(template, ["x"]), layer("y", [("template", 1, 0)]))
    assert as_saved_at_top_level(outer, template) == functional(
        source(), layer("y", ["x"]), name="template"
    )


def test_objects_that_stand_twice_keep_a_number_moved_up_by_those_that_went() -> None:
    initializer = numbered({"class_name": "Zeros", "config": {}}, 3)
    template = functional(
        source(), layer("y", ["x"], a=initializer, b=initializer), name="template"
    )
    outer = functional(layer("s", ["x"]), layer("t", ["x"]), nested(template, ["s"]))
    after = as_saved_at_top_level(outer, template)
    config: Any = after["config"]
    y = config["layers"][1]
    assert (
        y["config"]["a"]
        == y["config"]["b"]
        == {"class_name": "Zeros", "config": {}, "shared_object_id": 1}
    )


def test_a_model_without_numbers_is_the_very_object() -> None:
    model = functional(source(), layer("y", ["x"]))
    assert as_saved_at_top_level(model, model) is model


def _sequential(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"class_name": "Sequential", "config": {"name": "template", "layers": [*entries]}}


@pytest.mark.parametrize(
    "named", [False, True], ids=["entries without names", "entries with names"]
)
def test_a_layer_of_a_sequential_loses_the_calls_of_the_outer_model(named: bool) -> None:
    """The writer keeps one dictionary for a layer of both, and writes the outer model's call into it."""
    names = [{"name": "a"}, {"name": "b"}] if named else [{}, {}]
    first, second = ({**name, "class_name": "Dense", "config": {}} for name in names)
    in_both = {**first, "name": "a", "inbound_nodes": [[["x", 0, 0, {}]]]}
    outer = functional(source(), in_both, nested(_sequential(in_both, second), ["x"]))
    after = as_saved_at_top_level(outer, _sequential(in_both, second))
    assert after == _sequential(first, second)


def test_a_sequential_whose_layers_all_store_calls_is_left_as_it_is() -> None:
    """No entry shows how the writer stores one without."""
    layers = [layer("a", ["x"]), layer("b", ["a"])]
    assert as_saved_at_top_level(functional(source()), _sequential(*layers)) == _sequential(*layers)
