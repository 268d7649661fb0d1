"""Paths of a model's layers in Keras's files, and the names of weights by them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, nested, sequential, source, tensors
from unnest.core.architecture import read
from unnest.core.model import Group
from unnest.formats.keras3.layer_paths import (
    DEPENDENCIES,
    counts_as_weighted,
    join_path,
    layers_with_paths,
    name_by_path,
    promises_weights,
    stored_layers,
)

TWO = [layer("a", **DENSE), layer("b", **DENSE)]


@pytest.mark.parametrize(
    ("parts", "path"), [(("", "a", "b"), "a/b"), (("a", "", "b"), "a/b"), (("",), "")]
)
def test_paths(parts: tuple[str, ...], path: str) -> None:
    assert join_path(*parts) == path


def test_layers_are_called_after_their_class_and_numbered_from_the_second_on() -> None:
    model = sequential(*TWO, layer("n", kind="BatchNormalization"))
    found = [(each.name, path) for each, path in layers_with_paths(model, "outer")]
    assert found == [
        ("a", "outer/layers/dense"), ("b", "outer/layers/dense_1"), ("n", "outer/layers/batch_normalization"),
    ]  # fmt: skip


def test_a_layer_may_take_two_numbers_or_stand_elsewhere() -> None:
    model = sequential(*TWO, layer("c", **DENSE))
    twice = layers_with_paths(
        model, "", DEPENDENCIES, lambda *_: 2, lambda each, _: "there" if each.name == "b" else None
    )
    assert [path for _, path in twice] == [
        f"{DEPENDENCIES}/dense",
        "there",
        f"{DEPENDENCIES}/dense_4",
    ]


def test_operations_have_no_group() -> None:
    """Nor has a Sequential's input; that of a functional model has."""
    add: dict[str, Any] = {**layer("add", ["x"], kind="Add"), "module": "keras.src.ops.numpy"}
    model = functional(source("x"), add, layer("y", ["add"], **DENSE))
    assert [each.name for each in stored_layers(model)] == ["x", "y"]
    assert [each.name for each in stored_layers(sequential(source("x"), *TWO))] == ["a", "b"]


def test_which_layers_have_weights() -> None:
    """By their configs; those of custom layers do not show it."""
    model = functional(
        source("x"), nested(sequential(*TWO, name="in"), ["x"]), layer("own", ["in"], kind="Own", units=3),
        layer("y", ["own"], **DENSE),
    )  # fmt: skip
    assert [each.name for each in read(model).layers.values() if promises_weights(each)] == [
        "in",
        "y",
    ]


@pytest.mark.parametrize(
    ("kind", "words", "counts"),
    [
        ("StringLookup", None, True),
        ("TextVectorization", None, True),
        ("StringLookup", ["a"], False),
        ("IntegerLookup", "numbers.txt", False),
        ("Hashing", None, False),
    ],
)
def test_words_count_as_weights(kind: str, words: object, counts: bool) -> None:
    """Those that `adapt` found; not those of the config."""
    model = sequential(layer("l", kind=kind, vocabulary=words))
    assert [counts_as_weighted(each) for each in read(model).layers.values()] == [counts]


def test_names_by_place() -> None:
    """The layers that own a weight, and what lies below the last of them."""
    refs = (
        "layers/lstm/cell/vars/0",
        "layers/sequential/layers/dense/vars/1",
        f"{DEPENDENCIES}/dense/vars/0",
    )
    owners = ((), ("inner",), ())
    weights = [
        t._replace(ref=ref, owner=own)
        for t, ref, own in zip(tensors("a", "b", "c"), refs, owners, strict=True)
    ]
    (group,) = name_by_path([Group("l", tuple(weights))])
    assert [t.name for t in group.tensors] == ["l/cell/0", "l/inner/1", "l/0"]
