"""Leaf layers of models in models, and their weights."""

from __future__ import annotations

from tests.unit.core.build import DENSE, functional, layer, nested, sequential, source, tensors
from unnest.core.architecture.nested_models import leaves
from unnest.core.model import Group
from unnest.core.weight_assignment.flat_list.divide_flat_list import weights_by_leaf
from unnest.core.weight_transfer.target_model import groups_of

A, B, C = (tensors(f"{n}/kernel:0", f"{n}/bias:0") for n in "abc")
INNER = nested(sequential(layer("a", **DENSE), layer("b", **DENSE), name="inner"), ["x"])
MODEL = functional(source(), INNER, layer("c", ["inner"], **DENSE), outputs=[("c", 0, 0)])


def test_depth_first() -> None:
    assert [leaf.path for leaf in leaves(MODEL)] == [("x",), ("inner", "a"), ("inner", "b"), ("c",)]


def test_there_and_back() -> None:
    """A nested model's list is shared out, and its weights bear their owners in the groups that are made of it."""
    found = weights_by_leaf(MODEL, (Group("inner", (*A, *B)), Group("c", C)))
    assert {path: own for path, own in found.items() if own} == {
        ("inner", "a"): A,
        ("inner", "b"): B,
        ("c",): C,
    }
    groups = {group.name: group.tensors for group in groups_of(MODEL, found)}
    assert [t.owner for t in groups["inner"]] == [("a",), ("a",), ("b",), ("b",)]
    assert groups["c"] == C
    assert weights_by_leaf(MODEL, groups_of(MODEL, found)) == found
