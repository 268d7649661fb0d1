"""Slots of an optimizer, by the names of their variables."""

from __future__ import annotations

from tests.unit.core.weight_assignment.checkpoint.test_assign_checkpoint_variables import (
    DENSE,
    layer,
    model,
    variables,
)
from unnest.core.keras_facts.optimizer_classes import slot_order
from unnest.core.weight_assignment.checkpoint.assign_checkpoint_variables import CheckpointVariables
from unnest.core.weight_assignment.checkpoint.optimizer_state_by_variable_names import (
    optimizer_state,
)


def test_slots() -> None:
    """Slot after slot but for Ftrl; none of an unknown optimizer."""
    names = "d/kernel d/bias opt/iter opt/beta " + " ".join(
        f"opt/d/{w}/{s}" for w in ("bias", "kernel") for s in "vm"
    )
    known = CheckpointVariables("ckpt", variables(names))
    groups = known.groups(model(layer("Dense", "d", DENSE)))
    assert [t.ref for t in optimizer_state(known.variables, groups) or ()] == [
        "opt/iter", "opt/d/kernel/m", "opt/d/bias/m", "opt/d/kernel/v", "opt/d/bias/v",
    ]  # fmt: skip
    assert slot_order({"linear", "accumulator"}) == ("accumulator", "linear")
    assert slot_order({"m", "memory"}) is None
    strange = CheckpointVariables("ckpt", variables(names.replace("/v", "/memory")))
    assert (
        optimizer_state(strange.variables, strange.groups(model(layer("Dense", "d", DENSE))))
        is None
    )


def test_two_optimizers_are_none_for_certain() -> None:
    names = "d/kernel d/bias Adam/d/kernel/m Adam/d/bias/m Other/d/kernel/m Other/d/bias/m"
    known = CheckpointVariables("ckpt", variables(names))
    assert optimizer_state(known.variables, known.groups(model(layer("Dense", "d", DENSE)))) is None
