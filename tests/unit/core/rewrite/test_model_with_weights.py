"""A model's weights: by layer where that is known, else as one list."""

from __future__ import annotations

import pytest

from tests.unit.core.build import DENSE, NORM, functional, layer, sequential, source, tensors
from unnest.core.rewrite.model_with_weights import ModelWithWeights
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights

TWO = sequential(layer("a", **DENSE), layer("b", **DENSE))
FLAT = tensors("a/kernel:0", "a/bias:0", "b/kernel:0", "b/bias:0")


def test_a_flat_list_is_shared_out_when_somebody_asks() -> None:
    nested = ModelWithWeights.of_nested(TWO, LayerWeights(FLAT))
    assert nested.groups is None
    assert nested.as_flat_list().tensors == FLAT
    assert {name: share.tensors for name, share in nested.by_layer().items()} == {
        "a": FLAT[:2],
        "b": FLAT[2:],
    }
    of_b = nested.of_layer("b")
    assert of_b is not None
    assert of_b.tensors == FLAT[2:]
    assert nested.of_layer("c") is None


def test_what_the_container_says_is_owned() -> None:
    """And the flat list of it says so again."""
    owned = tuple(t._replace(owner=(name,)) for name, t in zip("aabb", FLAT, strict=True))
    nested = ModelWithWeights.of_nested(TWO, LayerWeights(owned))
    assert nested.owned
    assert nested.groups is not None
    assert nested.as_flat_list().tensors == owned


def test_a_list_that_fits_no_layers_is_nobodys() -> None:
    nested = ModelWithWeights.of_nested(TWO, LayerWeights(FLAT[:3]))
    assert nested.of_layer("a") is None
    with pytest.raises(Ambiguous):
        nested.by_layer()


def test_a_layer_is_exchanged() -> None:
    by_layer = ModelWithWeights(TWO, {"a": LayerWeights(FLAT[:2]), "b": LayerWeights(FLAT[2:])})
    new = LayerWeights(FLAT[:1])
    assert by_layer.with_layer("a", "c", new).groups == {"c": new, "b": LayerWeights(FLAT[2:])}
    flat = ModelWithWeights.of_nested(TWO, LayerWeights(FLAT))
    assert flat.with_layer("a", "c", new) is flat


@pytest.mark.parametrize(("frozen", "trained"), [(False, 2), (True, 0)])
def test_what_the_optimizer_holds_state_for(frozen: bool, trained: int) -> None:
    config = {**DENSE, "trainable": False} if frozen else DENSE
    model = functional(source(), layer("y", ["x"], **config))
    of_file = ModelWithWeights(
        model, {"y": LayerWeights(tensors("y/kernel:0", "y/bias:0"), sorted_out=False)}
    )
    ordered = of_file.trained_in_order()
    assert ordered is not None
    assert len(ordered) == trained


def test_a_layer_that_does_not_tell() -> None:
    """Trained weights of a custom layer are known if the container separates them."""
    model = functional(source(), layer("y", ["x"], kind="Own"))
    weights = tensors("y/a:0", "y/b:0")
    assert (
        ModelWithWeights(model, {"y": LayerWeights(weights, sorted_out=False)}).trained_in_order()
        is None
    )
    assert ModelWithWeights(
        model, {"y": LayerWeights(weights[:1], weights[1:])}
    ).trained_in_order() == [weights[0]]


def test_what_is_trained_of_a_nested_model() -> None:
    inner = sequential(layer("n", kind="BatchNormalization", **NORM), name="y")
    model = functional(source(), {**layer("y", ["x"]), **inner})
    weights = tensors("gamma:0", "beta:0", "mean:0", "variance:0")
    of_file = ModelWithWeights(model, {"y": LayerWeights(weights, sorted_out=False)})
    assert of_file.trained_in_order() == [*weights[:2]]
