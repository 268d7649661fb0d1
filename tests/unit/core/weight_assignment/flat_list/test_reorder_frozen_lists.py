"""Flat lists from before layers were frozen: what names and order show."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, NORM, functional, layer, nested, source, tensors
from unnest.core.model import Group
from unnest.core.weight_assignment.flat_list.reorder_frozen_lists import reorder_frozen_lists


def chain(*names: str, frozen: str = "") -> dict[str, Any]:
    """A template of layers in a row: `n...` are normalizations, all others have a kernel."""
    entries, before = [], "x"
    for name in names:
        kind, config = ("BatchNormalization", NORM) if name.startswith("n") else ("Dense", DENSE)
        entries.append(layer(name, [before], kind=kind, **config, trainable=name not in frozen))
        before = name
    return functional(source(), *entries, outputs=[(before, 0, 0)], name="template")


def listed(text: str) -> Group:
    """A list of weights: `a` is kernel and bias, `n` gamma and beta, `n*` its statistics."""
    names = {"*": ("moving_mean", "moving_variance"), "n": ("gamma", "beta")}
    parts = [
        (part.rstrip("*"), names.get(part[-1], names.get(part[0], ("kernel", "bias"))))
        for part in text.split()
    ]
    return Group(
        "template",
        tensors(*(f"{name}/{weight}:0" for name, weights in parts for weight in weights)),
    )


def order(group: Group) -> list[str]:
    """Names of the layers and weights of a list, the initials alone."""
    return [tensor.name.partition(":")[0].replace("/", ".") for tensor in group.tensors]


def parallel(template: dict[str, Any]) -> dict[str, Any]:
    """A model that holds the template as a layer."""
    return functional(source(), nested(template, ["x"]), outputs=[("template", 1, 0)], name="whole")


@pytest.mark.parametrize(
    ("saved", "frozen", "wanted"),
    [
        ("a n b n*", "", "a n b n*"),
        ("a n b n*", "a", "n b a n*"),
        ("a n b n*", "n", "a b n n*"),
        ("a n b n*", "anb", "a n n* b"),
        ("a n b n*", "b", "a n n* b"),
        # One more is frozen now.
        ("a b n n*", "nb", "a n n* b"),
    ],
)
def test_the_order_of_the_architecture(saved: str, frozen: str, wanted: str) -> None:
    """In a model that holds the template, and with the template's own architecture."""
    template = chain("a", "n", "b", frozen=frozen)
    for architecture in (template, parallel(template)):
        relisted = reorder_frozen_lists([Group("half", ()), listed(saved)], architecture)
        assert order(relisted.weights[1]) == order(listed(wanted))
        assert (relisted.groups, relisted.doubt) == (() if saved == wanted else ("template",), "")


def test_weights_that_lie_under_their_layers() -> None:
    """A checkpoint's: layer by layer, whatever was frozen."""
    saved = listed("a n n* b")
    owned = saved._replace(
        tensors=tuple(t._replace(owner=(t.name.split("/")[0],)) for t in saved.tensors)
    )
    for group, names in ((owned, ()), (saved, ("template",))):
        assert reorder_frozen_lists([group], parallel(chain("a", "n", "b"))).groups == names


@pytest.mark.parametrize("saved", ["a b n n*", "n b a n*"])
def test_the_place_of_what_was_frozen_is_open(saved: str) -> None:
    """`n` or `a` was frozen, or stood last in a model whose code is another by now."""
    relisted = reorder_frozen_lists([listed(saved)], chain("a", "n", "b"))
    name = saved.replace("b", "").split()[0 if saved[0] == "n" else 1]
    name = "a" if saved[0] == "n" else name
    assert relisted.doubt.startswith(
        f"{name} was frozen when the weights were saved, or stood last"
    )
    assert relisted.weights == (listed(saved),)


@pytest.mark.parametrize(
    ("saved", "names"),
    [
        ("b a", "a b c"),  # a layer of the architecture is not in the file
        ("a c b", "a b c"),  # without normalizations: c may be frozen, or moved
        ("n a b n*", "a n b"),  # moved in front
        ("a b n* n", "a n b"),  # statistics before what is trained: no list of Keras's
        ("a b", "a z"),  # a name that no layer has
    ],
)
def test_what_freezing_does_not_explain_stays(saved: str, names: str) -> None:
    assert reorder_frozen_lists([listed(saved)], chain(*names.split())).weights == (listed(saved),)


def test_a_custom_layer_leaves_the_order_open() -> None:
    """A custom layer's config does not show which of its weights are trained."""
    template = chain("a", "n", "b", frozen="a")
    template["config"]["layers"][3]["class_name"] = "Mine"
    assert reorder_frozen_lists([listed("a n b n*")], template).groups == ()
