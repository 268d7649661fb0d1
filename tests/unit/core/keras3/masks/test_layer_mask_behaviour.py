"""Layers that make a mask, hand one on, or drop it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.mask_cases import DENSE, EMBEDDING, FLATTEN, LAST, MASKING, STEPS
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.layer_replacements import NewLayer
from unnest.core.keras3.masks.layer_mask_behaviour import (
    BY_ALL,
    all_pass,
    drops_mask,
    is_ambiguous,
    is_batch_reshaped,
    is_known,
    makes_mask,
    masks_itself,
    note_masked_output,
    note_normalization,
    passes_mask,
)


def sequence(*entries: Any) -> dict[str, Any]:
    """The config of a Sequential."""
    return {"name": "s", "layers": list(entries)}


def functional(*names: str) -> dict[str, Any]:
    """The config of a functional model: an input, Masking on it, Flatten on that; `names` are its outputs."""
    layers = [
        {"class_name": "InputLayer", "name": "i", "config": {"name": "i"}, "inbound_nodes": []},
        {**MASKING, "name": "m", "inbound_nodes": [[["i", 0, 0, {}]]]},
        {**FLATTEN, "name": "f", "inbound_nodes": [[["m", 0, 0, {}]]]},
    ]
    ends = [[name, 0, 0] for name in names]
    return {"name": "g", "layers": layers, "input_layers": [["i", 0, 0]], "output_layers": ends}


@pytest.mark.parametrize(
    ("kind", "config", "is_masked"),
    [
        ("Sequential", sequence(EMBEDDING, DENSE), True),
        ("Sequential", sequence({"class_name": "Sequential", "config": sequence(MASKING)}), True),
        ("Sequential", sequence(MASKING, FLATTEN), False),
        ("Sequential", sequence(DENSE), False),
        ("Model", functional("m"), True),
        ("Model", functional("f"), False),
    ],
)
def test_a_model_in_a_model_that_makes_a_mask(
    kind: str, config: dict[str, Any], is_masked: bool
) -> None:
    assert makes_mask({"class_name": kind, "config": config}, Context()) is is_masked


def test_layers_whose_output_has_a_mask_whatever_goes_in() -> None:
    assert [masks_itself(entry, Context()) for entry in (MASKING, EMBEDDING, DENSE, FLATTEN)] == [
        True, True, False, False,
    ]  # fmt: skip
    assert masks_itself({"class_name": "Sequential", "config": sequence(MASKING)}, Context())


@pytest.mark.parametrize(
    ("kind", "config", "context", "is_dropped"),
    [
        ("ReLU", {}, Context(release=(2, 3, 0), is_tf=True), True),
        ("ReLU", {}, Context(release=(2, 2, 4)), False),
        ("MultiHeadAttention", {}, Context(release=(2, 9, 0)), True),
        ("MultiHeadAttention", {}, Context(release=(2, 10, 0)), False),
        ("MultiHeadAttention", {}, Context(), False),
        ("Activation", {"activation": "linear"}, Context(is_tf=True), True),
        ("Activation", {"activation": "linear"}, Context(is_tf=True, half_pixels=True), False),
        ("Activation", {"activation": "linear"}, Context(), False),
        ("Activation", {"activation": "tanh"}, Context(is_tf=True), False),
        ("Identity", {}, Context(), True),
    ],
)
def test_masks_that_were_dropped(
    kind: str, config: dict[str, Any], context: Context, is_dropped: bool
) -> None:
    assert drops_mask(kind, config, context) is is_dropped
    assert passes_mask(kind, config, context) is (not is_dropped)


@pytest.mark.parametrize(
    ("layer", "is_known_one", "is_passing"),
    [
        ({"class_name": "BatchNormalizationV2"}, True, True),
        ({"class_name": "TFOpLambda"}, True, False),
        ({"class_name": "Conv1D"}, True, False),
        ({"class_name": "Mine"}, False, False),
        (STEPS.entry, True, True),
        (LAST.entry, True, False),
    ],
)
def test_keras_s_own_layers(layer: dict[str, Any], is_known_one: bool, is_passing: bool) -> None:
    """A recurrent one hands a mask on where it gives sequences."""
    kind, config = layer["class_name"], layer.get("config", {})
    assert is_known(kind) is is_known_one
    assert passes_mask(kind, config, Context()) is is_passing


def test_models_of_layers_that_hand_masks_on() -> None:
    begin = {"class_name": "InputLayer", "config": {"name": "i"}}
    assert all_pass(sequence(begin, DENSE), Context())
    assert not all_pass(sequence(begin, DENSE, FLATTEN), Context())
    assert not all_pass({"units": 3}, Context())


def test_two_releases_of_one_name() -> None:
    assert is_ambiguous("Softmax", Context(release=(2, 4, 0)))
    assert not is_ambiguous("Softmax", Context(release=(2, 4, 1)))
    assert not is_ambiguous("Dense", Context(release=(2, 4, 0)))


@pytest.mark.parametrize(
    ("context", "is_by_all"),
    [
        (Context(release=(1, 2, 2)), False),
        (Context(release=(2, 2, 4)), False),
        (Context(release=(2, 3, 1)), True),
        (Context(release=(2, 2, 4), is_tf=True), True),
        (Context(release=(2, 4, 0)), True),
        (Context(release=(2, 10, 0)), True),
        (Context(release=(2, 11, 0)), False),
        (Context(), False),
    ],
)
def test_what_a_masked_loss_was_divided_by(context: Context, is_by_all: bool) -> None:
    note_masked_output("x", context)
    note_masked_output("z", context, today=False)
    assert context.graph.masked_ends.get("x") == (BY_ALL if is_by_all else None)
    assert "another mask" in context.graph.masked_ends["z"]


NORMALIZATION = NewLayer("b", "BatchNormalization", {"name": "b"})
FROZEN = NewLayer("b", "BatchNormalization", {"name": "b", "trainable": False})
OVER_STEPS = NewLayer("t", "TimeDistributed", {"name": "t", "layer": NORMALIZATION.entry})


@pytest.mark.parametrize(
    ("layer", "release", "names"),
    [
        (NORMALIZATION, (2, 11, 0), ["b"]),
        (OVER_STEPS, (2, 11, 0), ["t"]),
        (FROZEN, (2, 11, 0), []),
        (NORMALIZATION, (2, 12, 0), []),
        (NORMALIZATION, (), []),
        (NewLayer("d", "Dense", {"name": "d"}), (2, 11, 0), []),
    ],
)
def test_a_normalization_that_counted_masked_steps(
    layer: NewLayer, release: tuple[int, ...], names: list[str]
) -> None:
    context = Context(release=release)
    note_normalization(layer.entry, layer.name, context)
    assert context.notes.masked_norms == names


@pytest.mark.parametrize(
    ("held", "half_pixels", "is_reshaped"),
    [
        ({"class_name": "LSTM", "config": {}}, True, True),
        ({"class_name": "LSTM", "config": {}}, False, False),
        ({"class_name": "LSTM", "config": {"stateful": True}}, True, False),
        ({"class_name": "Mine", "config": {}}, True, False),
        ({"class_name": "Sequential", "config": sequence(MASKING)}, True, True),
    ],
)
def test_a_batch_of_a_fixed_size(
    held: dict[str, Any], half_pixels: bool, is_reshaped: bool
) -> None:
    """Keras's own layers but stateful ones are asked each step from TensorFlow 1.15 on."""
    context = Context((2, 3), is_tf=True, half_pixels=half_pixels)
    assert is_batch_reshaped(held, context) is is_reshaped
