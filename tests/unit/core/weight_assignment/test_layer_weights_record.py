"""A layer's weights, and the flat list that layers make up."""

from __future__ import annotations

from tests.unit.core.build import tensors
from unnest.core.weight_assignment.layer_weights_record import (
    LayerWeights,
    flat_list,
    trained_first,
)

A, B, C, D = tensors("a", "b", "c", "d")


def test_a_layers_list_is_what_is_trained_and_then_the_rest() -> None:
    assert LayerWeights((A,), (B, C)).tensors == (A, B, C)


def test_a_models_list_is_what_is_trained_of_all_layers_and_then_the_rest() -> None:
    assert flat_list([LayerWeights((A,), (B,)), LayerWeights(), LayerWeights((C,), (D,))]) == (
        A,
        C,
        B,
        D,
    )


def test_a_list_has_what_is_trained_first_each_in_its_order() -> None:
    frozen = [tensor._replace(trained=False) for tensor in (A, C)]
    assert trained_first([frozen[0], D, frozen[1], B]) == (D, B, *frozen)
