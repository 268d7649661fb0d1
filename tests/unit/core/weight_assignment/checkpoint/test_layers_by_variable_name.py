"""The ways in which a variable bears a layer's name, and which goes before which."""

from __future__ import annotations

import pytest

from tests.unit.core.weight_assignment.checkpoint.test_assign_checkpoint_variables import (
    DENSE,
    layer,
    model,
    variables,
)
from unnest.core.architecture import read
from unnest.core.keras_facts.optimizer_classes import slot_order
from unnest.core.weight_assignment.checkpoint.assign_checkpoint_variables import CheckpointVariables
from unnest.core.weight_assignment.checkpoint.layers_by_variable_name import (
    MAX_SCOPES,
    Bearers,
    is_satellite,
    optimizer_state,
    without_numbers,
)
from unnest.core.weight_assignment.weight_order_within_layer import Variable

INNER = {"class_name": "LSTM", "config": {"name": "inner", **DENSE}}
LAYERS = read(
    model(
        layer("Dense", "d", DENSE),
        layer("Dense", "d_e", DENSE),
        layer("Bidirectional", "bi", {"layer": INNER}),
    )
).layers


def borne(name: str) -> tuple[str, str, tuple[str, ...], str, int] | None:
    """Layer, family, what lies between, the weight and its number."""
    bearing = Bearers([*LAYERS.values()]).find(Variable(name, None))
    if bearing is None:
        return None
    named = bearing.named_weight
    return bearing.layer, bearing.family, named.inner, named.weight, named.number


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("d/kernel", ("d", "d", (), "kernel", 0)),
        ("person/d/kernel", ("d", "person/d", (), "kernel", 0)),
        ("d/kernel_1", ("d", "d", (), "kernel", 1)),
        ("d_W", ("d", "d", (), "W", 0)),
        ("d_e_W", ("d_e", "d_e", (), "W", 0)),
        ("d_W_2", ("d", "d_2", (), "W", 0)),
        ("bi/inner/kernel", ("bi", "bi", ("inner",), "kernel", 0)),
        ("forward_inner/kernel", ("bi", "", ("forward_inner",), "kernel", 0)),
        ("forward_inner_W", ("bi", "bi", ("forward_inner",), "W", 0)),
        ("d_1/kernel", ("d", "d_1", (), "kernel", 0)),
        ("kernel", None),
        ("other/kernel", None),
        ("/".join(["d"] * (MAX_SCOPES + 1)), None),
    ],
)
def test_names(name: str, found: tuple[str, str, tuple[str, ...], str, int] | None) -> None:
    """The longest name, own ones before those of layers in layers, and before such as have numbers."""
    assert borne(name) == found


def test_satellites() -> None:
    """A slot has the whole name of what it belongs to."""
    names = {"d/kernel", "d/kernel/Adam"}
    assert is_satellite("d/kernel/Adam", names)
    assert is_satellite("training/d/kernel/m", names)
    assert not is_satellite("d/kernel", names)
    assert not is_satellite("/".join(["d", "kernel"] * MAX_SCOPES), names)


def test_numbers_behind_a_name() -> None:
    assert [without_numbers(name) for name in ("a_1_2", "a", "a_b")] == ["a", "a", "a_b"]


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
