"""Weights of a parallel model, shared out to the layers of the single-device model that was kept apart."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, sequential, source, tensors
from unnest.core.model import Group
from unnest.core.weight_assignment.layer_groups.divide_by_architecture import divide_parallel_groups
from unnest.core.weight_assignment.layer_weights_record import Ambiguous

FIRST, SECOND, HEAD = (tensors(f"{name}/kernel:0", f"{name}/bias:0") for name in ("a", "b", "h"))
GROUPS = (
    Group("x", ()),
    Group("s", ()),
    Group("t", (*FIRST, *SECOND)),
    Group("m", ()),
    Group("h", HEAD),
)


def dense(name: str, *reads: str) -> dict[str, Any]:
    return layer(name, reads, **DENSE)


def chain(*names: str) -> dict[str, Any]:
    layers = [dense(name, before) for before, name in zip(("x", *names), names, strict=False)]
    return functional(source(), *layers, outputs=[(names[-1], 0, 0)])


def under(head: dict[str, Any]) -> dict[str, Any]:
    """The template's two layers, and another."""
    return functional(source(), dense("a", "x"), dense("b", "a"), head, outputs=[("h", 0, 0)])


def test_a_head_has_groups_of_its_own() -> None:
    groups, by_order = divide_parallel_groups(GROUPS, chain("a", "b", "h"))
    assert {group.name: group.tensors for group in groups} == {
        "x": (),
        "a": FIRST,
        "b": SECOND,
        "h": HEAD,
    }
    assert by_order == ()


def test_a_sequential_s_too() -> None:
    groups, _ = divide_parallel_groups(GROUPS, sequential(dense("a"), dense("b"), dense("h")))
    assert [(group.name, group.tensors) for group in groups] == [
        ("a", FIRST),
        ("b", SECOND),
        ("h", HEAD),
    ]


def test_what_is_behind_the_head_may_have_no_weights() -> None:
    behind = layer("r", ["h"], kind="ReLU")
    model = functional(
        source(), dense("a", "x"), dense("b", "a"), dense("h", "b"), behind, outputs=[("r", 0, 0)]
    )
    assert {group.name: len(group.tensors) for group in divide_parallel_groups(GROUPS, model)[0]}[
        "h"
    ] == 2


SCALE = layer("a", ["x"], kind="Scale")
MINE = functional(source(), SCALE, dense("h", "a"), outputs=[("h", 0, 0)])


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (chain("a", "b", "c"), "are not those of the weights"),
        (chain("a", "h", "b"), "b follows h"),
        (sequential(dense("a"), dense("h"), dense("b")), "b follows h"),
        (chain("a", "b", "c", "h"), "do not fit"),
        (under(layer("h", ["b"], **{**DENSE, "use_bias": False})), "promises"),
        (under(layer("h", ["b"], **{**DENSE, "units": 7})), "shapes"),
        (under(layer("h", ["b"], kind="ReLU")), "promises"),
    ],
    ids=[
        "other names",
        "in front",
        "in front, in a chain",
        "one more",
        "fewer weights",
        "other units",
        "none",
    ],
)
def test_what_does_not_fit_without_doubt(model: dict[str, Any], why: str) -> None:
    with pytest.raises(Ambiguous, match=why):
        divide_parallel_groups(GROUPS, model)


def test_weights_of_the_template_that_bear_the_name_of_the_head() -> None:
    """A custom layer would take any."""
    groups = (
        Group("t", (*tensors("a/gamma:0"), *tensors("h/kernel:0", "h/bias:0"))),
        Group("h", HEAD),
    )
    with pytest.raises(Ambiguous, match="bear the name of a layer behind"):
        divide_parallel_groups(groups, MINE)
    groups = (Group("t", tensors("a/gamma:0", "a/beta:0")), Group("h", HEAD))
    assert [len(group.tensors) for group in divide_parallel_groups(groups, MINE)[0]] == [0, 2, 2]
