"""Owners of variables, and their order: names, the order of creation, and what must not be guessed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from unnest.core.model import Tensor
from unnest.core.weight_assignment.checkpoint.assign_checkpoint_variables import CheckpointVariables
from unnest.core.weight_assignment.weight_order_within_layer import Variable
from unnest.errors import Refused

DENSE: dict[str, Any] = {"units": 3, "use_bias": True, "kernel_initializer": {}, "bias_initializer": {},
                         "kernel_regularizer": None, "bias_regularizer": None}  # fmt: skip
NORM: dict[str, Any] = {f"{s}_initializer": {} for s in ("beta", "gamma", "moving_mean", "moving_variance")} | {
    "beta_regularizer": None, "gamma_regularizer": None, "scale": True, "center": True,
}  # fmt: skip
SHAPES = {
    "kernel": (2, 3),
    "recurrent_kernel": (3, 9),
    "W": (2, 3),
    "U": (3, 3),
    "table": (5, 3),
    "embeddings": (9, 3),
}


def layer(kind: str, name: str, config: dict[str, Any] | None = None) -> dict[str, Any]:
    """One entry of a Sequential."""
    return {"class_name": kind, "config": {"name": name, **(config or {})}}


def model(*layers: dict[str, Any], name: str = "m") -> dict[str, Any]:
    """A Sequential of these."""
    return {"class_name": "Sequential", "config": {"name": name, "layers": list(layers)}}


def variables(
    names: str, *, made: bool = False, read: Sequence[str] | None = None
) -> list[Variable]:
    """Variables of these names; a shape goes with the last part of a name."""
    found = []
    for k, name in enumerate(names.split()):
        leaf = name.rpartition("/")[2].rstrip("0123456789_")
        shape = (
            ()
            if "lr" in name
            else SHAPES.get(leaf.rpartition("_")[2] if leaf[-2:] in ("_W", "_U") else leaf, (3,))
        )
        shown = None if read is None else name in read
        found.append(
            Variable(
                name, Tensor(f"{name}:0", shape, "<f4", name), k if made else None, None, shown
            )
        )
    return found


def placed(
    architecture: dict[str, Any], given: list[Variable], unsaved: Sequence[str] = ()
) -> dict[str, list[str]]:
    """The names of each layer's weights."""
    groups = CheckpointVariables("ckpt", given, unsaved).groups(architecture)
    return {g.name: [t.ref for t in g.tensors] for g in groups}


def refused(
    architecture: dict[str, Any], given: list[Variable], unsaved: Sequence[str] = ()
) -> str:
    """The code of the refusal."""
    with pytest.raises(Refused) as doubt:
        CheckpointVariables("ckpt", given, unsaved).groups(architecture)
    assert doubt.value.message.startswith("ckpt: ")
    return doubt.value.code


def test_scopes() -> None:
    """Scopes of a person's own around everything, and what Keras's own layers make first."""
    found = placed(
        model(layer("Dense", "d", DENSE), layer("BatchNormalization", "bn", NORM)),
        variables(
            "a/b/bn/beta a/b/bn/gamma a/b/bn/moving_mean a/b/bn/moving_variance a/d/bias a/d/kernel"
        ),
    )
    assert [n.rpartition("/")[2] for own in found.values() for n in own] == [
        "kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance",
    ]  # fmt: skip


def test_satellites_are_not_weights() -> None:
    """Slots and debiased means hold a weight's whole name and go on."""
    names = "d/bias d/kernel d/kernel/Momentum d/kernel/local_step training/Adam/d/kernel/m training/Adam/d/bias/v"
    assert placed(model(layer("Dense", "d", DENSE)), variables(names)) == {
        "d": ["d/kernel", "d/bias"]
    }


def test_keras_1() -> None:
    """Layers' names in front, the longest that fits; gates in the order of Keras 1."""
    rules = {
        "W_regularizer": None,
        "U_regularizer": None,
        "b_regularizer": None,
        "init": "glorot",
        "output_dim": 3,
    }
    dense = {k: v for k, v in rules.items() if k != "U_regularizer"}
    names = " ".join(f"lstm_{kind}_{gate}" for kind in "WUb" for gate in "cfio")
    found = placed(
        model(layer("LSTM", "lstm", rules), layer("Dense", "lstm_1", dense)),
        variables(f"{names} lstm_1_W lstm_1_b"),
    )
    assert found["lstm"] == [f"lstm_{w}_{gate}" for gate in "icfo" for w in "WUb"]
    assert found["lstm_1"] == ["lstm_1_W", "lstm_1_b"]


def test_two_copies() -> None:
    """The graph shows which set is read; nothing else does, not even the nicer name."""
    names, architecture = "d/kernel d/bias d_1/kernel d_1/bias", model(layer("Dense", "d", DENSE))
    assert refused(architecture, variables(names)) == "weights-ambiguous"
    assert refused(architecture, variables(names, made=True)) == "weights-ambiguous"
    read = variables(names, made=True, read=["d_1/kernel", "d_1/bias"])
    assert placed(architecture, read) == {"d": ["d_1/kernel", "d_1/bias"]}
    both = model(layer("Dense", "d", DENSE), layer("Dense", "d_1", DENSE))
    assert placed(both, variables(names)) == {
        "d": ["d/kernel", "d/bias"],
        "d_1": ["d_1/kernel", "d_1/bias"],
    }


def test_nothing_without_its_weights() -> None:
    """Too few, none, or left over: a refusal, and never an empty layer."""
    dense, own = (
        model(layer("Dense", "d", DENSE)),
        model(layer("Table", "t"), layer("Dense", "d", DENSE)),
    )
    assert refused(dense, variables("d/kernel")) == "architecture-mismatch"
    assert refused(dense, variables("e/kernel e/bias")) == "architecture-mismatch"
    assert (
        refused(dense, variables("d/kernel d/bias", made=True), ["d/kernel", "d/bias", "d/scale"])
        == "weights-missing"
    )
    assert refused(own, variables("d/kernel d/bias table")) == "weights-unplaced"
    assert placed(own, variables("d/kernel d/bias t/table")) == {
        "t": ["t/table"],
        "d": ["d/kernel", "d/bias"],
    }
    series = variables("d/kernel d/bias Adam/lr training/Variable_1 training/Variable_2")
    assert placed(own, series) == {"t": [], "d": ["d/kernel", "d/bias"]}


def test_a_class_of_ones_own_has_an_order_of_its_own() -> None:
    """The order in which Keras's layers make weights does not hold for custom ones; the order of creation does."""
    architecture = model(layer("MyDense", "d", DENSE))
    assert refused(architecture, variables("d/bias d/kernel")) == "weights-ambiguous"
    assert placed(architecture, variables("d/bias d/kernel", made=True)) == {
        "d": ["d/bias", "d/kernel"]
    }


def test_layers_in_layers() -> None:
    """Both ways of a Bidirectional; stacked cells by their numbers."""
    gru = {"name": "gru", "units": 3, **{f"{s}_{k}": None for s in ("kernel", "recurrent", "bias")
                                          for k in ("initializer", "regularizer")}}  # fmt: skip
    both = layer("Bidirectional", "bi", {"layer": {"class_name": "GRU", "config": gru}})
    names = [
        f"bi/{way}_gru/{w}"
        for way in ("backward", "forward")
        for w in ("bias", "kernel", "recurrent_kernel")
    ]
    assert placed(model(both), variables(" ".join(names)))["bi"] == [
        f"bi/{way}_gru/{w}"
        for way in ("forward", "backward")
        for w in ("kernel", "recurrent_kernel", "bias")
    ]
    cells = [{"class_name": "GRUCell", "config": {**gru, "name": n}} for n in ("low", "high")]
    stacked = {
        "cell": {"class_name": "StackedRNNCells", "config": {"name": "cells", "cells": cells}}
    }
    names = [f"s/{w}{n}" for w in ("bias", "kernel", "recurrent_kernel") for n in ("", "_1")]
    assert placed(model(layer("RNN", "s", stacked)), variables(" ".join(names)))["s"] == [
        f"s/{w}{n}" for n in ("", "_1") for w in ("kernel", "recurrent_kernel", "bias")
    ]


def test_a_merge_that_bears_a_layers_name_gets_nothing() -> None:
    """tf.keras calls the merge after the template's output layer."""
    inner = model(layer("Dense", "out", DENSE), name="net")
    outer = model(inner, layer("Concatenate", "out"))
    assert placed(outer, variables("out/kernel out/bias")) == {
        "net": ["out/kernel", "out/bias"],
        "out": [],
    }
