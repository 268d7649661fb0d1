"""Preprocessing layers that lose what `adapt` found, because it is no weight and their config does not tell it.

(Source: files of Keras 2.15, tf_keras 2.21 and Keras 3.15.)
"""

from __future__ import annotations

from unnest.budget import memoize
from unnest.core import json_tree
from unnest.core.architecture import entry_name
from unnest.core.keras_facts.stored_class_names import current_class_name, record_of
from unnest.core.model import Json


def layers_without_state(architecture: Json, *, in_h5: bool) -> list[str]:
    """Return the names of layers that lose what `adapt` found; `.h5` keeps Discretization's summary as weights."""
    layers = memoize(_without_state, architecture)
    return [
        *dict.fromkeys(name for kind, name in layers if not (in_h5 and kind == "Discretization"))
    ]


def layers_without_boundaries(architecture: Json) -> list[str]:
    """Return the names of adapted Discretization layers whose boundaries the config does not hold."""
    layers = memoize(_without_state, architecture)
    return [*dict.fromkeys(name for kind, name in layers if kind == "Discretization")]


def _without_state(architecture: Json) -> list[tuple[str, str]]:
    """Return (class, name) of each layer that is adapted to data, and whose config does not hold the result."""
    found = []
    for entry in json_tree.all_objects(architecture):
        if "class_name" not in entry:
            continue
        kind, config = current_class_name(str(entry["class_name"])), entry.get("config")
        argument = record_of(kind, config).adapted_argument
        if not argument or not json_tree.is_object(config) or config.get(argument) is not None:
            continue
        found.append((kind, str(entry_name(entry))))
    return found


MISREAD = (2, 4), (2, 10)
"""From and before which release of tf.keras these layers are not read back as they were."""


def is_misread(architecture: Json, release: tuple[int, ...]) -> bool:
    """Return True if the tf.keras of a release may compute otherwise with a layer once it is loaded from an `.h5`.

    An adapted Normalization computes with the constants that it made before its weights were read, a Discretization
    does not find its boundaries in the summary that it reads, and a TextVectorization does not know its mode again,
    which it compares by identity, and pads nothing.
    (Source: TensorFlow 2.7, keras/layers/preprocessing; 2.3 and 2.10 compute what they did. Others were not tried.)
    """
    if not MISREAD[0] <= release < MISREAD[1]:
        return False
    for entry in json_tree.all_objects(architecture):
        if "class_name" not in entry:
            continue
        kind, config = current_class_name(str(entry.get("class_name"))), entry.get("config")
        settings = config if json_tree.is_object(config) else {}
        if kind == "Normalization" and settings.get("mean") is None:
            return True
        if kind == "Discretization" and settings.get("bin_boundaries") is None:
            return True
        if kind == "TextVectorization" and settings.get("output_mode", "int") == "int":
            return True
    return False
