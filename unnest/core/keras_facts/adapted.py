"""Preprocessing layers whose state is no weight: what `adapt` found, where the config does not tell it.

(Source: files of Keras 2.15, tf_keras 2.21 and Keras 3.15. A vocabulary lies in a table of TensorFlow, or in a file
beside the weights; Discretization keeps a summary, from which its own `adapt` makes boundaries.)
"""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core import json_tree
from unnest.core.keras_facts.layer_classes import today
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json


def untold(architecture: Json, *, in_h5: bool) -> list[str]:
    """The names of layers that lose what they were adapted to; `.h5` keeps Discretization's summary as weights."""
    names = []
    for entry in json_tree.objects(architecture):
        kind, config = today(str(entry.get("class_name"))), entry.get("config")
        argument = layer_record(kind).adapted_argument
        if not argument or not isinstance(config, Mapping) or config.get(argument) is not None:
            continue
        if not (in_h5 and kind == "Discretization"):
            names.append(str(config.get("name") or entry.get("name")))
    return [*dict.fromkeys(names)]
