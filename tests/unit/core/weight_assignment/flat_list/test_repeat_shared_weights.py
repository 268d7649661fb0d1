"""A layer that two nested models share is stored once: its weights go to both places, where that is certain."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, NORM, functional, layer, nested, source, tensors
from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.weight_assignment.flat_list.divide_flat_list import divide_flat_list
from unnest.core.weight_assignment.flat_list.repeat_shared_weights import (
    lacks_weights_of_wrapped_models,
    repeat_shared_weights,
)


def dense(name: str, before: str, **config: Any) -> dict[str, Any]:
    return layer(name, [before], **{**DENSE, **config})


def norm(name: str, before: str) -> dict[str, Any]:
    return layer(name, [before], kind="BatchNormalization", **NORM)


def model(name: str, *layers: dict[str, Any]) -> dict[str, Any]:
    """A nested model of layers that read one another in a row, called on `x`."""
    return nested(
        functional(source(), *layers, outputs=[(layers[-1]["name"], 0, 0)], name=name), ["x"]
    )


def template(*models: dict[str, Any]) -> Graph:
    return read(functional(source(), *models, outputs=[(models[-1]["name"], 0, 0)]))


ONE = model("one", dense("both", "x"), norm("n", "both"))
OTHER = model("other", dense("both", "x"), dense("y", "both"))
ONCE = [
    "both/kernel:0",
    "both/bias:0",
    "n/gamma:0",
    "n/beta:0",
    "y/kernel:0",
    "y/bias:0",
    "n/mean:0",
    "n/variance:0",
]
AT_BOTH = [*ONCE[:4], "both/kernel:0", "both/bias:0", *ONCE[4:]]


def placed(names: list[str], graph: Graph) -> list[str]:
    return [t.name for t in repeat_shared_weights(tensors(*names), graph)]


def test_shared_layer_at_both_places() -> None:
    """Trained weights in the order of the models, statistics behind them."""
    assert placed(ONCE, template(ONE, OTHER)) == AT_BOTH


def test_list_of_every_place_stays() -> None:
    assert placed(AT_BOTH, template(ONE, OTHER)) == AT_BOTH


@pytest.mark.parametrize(
    ("names", "models"),
    [
        (ONCE[1:], (ONE, OTHER)),  # one weight less
        (["b/kernel:0", *ONCE[1:]], (ONE, OTHER)),  # another layer's, by its name
        (
            ONCE,
            (ONE, model("other", dense("both", "x", units=5), dense("y", "both"))),
        ),  # not the same layer
        (ONCE, (ONE, model("other", dense("alone", "x"), dense("y", "alone")))),  # nor called so
        (
            ONCE,
            (ONE, OTHER, model("third", dense("both", "x"), layer("c", ["both"], kind="Custom"))),
        ),  # who knows
    ],
    ids=["a weight less", "another's name", "another config", "another layer", "untold weights"],
)
def test_doubtful_list_stays(names: list[str], models: tuple[dict[str, Any], ...]) -> None:
    assert placed(names, template(*models)) == names


def applying(name: str, before: str) -> dict[str, Any]:
    """A TimeDistributed layer over a model of two layers of one shape with statistics between them."""
    inner = functional(
        source(),
        dense("d", "x"),
        norm("n", "d"),
        dense("e", "n"),
        outputs=[("e", 0, 0)],
        name="each_step",
    )
    return layer(name, [before], kind="TimeDistributed", layer=inner)


@pytest.mark.parametrize("prefix", ["", "each_step/"])  # as tf.keras and Keras 3 call them
def test_model_that_two_layers_apply(prefix: str) -> None:
    """Both have the whole list, in the order of the model's own; no other reading of the two is searched for."""
    own = [
        f"{prefix}{name}"
        for name in ("d/k", "d/b", "n/gamma", "n/beta", "e/k", "e/b", "n/mean", "n/variance")
    ]
    shares = divide_flat_list(tensors(*own), template(applying("a", "x"), applying("b", "a")))
    assert {
        name: [t.name for t in share.tensors] for name, share in shares.items() if share.tensors
    } == {
        "a": own,
        "b": own,
    }


def test_owners_are_told() -> None:
    """The layer at each place, behind the models that lead to it."""
    found = repeat_shared_weights(tensors(*ONCE), template(ONE, OTHER))
    assert [t.owner for t in found if t.name.startswith("both")] == [("one", "both")] * 2 + [
        ("other", "both")
    ] * 2
    assert [t.name for t in found if not t.trained] == ["n/mean:0", "n/variance:0"]


def called_and_applied(*, held: dict[str, Any], first: str = "steps") -> Graph:
    """A model `each` that is called, and a TimeDistributed layer over `held`, one before the other."""
    each = model("each", dense("score", "x"), norm("n", "score"))
    steps = layer("steps", ["x"], kind="TimeDistributed", layer=held)
    return template(*([steps, each] if first == "steps" else [each, steps]))


EACH = {
    key: value
    for key, value in model("each", dense("score", "x"), norm("n", "score")).items()
    if key != "name"
}
LISTED = ["score/kernel:0", "score/bias:0", "n/gamma:0", "n/beta:0", "n/mean:0", "n/variance:0"]


@pytest.mark.parametrize("first", ["steps", "each"])
def test_model_that_is_called_and_applied(first: str) -> None:
    """Its weights are listed once, and go to both."""
    graph = called_and_applied(held=EACH, first=first)
    assert lacks_weights_of_wrapped_models(tensors(*LISTED), graph)
    shares = divide_flat_list(tensors(*LISTED), graph)
    assert [t.name for t in shares["steps"].tensors] == LISTED
    assert [t.name for t in shares["each"].tensors] == LISTED


@pytest.mark.parametrize(
    "held",
    [
        {**EACH, "config": {**EACH["config"], "name": "other"}},
        {
            k: v
            for k, v in model("each", dense("score", "x", units=5), norm("n", "score")).items()
            if k != "name"
        },
    ],
    ids=["another name", "another config"],
)
def test_model_that_is_not_the_one_applied(held: dict[str, Any]) -> None:
    graph = called_and_applied(held=held)
    assert not lacks_weights_of_wrapped_models(tensors(*LISTED), graph)
    assert placed(LISTED, graph) == LISTED


def test_list_of_a_model_that_is_called_and_applied_with_other_names() -> None:
    """No Keras loads it, and whose weights they are is not certain."""
    names = [name.replace("score", "other") for name in LISTED]
    graph = called_and_applied(held=EACH)
    assert lacks_weights_of_wrapped_models(tensors(*names), graph)
    assert placed(names, graph) == names
