"""Owners of an object-based checkpoint's variables, by the objects that lead to them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.formats.tensorflow.objects import (
    DENSE,
    NORMALIZED,
    ROOT,
    STATE,
    checkpoint,
    sequential,
)
from unnest.errors import Refused
from unnest.formats.tensorflow.assign_object_weights import WeightsByLayer
from unnest.formats.tensorflow.object_graph import ObjectGraph
from unnest.formats.tensorflow.object_optimizers import Optimizers


def weights_of(graph: ObjectGraph) -> WeightsByLayer:
    """A new attempt."""
    return WeightsByLayer(graph, Optimizers(graph))


def test_what_another_attribute_lists_too_is_the_layers_own() -> None:
    """TensorFlow 2.3 lists the statistics of its preprocessing layers in `state_variables`, which comes first."""
    normalization = {"state_variables": "state", **STATE}
    found = checkpoint(
        {"root": ROOT, "normalization": normalization, "dense": DENSE, "state": STATE}
    )
    groups = {
        group.name: [t.name for t in group.tensors]
        for group in weights_of(found).groups(NORMALIZED, 0)
    }
    assert groups == {
        "normalization": ["mean:0", "variance:0", "count:0"],
        "dense": ["kernel:0", "bias:0"],
    }


def test_what_another_object_alone_holds_is_no_plain_layers() -> None:
    found = checkpoint(
        {"root": ROOT, "normalization": {"inner": "state"}, "dense": DENSE, "state": STATE}
    )
    with pytest.raises(Refused, match="3 weights do not fit 'normalization'"):
        weights_of(found).groups(NORMALIZED, 0)


@pytest.mark.parametrize(
    ("switches", "is_refused"),
    [({"scale": False, "center": True}, True), ({"scale": True, "center": False}, False)],
    ids=["of another state", "its own"],
)
def test_a_weight_that_the_config_switches_off(switches: dict[str, bool], is_refused: bool) -> None:
    """A BatchNormalization with `gamma` under a config without: the checkpoint is of another state of the code."""
    stems = ("beta", "gamma", "moving_mean", "moving_variance")
    config = {**switches, **{f"{stem}_initializer": "ones" for stem in stems}}
    architecture = sequential(("BatchNormalization", config))
    own = {"gamma": "bias", "moving_mean": "mean", "moving_variance": "variance"}
    found = checkpoint({"root": {"layer-0": "norm"}, "norm": own})
    attempt = weights_of(found)
    if not is_refused:
        assert len(attempt.groups(architecture, 0)[0].tensors) == len(own)
        return
    with pytest.raises(Refused, match="switches off its weight 'gamma'"):
        attempt.groups(architecture, 0)


def test_as_many_layers_as_the_architecture_has() -> None:
    found = checkpoint({"root": {"layer-0": "dense"}, "dense": DENSE})
    with pytest.raises(Refused, match="has 1 layers here and 2 in the architecture"):
        weights_of(found).groups(NORMALIZED, 0)


def test_one_layer_more_than_the_objects_is_no_input_layer() -> None:
    """A graph of layers stores its InputLayers; a Sequential that lacks one lacks it whatever else differs."""
    layers: Any = sequential(("Dense", {"units": 2}), ("Dense", {"units": 2, "name": "second"}))
    given = {"name": "in", "batch_input_shape": [None, 3]}
    layers["config"]["layers"].insert(0, {"class_name": "InputLayer", "config": given})
    entries = [
        {**entry, "name": entry["config"]["name"], "inbound_nodes": []}
        for entry in layers["config"]["layers"]
    ]
    ends: Any = {"input_layers": [], "output_layers": []}
    graph: Any = {"class_name": "Model", "config": {"name": "s", "layers": entries, **ends}}
    found = checkpoint({"root": {"layer-0": "in", "layer-1": "dense"}, "in": {}, "dense": DENSE})
    with pytest.raises(Refused, match="'s' has 2 layers here and 3 in the architecture"):
        weights_of(found).groups(graph, 0)
    denses = ("first", "second", "third")
    root = {f"layer-{n}": name for n, name in enumerate(denses)}
    found = checkpoint({"root": root, **dict.fromkeys(denses, DENSE)})
    with pytest.raises(Refused, match="'s' has 3 layers here and 2 in the architecture"):
        weights_of(found).groups(layers, 0)


def test_an_order_that_code_alone_knows() -> None:
    """Layers in a layer, by names in another order than a dictionary's; two weights without further facts."""
    own = sequential(("Own", {"units": 2}))
    found = checkpoint({
        "root": {"layer-0": "own"}, "own": {"parts": "parts"}, "parts": {"z": "one", "a": "two"},
        "one": {"kernel": "kernel"}, "two": {"bias": "bias"},
    })  # fmt: skip
    attempt = weights_of(found)
    assert [t.name for group in attempt.groups(own, 0) for t in group.tensors] == [
        "kernel:0",
        "bias:0",
    ]
    assert [why.split(" of ")[0] for why in attempt.open_orders] == ["the order", "which weights"]


def test_lists_that_are_stored_tell_the_order_and_what_is_trained() -> None:
    found = checkpoint({
        "root": {"layer-0": "dense"}, "dense": {**DENSE, "variables": "every", "trainable_variables": "trained"},
        "every": {"0": "bias", "1": "kernel"}, "trained": {"0": "kernel"},
    })  # fmt: skip
    (group,) = weights_of(found).groups(sequential(("Dense", {"units": 2})), 0)
    assert [(t.name, t.trained) for t in group.tensors] == [("bias:0", False), ("kernel:0", True)]
