"""The objects of a checkpoint: what leads where, and what is a layer, a variable, a model."""

from __future__ import annotations

import pytest

from tests.unit.formats.tensorflow.objects import DENSE, ROOT, STATE, VALUE, checkpoint
from unnest.errors import Unreadable
from unnest.formats.tensorflow import object_graph

FOUND = checkpoint({"root": {"model": "model"}, "model": ROOT, "normalization": {"inner": "state"}, "dense": DENSE,
                    "state": STATE})  # fmt: skip


def test_models_and_their_layers() -> None:
    """An object of the architecture's layers is a model, wherever it hangs."""
    (model,) = FOUND.models()
    assert FOUND.way_to(model) == ["model"]
    assert [FOUND.way_to(n)[-1] for n in FOUND.layers(model).values()] == ["layer-0", "layer-1"]
    assert not FOUND.is_modern(model)
    assert FOUND.weight_keys(model) == {name + VALUE for name in (*DENSE, *STATE)}


def test_keras_3_numbers_its_operations() -> None:
    found = checkpoint({"root": {"_functional": "inner"}, "inner": {"_operations": "list"}, "list": {"2": "dense"},
                        "dense": DENSE})  # fmt: skip
    assert found.is_modern(0)
    assert [*found.layers(0)] == [2]


def test_variables_bear_the_attributes_that_lead_to_them() -> None:
    normalization, dense = FOUND.layers(FOUND.models()[0]).values()
    assert [*FOUND.variables(dense).values()] == [("kernel",), ("bias",)]
    assert [*FOUND.variables(normalization).values()] == [("inner", name) for name in STATE]
    assert FOUND.key(dense) is None
    assert {FOUND.key(n): FOUND.name(n) for n in FOUND.variables(dense)} == {
        f"{n}{VALUE}": n for n in DENSE
    }


def test_a_model_is_flat_where_no_layer_holds_objects_with_weights() -> None:
    assert not FOUND.is_flat(FOUND.models()[0])
    assert checkpoint({"root": {"layer-0": "dense"}, "dense": DENSE}).is_flat(0)


def test_lists_of_variables() -> None:
    found = checkpoint({"root": {"variables": "every", "trainable_variables": "trained"},
                        "every": {"1": "kernel", "0": "bias"}, "trained": {"0": "kernel"}})  # fmt: skip
    lists = found.stored_lists(0)
    assert lists is not None
    assert lists.trained == {"kernel" + VALUE}
    assert lists.order == ("bias" + VALUE, "kernel" + VALUE)
    assert FOUND.stored_lists(0) is None


def test_objects_are_not_looked_at_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_graph, "MAX_STEPS", 0)
    monkeypatch.setattr(object_graph, "MAX_STEPS_EACH", 1)
    found = checkpoint({"root": {"layer-0": "dense"}, "dense": DENSE})
    for _ in found.nodes:
        found.step()
    with pytest.raises(Unreadable, match="without end"):
        found.step()
