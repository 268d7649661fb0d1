"""Weights that a layer's config promises, and names that weights bear."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, NORM, functional, layer, nested, source, tensors
from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.weight_assignment.flat_list.owner_candidates import (
    OwnerCandidate,
    name_bearers,
    names_of_nameless,
)


def graph_of(*layers: dict[str, Any]) -> Graph:
    return read(functional(source(), *layers, outputs=[(layers[-1]["name"], 0, 0)]))


def dense(name: str = "a", **config: Any) -> dict[str, Any]:
    return layer(name, ["x"], **{**DENSE, **config})


def claimant(entry: dict[str, Any]) -> OwnerCandidate:
    return OwnerCandidate.of(graph_of(entry).layers[entry["name"]], "")


INNER = functional(
    source(),
    dense("i"),
    layer("n", ["i"], kind="BatchNormalization", **NORM),
    outputs=[("n", 0, 0)],
    name="inner",
)


@pytest.mark.parametrize(
    ("entry", "counts"),
    [
        (dense(), (2, 0)),
        (dense(use_bias=False), (1, 0)),
        (dense(trainable=False), (0, 2)),
        (layer("n", ["x"], kind="BatchNormalization", **NORM), (2, 2)),
        (layer("m", ["x"], kind="Mine"), (0, 0)),
        (nested(INNER, ["x"]), (4, 2)),
    ],
    ids=["Dense", "without bias", "frozen", "statistics", "custom", "a model"],
)
def test_what_a_config_promises(entry: dict[str, Any], counts: tuple[int, int]) -> None:
    assert claimant(entry).counts() == counts


@pytest.mark.parametrize(
    ("entry", "trained", "rest", "may"),
    [
        (dense(), 2, 0, True),
        (dense(), 0, 2, False),
        (dense(), 3, 0, False),
        (layer("m", ["x"], kind="Mine"), 0, 5, True),
        (nested(INNER, ["x"]), 4, 2, True),
        (nested(INNER, ["x"]), 0, 6, True),
        (nested(INNER, ["x"]), 3, 3, False),
    ],
    ids=[
        "as promised",
        "not frozen",
        "one too many",
        "unknown",
        "a model",
        "a frozen model",
        "half a layer",
    ],
)
def test_what_keras_can_have_stored(
    entry: dict[str, Any], trained: int, rest: int, may: bool
) -> None:
    assert claimant(entry).may_own(trained, rest) is may


def test_a_layers_sizes_show_in_the_shapes() -> None:
    three = claimant(dense(units=3))
    assert three.fits(tensors("k", shape=(7, 6)))
    assert not three.fits(tensors("k", shape=(7, 5)))


def test_whose_names_weights_bear() -> None:
    graph = graph_of(dense("a"), dense("a_1"))
    layers = [OwnerCandidate.of(graph.layers[name], "") for name in ("a", "a_1")]
    names = ["a/kernel:0", "scope/a_1/kernel:0", "a_2/kernel:0", "a_1_W", "other/kernel:0"]
    named = name_bearers(tensors(*names), layers)
    assert named == [frozenset({0}), frozenset({1}), frozenset({0}), frozenset({1}), None]


COUNTED_FROM_ONE = [
    (
        "from one",
        ["dense_1/kernel:0", "dense_1/bias:0", "dense/kernel:0", "dense/bias:0"],
        [1, 1, 0, 0],
    ),
    (
        "as they are",
        ["dense_1/kernel:0", "dense_1/bias:0", "dense_2/kernel:0", "dense_2/bias:0"],
        [0, 0, 1, 1],
    ),
    ("one missing", ["dense_1/kernel:0", "dense_1/bias:0", "dense/kernel:0"], [0, 0, None]),
    (
        "one of another",
        ["dense_1/kernel:0", "dense_1/bias:0", "dense/kernel:0", "other/bias:0"],
        [0, 0, None, None],
    ),
]


@pytest.mark.parametrize(
    ("names", "owners"), [row[1:] for row in COUNTED_FROM_ONE], ids=[r[0] for r in COUNTED_FROM_ONE]
)
def test_variables_may_be_counted_from_zero_where_layers_are_from_one(
    names: list[str], owners: list[int | None]
) -> None:
    """Only where so all weights have an owner, and all layers what they promise."""
    graph = graph_of(dense("dense_1"), dense("dense_2"))
    layers = [OwnerCandidate.of(graph.layers[name], "") for name in ("dense_1", "dense_2")]
    expected = [None if owner is None else frozenset({owner}) for owner in owners]
    assert name_bearers(tensors(*names), layers) == expected


OF_MINE = [
    ("from one", ["scale/gamma:0", "dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"], "mddee"),
    ("mine has none", ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"], "..dd"),
    ("mine holds a Dense", ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0",
                            "dense_2/kernel:0", "dense_2/bias:0"], "..ddee"),
    ("one of another", ["scale/gamma:0", "other/gamma:0", "dense/kernel:0", "dense/bias:0", "dense_1/kernel:0",
                        "dense_1/bias:0"], "....dd"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "owners"), [row[1:] for row in OF_MINE], ids=[row[0] for row in OF_MINE]
)
def test_so_they_may_be_beside_layers_of_somebody_s_own(names: list[str], owners: str) -> None:
    """Configs of custom layers do not say how many weights they have."""
    mine = layer("scale_1", ["x"], kind="Scale")
    graph = graph_of(mine, dense("dense_1"), dense("dense_2"))
    layers = [OwnerCandidate.of(each, "") for each in graph.layers.values()]
    index = {"m": layers.index(next(each for each in layers if each.name == "scale_1"))}
    index.update({"d": index["m"] + 1, "e": index["m"] + 2})
    expected = [None if owner == "." else frozenset({index[owner]}) for owner in owners]
    assert name_bearers(tensors(*names), layers) == expected


def test_layers_without_names_bear_those_of_their_class() -> None:
    def bare(kind: str) -> dict[str, Any]:
        return {"class_name": kind, "config": {k: v for k, v in DENSE.items() if k != "name"}}

    model = read({"class_name": "Sequential", "config": [bare("Dense"), bare("Dense")]})
    first, second = model.layers
    assert names_of_nameless(tensors("dense_4/kernel:0", "dense_7/kernel:0"), model) == {
        first: "dense_4",
        second: "dense_7",
    }
    # Out of order; one for two.
    for names in (
        ["dense_7/kernel:0", "dense_4/kernel:0"],
        ["dense_4/kernel:0"],
    ):
        assert names_of_nameless(tensors(*names), model) == {}


def both_ways(name: str, inner: str) -> dict[str, Any]:
    held = {"class_name": "LSTM", "config": {"name": inner, "output_dim": 2}}
    return layer(name, ["x"], kind="Bidirectional", merge_mode="concat", layer=held)


@pytest.mark.parametrize("inner", ["lstm_1", "forward_lstm_1"])  # Keras 1.2.2, Keras 1.2.0
def test_both_directions_are_the_bidirectional_s(inner: str) -> None:
    """The config may call the inner layer by its own name, or by that of the forward one of the two."""
    layers = [
        OwnerCandidate.of(each, "")
        for each in graph_of(both_ways("b", inner), dense("d")).layers.values()
    ]
    names = [each.name for each in layers]
    weights = tensors("forward_lstm_1_W_i:0", "backward_lstm_1_W_i:0", "d_W:0")
    named = name_bearers(weights, layers)
    assert named == [frozenset({names.index(owner)}) for owner in "bbd"]


def test_a_layer_called_forward_speaks_for_no_other() -> None:
    """Only a Bidirectional makes a second layer: any other's name is its alone."""
    held = {"class_name": "LSTM", "config": {"name": "forward_lstm_1", "output_dim": 2}}
    wrapped = layer("t", ["x"], kind="TimeDistributed", layer=held)
    layers = [OwnerCandidate.of(each, "") for each in graph_of(wrapped).layers.values()]
    assert name_bearers(tensors("backward_lstm_1_W_i:0"), layers) == [None]
