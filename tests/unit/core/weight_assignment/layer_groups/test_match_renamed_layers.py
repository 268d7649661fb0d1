"""Weights of a model whose layers have other names in the JSON."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, source, tensors
from unnest.core.model import Group
from unnest.core.weight_assignment.layer_groups.match_renamed_layers import (
    rename_groups,
    template_layers_by_order,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous


def chain(*names: str, kind: str = "Dense", **config: Any) -> dict[str, Any]:
    """A chain of layers of one width."""
    layers, before = [source()], "x"
    for name in names:
        layers.append(layer(name, [before], kind=kind, **config))
        before = name
    return functional(*layers, outputs=[(before, 0, 0)])


def dense(*names: str) -> dict[str, Any]:
    return chain(*names, **DENSE)


def groups(*names: str) -> list[Group]:
    return [Group(name, tensors(f"{name}/kernel:0", f"{name}/bias:0")) for name in names]


@pytest.mark.parametrize(
    ("stored", "given", "by_order"),
    [
        (("a", "b", "c"), ("a", "b", "c"), ()),
        (("a", "b", "c"), ("a", "d", "c"), ("d",)),
        (("a", "b", "c"), ("d", "e", "f"), ("d", "e", "f")),
    ],
)
def test_order_places_what_has_another_name(
    stored: tuple[str, ...], given: tuple[str, ...], by_order: tuple[str, ...]
) -> None:
    renamed = rename_groups(groups(*stored), dense(*given))
    assert renamed.by_order == by_order
    assert [group.name for group in renamed.groups] == ["x", *given]
    assert [group.tensors[0].name for group in renamed.groups[1:]] == [
        f"{name}/kernel:0" for name in stored
    ]


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        (("a", "b", "c"), ("b", "a", "d")),
        (("a", "b"), ("b", "d")),
        (("a", "b"), ("a", "b", "c")),
        (("a", "b", "c"), ("a", "d")),
    ],
)
def test_what_order_does_not_place(stored: tuple[str, ...], given: tuple[str, ...]) -> None:
    """Names of one shape that stand elsewhere, and another number of layers."""
    with pytest.raises(Ambiguous):
        rename_groups(groups(*stored), dense(*given))


def test_a_layer_without_weights_that_is_gone() -> None:
    """All that have weights are there, and the code is of another state nevertheless."""
    listed = [Group("x", ()), *groups("a"), Group("flat", ()), *groups("b")]
    with pytest.raises(Ambiguous, match="not those of the weights"):
        rename_groups(listed, dense("a", "c"))


def test_custom_code_may_have_no_weights() -> None:
    """Which layers have some does not follow, unless the file lists all layers."""
    listed = [Group("x", ()), *groups("a"), Group("b", ())]
    mine = chain("a", "d", kind="Mine")
    assert rename_groups(listed, mine).by_order == ()
    with pytest.raises(Ambiguous):
        rename_groups(groups("a"), mine)


def test_a_template_s_layers_by_order() -> None:
    """Those out of its list; a group that the file has itself is known by its name."""
    of_file = [Group("net", ()), *groups("head")]
    made = [
        Group("d", tensors("a/kernel:0")),
        Group("head", tensors("head/kernel:0")),
    ]
    assert template_layers_by_order(made, of_file, dense("d", "head")) == ("d",)
