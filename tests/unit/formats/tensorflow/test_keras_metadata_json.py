"""The Keras config in a SavedModel's metadata, as Keras has it in .h5."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.formats.tensorflow.keras_metadata_json import model_of_root_metadata, needs_its_class


@pytest.mark.parametrize(
    ("version", "name", "added"),
    [
        ("2.15.0", "GlorotUniform", {"module": "keras.initializers", "registered_name": None}),
        ("2.15.0", "Diagonal", {"module": None, "registered_name": "Diagonal"}),
        ("2.15.0", "mine>Diagonal", {}),
        ("2.12.0", "GlorotUniform", {}),
    ],
)
def test_initializers_say_where_they_are_since_keras_2_13(
    version: str, name: str, added: dict[str, Any]
) -> None:
    """Keras's own are in its modules; where custom ones are is not stored, and the loader is given them by name."""
    rule = {"class_name": name, "config": {"seed": 1}}
    layer = {"class_name": "Dense", "config": {"name": "d", "kernel_initializer": rule}}
    meta: Any = {
        "class_name": "Sequential",
        "config": {"layers": [layer]},
        "keras_version": version,
    }
    read = model_of_root_metadata(meta)
    assert read is not None
    layers: Any = read["architecture"]["config"]["layers"]
    assert layers[0]["config"]["kernel_initializer"] == {**rule, **added}


@pytest.mark.parametrize(
    ("class_name", "is_restored", "expected"),
    [("Mine", True, True), ("Mine", False, False), ("LSTM", True, False)],
)
def test_a_custom_class_that_is_restored_from_its_config(
    class_name: str, is_restored: bool, expected: bool
) -> None:
    """Keras makes its own classes again; a custom one it runs by stored functions, where it may."""
    meta: Any = {
        "class_name": class_name,
        "must_restore_from_config": is_restored,
        "config": {"units": 2},
    }
    assert needs_its_class(meta) is expected
