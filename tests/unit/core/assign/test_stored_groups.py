"""Groups of weights and the layers that they are of."""

from __future__ import annotations

from tests.unit.core.build import functional, layer, nested, sequential, source
from unnest.core.assign.stored_groups import group_names, layer_name_by_group
from unnest.core.model import Group


def test_a_sequential_does_not_count_its_input() -> None:
    assert group_names(sequential(source(), layer("a"))) == ["a"]
    assert group_names(functional(source(), layer("y", ["x"]))) == ["x", "y"]


def test_groups_of_a_sequential_go_by_their_place() -> None:
    """Keras 1 stores a Sequential in another as a bare list, under no name."""
    inner = {"class_name": "Sequential", "config": [layer("b")]}
    model = sequential(layer("a"), layer("c"))
    model["config"]["layers"].insert(1, inner)
    groups = [Group(name, ()) for name in ("a", "model_7", "c")]
    assert layer_name_by_group(model, groups) == {"a": "a", "model_7": "sequential_1", "c": "c"}
    assert layer_name_by_group(model, groups[:2]) == {}
    assert layer_name_by_group(functional(source(), nested(sequential(layer("a"), name="y"), ["x"])), groups) == {}
