"""What a model needs to be held by another container."""

from __future__ import annotations

from tests.unit.core.build import tensors
from unnest.core.model import Group, Stored
from unnest.formats.convert import in_hdf5


def test_weights_of_one_name_are_numbered_within_their_group() -> None:
    """A nested model has layers that are called as those of another; so have their slots."""
    twice = tensors("dense/kernel:0", "dense/bias:0", "dense/kernel:0", "dense/kernel:0")
    model = Stored("model", groups=(Group("a", twice), Group("b", twice[:2])), optimizer=twice[::2])
    held = in_hdf5(model).model
    names = ["dense/kernel:0", "dense/bias:0", "dense/kernel:0_2", "dense/kernel:0_3"]
    assert [[t.name for t in group.tensors] for group in held.groups] == [names, names[:2]]
    assert [t.name for t in held.optimizer or ()] == ["dense/kernel:0", "dense/kernel:0_2"]
    assert [t.ref for t in held.groups[0].tensors] == [t.ref for t in twice]


def test_without_an_optimizer_there_is_none() -> None:
    assert in_hdf5(Stored("weights")).model.optimizer is None
