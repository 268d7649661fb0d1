"""The model of an architecture, wherever it hangs among the objects."""

from __future__ import annotations

import pytest

from tests.unit.core import build
from tests.unit.formats.tensorflow.objects import DENSE, ROOT, STATE, checkpoint, sequential
from unnest.errors import Refused
from unnest.formats.tensorflow.object_models import ObjectModels

ONE = sequential(("Dense", {**build.DENSE, "units": 2}))
TWO = {"root": ROOT, "normalization": STATE, "dense": DENSE}


def test_a_model_that_hangs_on_another() -> None:
    """The models around it are returned, the outermost first: which of their layers it is, and of how many."""
    models = ObjectModels(checkpoint({
        "root": {"layer-0": "normalization", "layer-1": "inner"}, "normalization": STATE,
        "inner": {"layer-0": "dense"}, "dense": DENSE,
    }))  # fmt: skip
    placed = models.find(ONE)
    assert models.graph.way_to(placed.node) == ["layer-1"]
    assert placed.within == ((0, 1, 2),)
    assert [t.name for group in placed.groups for t in group.tensors] == ["kernel:0", "bias:0"]


def test_no_model_and_another_model() -> None:
    with pytest.raises(Refused, match="has no layers"):
        ObjectModels(checkpoint({"root": {}})).find(ONE)
    with pytest.raises(Refused, match="has 3 layers here and 1 in the architecture"):
        ObjectModels(
            checkpoint(
                {"root": {**ROOT, "layer-2": "dense"}, "normalization": STATE, "dense": DENSE}
            )
        ).find(ONE)


def test_two_models_of_one_architecture() -> None:
    """Of one whose weights bear the names of its layers, and one whose weights do not, the first is meant."""
    both = {
        "root": {"one": "a", "other": "b"},
        "a": {"layer-0": "dense"},
        "b": {"layer-0": "second"},
    }
    normalization = sequential(("Normalization", {"axis": [-1]}))
    objects = {**both, "dense": {"mean": "mean"}, "second": {"variance": "variance"}}
    with pytest.raises(Refused, match="holds 2 models that fit the architecture"):
        ObjectModels(checkpoint(objects)).find(normalization)
    same = {**both, "dense": DENSE, "second": DENSE}
    assert ObjectModels(checkpoint(same)).find(ONE).doubt is None


def test_what_a_user_with_the_code_can_do() -> None:
    objects = {"root": {"model": "m"}, "m": {"layer-0": "own"}, "own": {"a": "kernel", "b": "bias"}}
    placed = ObjectModels(checkpoint(objects)).find(sequential(("Own", {"units": 2})))
    assert placed.doubt is not None
    assert "tf.train.Checkpoint(model=MODEL).restore('c')" in placed.doubt.message
    with pytest.raises(Refused, match="which weights of 'own' are trained is not stored"):
        ObjectModels(checkpoint(objects)).weights(sequential(("Own", {"units": 2})))


def test_the_weights_of_a_model() -> None:
    kinds = (("Normalization", {"axis": [-1]}), ("Dense", {**build.DENSE, "units": 2}))
    weights = ObjectModels(checkpoint(TWO)).weights(sequential(*kinds))
    assert [group.name for group in weights.groups] == ["normalization", "dense"]
    assert weights.optimizer is None
