"""Records by class, and what they say of a class's arguments, weights and shapes."""

from __future__ import annotations

import pytest

from unnest.core.layers.catalog import (
    FAMILIES,
    LAYER_RECORDS,
    MERGE_MODES,
    OTHER_NAMES,
    RENAMED,
    UNKNOWN_RECORD,
    built_axes,
    layer_record,
    makes_masks,
    merging_record,
    output_shape,
    takes,
)
from unnest.core.layers.record import MaskUse
from unnest.core.model import Json, JsonObject, Unknown


@pytest.mark.parametrize(
    ("class_name", "argument", "taken"),
    [
        ("Dense", "units", True),
        ("Dense", "kernel_initializer", True),
        ("Dense", "bias_constraint", True),
        ("Dense", "kernel_*", False),
        ("Dense", "filters", False),
        ("Dense", "batch_input_shape", False),
        ("Conv2D", "groups", True),
        ("Conv2DTranspose", "groups", False),
        ("DepthwiseConv2D", "kernel_initializer", False),
        ("SeparableConv2D", "pointwise_regularizer", True),
        ("LSTM", "unit_forget_bias", True),
        ("GRU", "unit_forget_bias", False),
        ("GRU", "reset_after", True),
        ("LSTM", "time_major", False),
        ("LSTMCell", "return_sequences", False),
        ("Flatten", "name", True),
        ("Flatten", "dtype", True),
        ("Flatten", "trainable", True),
        ("Discretization", "trainable", False),
        ("SpatialDropout2D", "trainable", False),
        ("Dropout", "trainable", True),
    ],
)
def test_takes(class_name: str, argument: str, taken: bool) -> None:
    assert takes(class_name, argument) is taken


def test_every_class_has_one_record() -> None:
    names = [layer.name for layers in FAMILIES.values() for layer in layers]
    assert len(names) == len({*names}) == len(LAYER_RECORDS)
    assert LAYER_RECORDS.keys().isdisjoint(OTHER_NAMES)


def test_other_names_lead_to_a_record() -> None:
    successors = {layer.successor for layer in LAYER_RECORDS.values() if layer.successor}
    assert {*RENAMED.values(), *OTHER_NAMES.values(), *successors} <= LAYER_RECORDS.keys()
    assert {
        layer_record(new).is_in_keras_3 for new in RENAMED.values() if new != "GroupQueryAttention"
    } == {True}


def test_a_class_of_keras_3_is_exported() -> None:
    assert [
        name for name, layer in LAYER_RECORDS.items() if layer.is_in_keras_3 and not layer.exported
    ] == []


@pytest.mark.parametrize(
    ("class_name", "config", "same_as"),
    [
        ("Merge", {"mode": "concat"}, "Concatenate"),
        ("Merge", {"mode": "sum"}, "Add"),
        ("Merge", {"mode": ["code"]}, "Merge"),
        ("Add", {"mode": "concat"}, "Add"),
    ],
)
def test_a_merge_of_keras_1_is_the_layer_of_its_mode(
    class_name: str, config: JsonObject, same_as: str
) -> None:
    assert merging_record(class_name, config) is layer_record(same_as)


def test_a_custom_class_has_no_facts() -> None:
    record = layer_record("Mine")
    assert record is UNKNOWN_RECORD
    assert (record.mask, record.exported, record.is_in_keras_2, record.weights) == (
        MaskUse.UNKNOWN,
        False,
        False,
        None,
    )


def test_modes_of_merge() -> None:
    assert {mode: layer.name for mode, layer in MERGE_MODES.items()} == {
        "sum": "Add", "mul": "Multiply", "ave": "Average", "max": "Maximum", "concat": "Concatenate", "dot": "Dot",
    }  # fmt: skip


def test_the_axes_that_weights_are_made_for() -> None:
    assert built_axes("Dense", {}, 3) == [2]
    assert built_axes("Conv2D", {"data_format": "channels_first"}, 4) == [1]
    assert built_axes("Flatten", {}, 3) == built_axes("Mine", {}, 3) == []


def test_the_number_of_axes_is_checked() -> None:
    assert output_shape("SpatialDropout1D", {}, (None, 3, 4)) == (None, 3, 4)
    with pytest.raises(Unknown):
        output_shape("SpatialDropout1D", {}, (None, 4))


def test_the_number_of_weights_is_read_off_a_config() -> None:
    """Without `weight_count` a config shows one weight for each initializer: each weight has one.

    SpectralNormalization holds another layer, whose weights count, and gives its own vector no initializer.
    """
    uncounted = {
        f"{record.name}: {weight.name}"
        for record in LAYER_RECORDS.values()
        if record.arguments and record.weights and record.weight_count is None
        for weight in record.weights
        if f"{weight.stem}_initializer" not in record.arguments
    }
    assert uncounted == {"SpectralNormalization: vector_u"}


@pytest.mark.parametrize(
    ("architecture", "wanted"),
    [
        ({"layers": [{"class_name": "Masking", "config": {}}]}, True),
        ({"layers": [{"class_name": "Embedding", "config": {"mask_zero": True}}]}, True),
        ({"layers": [{"class_name": "Embedding", "config": {"mask_zero": False}}]}, False),
        ({"layers": [{"class_name": "Embedding", "config": {"name": "Masking"}}]}, False),
    ],
)
def test_masks(architecture: Json, wanted: bool) -> None:
    """At any depth; a name is no class."""
    assert makes_masks(architecture) is wanted
