"""The TensorFlow behind a version of tf.keras: 1.13 to 2.1 all write `2.2.4-tf`, and their configs differ."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core import json_tree
from unnest.core.model import Json


def is_tensorflow_1_15_or_later(
    architecture: Json, release: tuple[int, ...], *, is_standalone: bool
) -> bool | None:
    """Return True if TensorFlow 1.15 or later wrote the architecture; None if its release is not known.

    Standalone Keras never had what came with 1.15, so it counts as earlier. `2.2.4-tf` is TensorFlow 1.13 to 2.1, of
    which 1.15 and later know ragged inputs, and TensorFlow 1 stores a dtype with each initializer.
    (Source: what TensorFlow 1.13, 1.15 and 2.0 write.)
    """
    if is_standalone and release and release < (2, 4):
        return False
    if release >= (2, 3) or has_key(architecture, "ragged"):
        return True
    if release == (2, 2, 4) and _has_initializers_of_2(architecture):
        return True
    return False if release < (2, 2, 4) and release else None


def has_key(value: Json, key: str) -> bool:
    """Return True if any object within the JSON value has the key."""
    return any(key in part for part in json_tree.objects(value))


def makes_masks(architecture: Json) -> bool:
    """Return True if any layer, at any depth, makes a mask: Masking, or an Embedding with `mask_zero`."""
    return any(
        part.get("mask_zero") is True or part.get("class_name") == "Masking"
        for part in json_tree.objects(architecture)
    )


def _has_initializers_of_2(architecture: Json) -> bool:
    """Return True if there are initializers, none of them with a dtype."""
    parts = json_tree.objects(architecture)
    stored = [
        value for part in parts for key, value in part.items() if key.endswith("_initializer")
    ]
    configs = [value.get("config") for value in stored if isinstance(value, Mapping)]
    plain = [config for config in configs if isinstance(config, Mapping)]
    return bool(plain) and not any("dtype" in config for config in plain)
