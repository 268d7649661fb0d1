"""Correspondence of a file's layers and those of the caller's model."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, source
from unnest.core.architecture.nested_models import LeafPath, leaves
from unnest.core.weight_transfer.match_layers_by_graph import Different, match_layers
from unnest.core.weight_transfer.target_model import WeightShape

KERNEL, BIAS = (3, 3), (3,)


def shapes(model: dict[str, Any]) -> dict[LeafPath, tuple[WeightShape, ...]]:
    return {leaf.path: (KERNEL, BIAS) for leaf in leaves(model) if leaf.layer.class_name == "Dense"}


def found(stored: dict[str, Any], target: dict[str, Any]) -> dict[str, str]:
    told = match_layers(stored, target, shapes(stored), shapes(target))
    return {"/".join(new): "/".join(old) for new, old in told.stored.items()}


def branches(
    one: str, other: str, *, joined: tuple[str, str], middle: str = "Concatenate"
) -> dict[str, Any]:
    """Two dense layers side by side, the second behind a tanh."""
    return functional(
        source(), layer(one, ["x"], **DENSE), layer(other, ["x"], activation="tanh", **DENSE),
        layer("y", [*joined], kind=middle, axis=-1),
    )  # fmt: skip


def test_structure_decides_whatever_names_say() -> None:
    stored, target = branches("a", "b", joined=("a", "b")), branches("b", "a", joined=("b", "a"))
    assert found(stored, target) == {"b": "a", "a": "b", "y": "y"}


def test_where_they_part_is_named() -> None:
    with pytest.raises(Different, match="Dense 'a', your model Activation tanh 'b'"):
        found(branches("a", "b", joined=("a", "b")), branches("a", "b", joined=("b", "a")))
    with pytest.raises(Different, match="Concatenate 'y', your model Add 'y'"):
        found(
            branches("a", "b", joined=("a", "b")),
            branches("a", "b", joined=("a", "b"), middle="Add"),
        )


@pytest.mark.parametrize("kind", ["Add", "Average", "Maximum"])
def test_the_operands_of_a_sum_have_no_order(kind: str) -> None:
    """The layers above operands decide, as in another release's residual blocks; those of a Subtract have an order."""
    stored, target = (
        branches("a", "b", joined=("a", "b"), middle=kind),
        branches("c", "d", joined=("d", "c"), middle=kind),
    )
    assert found(stored, target) == {"c": "a", "d": "b", "y": "y"}
    both = [
        branches("a", "b", joined=joined, middle="Subtract") for joined in (("a", "b"), ("b", "a"))
    ]
    with pytest.raises(Different, match="there"):
        found(*both)


def test_two_layers_are_not_one() -> None:
    shared = functional(
        source(),
        layer("a", ["x"], ["x"], **DENSE),
        layer("y", [("a", 0, 0), ("a", 1, 0)], kind="Add"),
    )
    apart = functional(
        source(),
        layer("a", ["x"], **DENSE),
        layer("b", ["x"], **DENSE),
        layer("y", ["a", "b"], kind="Add"),
    )
    assert found(shared, shared) == {"a": "a", "y": "y"}
    with pytest.raises(Different, match="several layers in your model"):
        found(shared, apart)
    with pytest.raises(Different, match="several layers in the file"):
        found(apart, shared)


def with_code(kind: str, first: str, second: str) -> dict[str, Any]:
    return functional(
        source(), layer(first, ["x"], **DENSE), layer("code", [first], kind=kind), layer(second, ["code"], **DENSE),
        outputs=[(second, 0, 0)],
    )  # fmt: skip


def test_code_is_named_and_walked_over() -> None:
    told = match_layers(
        *(with_code("Lambda", "a", "b"),) * 2, *(shapes(with_code("Lambda", "a", "b")),) * 2
    )
    assert told.not_compared == ("code",)


def test_where_code_ends_the_walk_names_must_agree() -> None:
    """Two layers of equal shape: their order is that of the graph, of which not all can be compared."""
    assert found(with_code("Mine", "a", "b"), with_code("Lambda", "a", "b")) == {"a": "a", "b": "b"}
    with pytest.raises(Different, match="may be several layers"):
        found(with_code("Mine", "a", "b"), with_code("Lambda", "c", "d"))
