"""Refusals of models that go into another container."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, nested, sequential, source, tensors
from tests.unit.formats.build import file
from unnest.core.model import Group, Stored, Tensor
from unnest.core.plan import Plan, Refusal
from unnest.errors import Refused
from unnest.formats.change_container.conversion_checks import (
    check_dtypes,
    check_frozen_parts,
    check_listed_once,
    check_readable,
    check_weights,
    naming_file,
    no_architecture,
)
from unnest.formats.container_interface import ContainerName

INNER = sequential(layer("a", **DENSE), name="inner")
OUTER = functional(source("x"), nested(INNER, ["x"]), layer("y", ["inner"], **DENSE))


def model(architecture: dict[str, Any] | None, *groups: Group) -> Stored:
    """With weights where groups are given."""
    return Stored("model", architecture, groups=groups)


def within(owner: str, *names: str) -> tuple[Tensor, ...]:
    """Weights of a layer of the nested model."""
    return tuple(t._replace(owner=(owner,)) for t in tensors(*names))


Y = Group("y", tensors("y/kernel:0", "y/bias:0"))
WHOLE = model(OUTER, Group("inner", within("a", "a/kernel:0", "a/bias:0")), Y)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([Y], "'inner' would come without its weights"),
        (
            [Group("inner", within("a", "a/kernel:0", "a/bias:0"))],
            "'y' would come without its weights",
        ),
        ([Group("inner", within("a", "a/kernel:0")), Y], "'a' has 1 of 2 weights"),
        ([*WHOLE.groups[:1], Group("y", Y.tensors[:1])], "'y' has 1 of 2 weights"),
    ],
)
def test_missing_weights(groups: list[Group], said: str) -> None:
    with pytest.raises(Refused, match=f"^m: {said}") as refusal:
        check_weights(file(), model(OUTER, *groups), is_moved=False)
    assert refusal.value.code == "weights-missing"


def test_of_weights_alone_the_architecture_may_be_at_fault() -> None:
    """It was given beside them, and may be of another state of the code."""
    groups = [*WHOLE.groups[:1], Group("y", Y.tensors[:1])]
    with pytest.raises(Refused, match="either the JSON is not that of the model") as refusal:
        check_weights(file("weights_h5", Stored("weights")), model(OUTER, *groups), is_moved=False)
    assert refusal.value.code == "weights-missing"


def test_all_weights_are_there() -> None:
    check_weights(file(), WHOLE, is_moved=False)


def test_no_weights_are_asked_for_where_none_are_promised() -> None:
    """Of an architecture alone, of what is no graph, and of a layer that says nothing of weights."""
    check_weights(file(), Stored("architecture", OUTER), is_moved=False)
    check_weights(file(), model({"class_name": "Own", "config": {}}), is_moved=False)
    check_weights(
        file(),
        model(functional(source("x"), layer("y", ["x"], kind="Own", units=3))),
        is_moved=False,
    )


def test_seeds_are_no_weights() -> None:
    """Keras 3 has them among a layer's variables."""
    seed = Tensor("seed", (2,), "<u4", "/y/seed_generator/vars/0")
    with pytest.raises(Refused, match="'y' has 1 of 2 weights"):
        check_weights(
            file(), model(OUTER, WHOLE.groups[0], Group("y", (Y.tensors[0], seed))), is_moved=False
        )


def test_a_frozen_part() -> None:
    """Each container has the weights of such a layer in an order of its own."""
    one, frozen = (
        layer(name, kind="SimpleRNNCell", **DENSE, trainable=name == "b") for name in "ab"
    )
    cells = {"class_name": "StackedRNNCells", "config": {"cells": [one, frozen]}}
    held = functional(source("x"), layer("y", ["x"], kind="RNN", cell=cells))
    with pytest.raises(Refused, match="'y' holds layers of which some are frozen"):
        check_frozen_parts(file(), model(held))
    check_frozen_parts(file(), Stored("architecture", held))


def test_a_type_that_no_hdf5_has() -> None:
    half = model(OUTER, Group("y", (Tensor("y/kernel:0", (3, 3), "bfloat16", "/y"),)))
    with pytest.raises(Refused, match=r"^m: 'y/kernel:0' is bfloat16"):
        check_dtypes(file(), half)
    check_dtypes(file(), WHOLE)


DOUBT = Refusal("ambiguous", "two orders are possible")


@pytest.mark.parametrize(
    ("container", "stored", "refusal", "code"),
    [
        ("saved_model", model(None), None, "no-architecture"),
        ("saved_model", model(None), DOUBT, "no-architecture"),
        ("saved_model", model(OUTER), DOUBT, "ambiguous"),
        ("saved_model", model(OUTER), None, "no-weights"),
        ("saved_model", WHOLE, None, None),
        ("h5", model(OUTER), None, None),
        ("h5", WHOLE, DOUBT, "ambiguous"),
    ],
)
def test_readable(
    container: ContainerName, stored: Stored, refusal: Refusal | None, code: str | None
) -> None:
    """A SavedModel may lack the Keras model, or name no layer's weights, though its graph has some."""
    plan = Plan("clean", stored=WHOLE, conversion_refusal=refusal)
    if code is None:
        check_readable(file(container), plan, stored)
        return
    with pytest.raises(Refused) as refused:
        check_readable(file(container), plan, stored)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("class_name", "reads", "end"),
    [
        ("Cut", ["x"], "; if Cut cuts the batch, pass --slice-layer Cut"),
        ("Cut", ["x", "x"], "can hold that"),
        ("Dense", ["x"], "can hold that"),
    ],
)
def test_a_wrapper_that_only_the_serving_graph_shows(
    class_name: str, reads: list[str], end: str
) -> None:
    """A class of one's own among the layers may be what cuts; one that reads several tensors is no slice."""
    cut = {**layer("y", reads, **DENSE), "class_name": class_name}
    refusal = no_architecture(file("saved_model", model(functional(source("x"), cut))))
    assert refusal.message.endswith(end)


def test_what_is_refused_of_a_model_names_its_file() -> None:
    with pytest.raises(Refused, match=r"^m: no place$") as refusal, naming_file(file()):
        raise Refused("cannot-convert", "no place")
    assert refusal.value.code == "cannot-convert"


def test_a_list_that_would_have_a_weight_twice() -> None:
    """Several groups may have the same: they are several lists."""
    first, second = tensors("a/kernel:0", "a/bias:0")
    check_listed_once(file(), model(None, Group("a", (first, second)), Group("b", (first, second))))
    with pytest.raises(Refused, match=r"^m: layers in 'a' share weights") as refusal:
        check_listed_once(file(), model(None, Group("a", (first, second, first))))
    assert refusal.value.code == "cannot-convert"


def test_a_layer_within_that_has_none_at_all() -> None:
    """Keras finds those that a layer shares again where it wrote them, and nowhere else."""
    inner = sequential(layer("a", **DENSE), layer("b", **DENSE), name="inner")
    outer = functional(source("x"), nested(inner, ["x"]), outputs=[("inner", 0, 0)])
    told = model(outer, Group("inner", within("a", "a/kernel:0", "a/bias:0")))
    check_weights(file(), told, is_moved=False)
    with pytest.raises(
        Refused, match=r"^m: 'b' has none of its 2 weights; if another layer shares them"
    ) as refusal:
        check_weights(file(), told, is_moved=True)
    assert refusal.value.code == "weights-missing"
    check_weights(
        file(), model(outer, Group("inner", tensors("a/kernel:0", "a/bias:0"))), is_moved=True
    )


def applying_one(*numbers: int | None) -> Stored:
    """A layer for each number, which applies a layer that the JSON notes by it; the first has the weights of all."""
    held = [layer("d", **DENSE) | ({} if n is None else {"shared_object_id": n}) for n in numbers]
    steps = [layer(f"t{k}", kind="TimeDistributed", layer=each) for k, each in enumerate(held)]
    return model(sequential(*steps), Group("t0", tensors("d/kernel:0", "d/bias:0")))


def test_weights_that_keras_finds_with_another_layer() -> None:
    """A layer noted as shared, as tf_keras notes a model, is found at its first place; other loaders do not know it."""
    check_weights(file(), applying_one(3, 3), is_moved=False)
    with pytest.raises(
        Refused, match="'t1' would come without its weights, which stand with another"
    ):
        check_weights(file(), applying_one(3, 3), is_moved=True)
    with pytest.raises(
        Refused, match="'t1' would come without its weights, which stand with another"
    ):
        check_weights(file(), applying_one(None, 3), is_moved=False)
    with pytest.raises(
        Refused, match="'t1' would come without its weights, which are not in the file"
    ):
        check_weights(file(), applying_one(3, None), is_moved=False)
