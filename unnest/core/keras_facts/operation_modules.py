"""The module of an operation of Keras 3 that a file stores, by its class where the file does not name it."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.layers.catalog import layer_record
from unnest.core.model import JsonObject
from unnest.core.ops.keras3_modules import MODULES, ROOT


def operation_module(entry: JsonObject) -> str | None:
    """The module of one of Keras 3's own operations, stored or known by its class; None for a layer, or another's.

    Of an entry without one, as `.h5` has it, the config decides: only a layer's says whether it is trained, or, of
    SpatialDropout and Discretization, in which type it computes.
    """
    stored = entry.get("module")
    if isinstance(stored, str):
        return stored if stored.startswith((ROOT, "keras.ops")) else None
    config = entry.get("config")
    kind = str(entry.get("class_name"))
    if not isinstance(config, Mapping) or "trainable" in config or ("dtype" in config and layer_record(kind).exported):
        return None
    return MODULES.get(kind)
