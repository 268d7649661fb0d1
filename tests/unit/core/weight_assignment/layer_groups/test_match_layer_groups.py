"""Groups of weights and the layers that they are of."""

from __future__ import annotations

import pytest

from tests.unit.core.build import functional, layer, nested, sequential, source
from unnest.core.model import Group, Tensor
from unnest.core.weight_assignment.layer_groups.match_layer_groups import (
    group_names,
    grouped_layers,
    layer_name_by_group,
    with_plain_weight_names,
    without_operations,
)


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
    assert (
        layer_name_by_group(
            functional(source(), nested(sequential(layer("a"), name="y"), ["x"])), groups
        )
        == {}
    )


def test_branches_of_a_merge_have_groups_of_their_own() -> None:
    """Keras 1's Sequential that begins with a Merge of models."""
    branches = [
        sequential(layer("a")),
        functional(source(), layer("b", ["x"]), outputs=[("b", 0, 0)]),
    ]
    merge = layer("m", kind="Merge", concat_axis=-1, layers=branches)
    assert list(grouped_layers(sequential(merge, layer("c")))) == ["a", "x", "b", "c"]
    assert list(
        grouped_layers(sequential(layer("m", kind="Merge", mode="concat"), layer("c")))
    ) == ["m", "c"]


def test_operations_of_keras_3_have_no_groups() -> None:
    """Told from the layer of the same class by its config; one with weights is a layer, whatever its config says."""
    model = functional(
        source(),
        layer("a", ["x"], kind="Add", trainable=True),
        layer("add", ["a"], kind="Add"),
        layer("mine", ["add"], kind="Mine"),
        outputs=[("mine", 0, 0)],
    )
    tensor = Tensor("w", (1,), "<f4", "/w")
    groups = [Group("x", ()), Group("a", ()), Group("add", ()), Group("mine", (tensor,))]
    assert [group.name for group in without_operations(groups, model)] == ["x", "a", "mine"]


def test_layers_of_keras_3_that_do_not_say_whether_they_are_trained() -> None:
    """SpatialDropout and Discretization tell their dtype alone; so does an operation, whose class is no layer's."""
    model = functional(
        source(),
        layer("dropped", ["x"], kind="SpatialDropout1D", dtype="float32", rate=0.1),
        layer("bins", ["dropped"], kind="Discretization", dtype="float32", bin_boundaries=[0.5]),
        layer("y", ["bins"], kind="Cast", dtype="float32"),
    )
    groups = [Group(name, ()) for name in ("x", "dropped", "bins", "y")]
    assert [group.name for group in without_operations(groups, model)] == ["x", "dropped", "bins"]


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
    group = with_plain_weight_names(
        Group("g", tuple(Tensor(name, (2,), "<f4", name) for name in before))
    )
    assert [(t.name, t.ref) for t in group.tensors] == list(zip(after, before, strict=True))
