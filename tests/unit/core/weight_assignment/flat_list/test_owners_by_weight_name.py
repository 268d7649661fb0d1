"""Weights whose names hold several parts: layers in a layer, or layers whose names hold a slash."""

from __future__ import annotations

import pytest

from tests.unit.core.build import tensors
from unnest.core.weight_assignment.flat_list.owners_by_weight_name import (
    weights_by_layer,
    weights_by_owner,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous


def layers(*names: str, is_standalone: bool) -> dict[str, int]:
    """How many weights each layer has."""
    found = weights_by_layer(weights_by_owner(tensors(*names)), is_standalone=is_standalone)
    return {name: len(own) for name, own in found.items()}


@pytest.mark.parametrize("is_standalone", [False, True])
@pytest.mark.parametrize(
    "inner",
    [
        ("", ""),
        ("forward_lstm_1/", "backward_lstm_1/"),
        ("lstm_cell_3/", "lstm_cell_4/"),
        ("query/", "attention_output/"),
        (
            "dense_1/",
            "conv2d_7/",
        ),  # a model, or a custom layer, that names nothing in it
        ("forward_gru/gru_cell/", "backward_gru/gru_cell/"),
    ],
)
def test_parts_that_nobody_named_are_one_layer(inner: tuple[str, str], is_standalone: bool) -> None:
    names = ("head/kernel:0", *(f"a/{part}kernel:0" for part in inner))
    assert layers(*names, is_standalone=is_standalone) == {"head": 1, "a": 2}


DENSENET = ("conv1/conv/kernel:0", "conv1/bn/gamma:0", "conv1/bn/beta:0", "fc/kernel:0")


def test_slashes_in_the_names_of_layers() -> None:
    assert layers(*DENSENET, is_standalone=True) == {"conv1/conv": 1, "conv1/bn": 2, "fc": 1}


def test_named_parts_may_be_a_layers_own_in_tensorflow() -> None:
    with pytest.raises(
        Ambiguous, match=r"^conv1/conv, conv1/bn are layers, or parts of one that is called conv1$"
    ):
        layers(*DENSENET, is_standalone=False)


def test_one_named_part_is_one_layer_either_way() -> None:
    names = ("block/one/kernel:0", "block/one/bias:0", "fc/kernel:0")
    assert layers(*names, is_standalone=True) == {"block/one": 2, "fc": 1}
    assert layers(*names, is_standalone=False) == {"block": 2, "fc": 1}


def both_ways(one: str, other: str, *weights: str) -> tuple[str, ...]:
    return (*(f"b/{part}/{weight}:0" for part in (one, other) for weight in weights), "fc/kernel:0")


@pytest.mark.parametrize("is_standalone", [False, True])
@pytest.mark.parametrize("inner", ["gru1", "my_reader"])
def test_a_bidirectional_holds_a_layer_of_any_name(inner: str, is_standalone: bool) -> None:
    names = both_ways(f"forward_{inner}", f"backward_{inner}", "kernel", "recurrent_kernel", "bias")
    assert layers(*names, is_standalone=is_standalone) == {"b": 6, "fc": 1}


@pytest.mark.parametrize(
    "names",
    [
        both_ways(
            "forward_conv", "backward_conv", "kernel", "bias"
        ),  # two layers that are not recurrent
        both_ways("forward_one", "backward_two", "kernel", "recurrent_kernel"),  # of two names
        both_ways("forward_one", "sideward_one", "kernel", "recurrent_kernel"),
    ],
)
def test_two_layers_of_one_scope_are_no_bidirectional(names: tuple[str, ...]) -> None:
    assert len(layers(*names, is_standalone=True)) == 3
    with pytest.raises(Ambiguous):
        layers(*names, is_standalone=False)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a/kernel:0", "a/bias:0", "b/kernel:0"], {"a": 2, "b": 1}),
        (["scope/a/kernel:0", "scope/b/kernel:0"], {"a": 1, "b": 1}),  # a scope that all share
        (["dense_1_W", "dense_1_b", "dense_2_W"], {"dense_1": 2, "dense_2": 1}),  # Keras 1
        (["bn_1_gamma", "bn_1_running_mean"], {"bn_1": 2}),
        (
            ["lstm_1_W_i:0", "lstm_1_b_o:0", "lstm_2_U_f:0"],
            {"lstm_1": 2, "lstm_2": 1},
        ),  # a weight a gate
        (
            ["highway_1_W_carry:0", "highway_1_W:0", "srelu_1_t_left:0", "sep_pointwise_kernel:0"],
            {"highway_1": 2, "srelu_1": 1, "sep": 1},
        ),
        (["my_W_x:0", "b_c/kernel:0"], {"my_W": 1, "b_c": 1}),  # none of Keras's own names; a scope
    ],
)
def test_owners_by_name(names: list[str], expected: dict[str, int]) -> None:
    assert {owner: len(own) for owner, own in weights_by_owner(tensors(*names)).items()} == expected
