"""Numbers of shared objects, as a model's writer gives them at top level."""

from __future__ import annotations

from typing import Any

from tests.unit.core.build import functional, layer, nested, source
from unnest.core.architecture import renumber_shared_objects


def numbered(entry: dict[str, Any], number: int) -> dict[str, Any]:
    return {**entry, "shared_object_id": number}


def test_a_number_goes_where_its_object_is_left_once() -> None:
    """The outer model reuses the template's input layer: it stands in both, numbered."""
    shared = numbered(source(), 0)
    template = functional(shared, layer("y", ["x"]), name="template")
    outer = functional(shared, nested(template, ["x"]), layer("y", [("template", 1, 0)]))
    assert renumber_shared_objects(outer, template) == functional(
        source(), layer("y", ["x"]), name="template"
    )


def test_objects_that_stand_twice_keep_a_number_moved_up_by_those_that_went() -> None:
    initializer = numbered({"class_name": "Zeros", "config": {}}, 3)
    template = functional(
        source(), layer("y", ["x"], a=initializer, b=initializer), name="template"
    )
    outer = functional(layer("s", ["x"]), layer("t", ["x"]), nested(template, ["s"]))
    after = renumber_shared_objects(outer, template)
    config: Any = after["config"]
    y = config["layers"][1]
    assert (
        y["config"]["a"]
        == y["config"]["b"]
        == {"class_name": "Zeros", "config": {}, "shared_object_id": 1}
    )


def test_a_model_without_numbers_is_the_very_object() -> None:
    model = functional(source(), layer("y", ["x"]))
    assert renumber_shared_objects(model, model) is model
