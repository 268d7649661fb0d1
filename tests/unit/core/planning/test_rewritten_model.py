"""The output of a plan holds every tensor that stays, and the optimizer's state in its order."""

from __future__ import annotations

import pytest

from tests.unit.core.build import DENSE, functional, layer, tensors
from tests.unit.core.rewrite.wrapping import MERGE
from tests.unit.core.test_make_plan import (
    GROUPS,
    PARALLEL,
    WEIGHTS,
    stored,
)
from unnest.core.make_plan import plan
from unnest.core.model import Group, Tensor


def test_optimizer_state_stays_in_its_order() -> None:
    state = tensors("iterations", "m_a", "m_b")
    state = tuple(t._replace(ref=f"/optimizer{t.ref}") for t in state)
    result = plan(stored(optimizer=state))
    assert result.result is not None
    assert result.result.optimizer == state
    assert result.dropped == ()


@pytest.mark.parametrize(
    ("version", "order"),
    [("2.4.0", "aebf"), ("2.0.6", "aebf"), ("2.0.5", "abef"), ("1.2.2", "abef")],
)
def test_optimizer_state_where_layers_move(version: str, order: str) -> None:
    """Under a head the template's `b` comes to stand behind `e`; so does its state, unless it is sorted by names."""
    join = layer("c", ["m", "f"], kind="Concatenate", axis=-1)
    beside = (layer("e", ["x"], **DENSE), MERGE, layer("f", ["e"], **DENSE), join)
    headed = functional(
        *PARALLEL["config"]["layers"][:-1], *beside, outputs=[("c", 0, 0)], name="outer"
    )
    groups = {name: Group(name, tensors(f"{name}/kernel:0", f"{name}/bias:0")) for name in "ef"}
    weights = (*WEIGHTS, *groups["e"].tensors, *groups["f"].tensors)
    state = tuple(t._replace(ref=f"/optimizer{t.ref}") for t in weights)
    before = stored(headed, (*GROUPS[:3], groups["e"], GROUPS[3], groups["f"]), optimizer=state)
    result = plan(before._replace(keras_version=version)).result
    assert result is not None
    assert [g.name for g in result.groups if g.tensors] == [*"aebf"]
    assert [t.name for t in result.optimizer or ()] == [
        f"{name}/{w}:0" for name in order for w in ("kernel", "bias")
    ]


def test_a_tensor_that_would_be_lost_is_refused() -> None:
    """A group of a layer that the graph does not have."""
    stray = Tensor("stray", (3,), "<f4", "/stray")
    result = plan(stored(groups=(*GROUPS, Group("nobody", (stray,)))))
    assert result.refusal is not None
    assert (result.refusal.code, result.result) == ("weights-unplaced", None)
    assert "/stray" in result.refusal.message
