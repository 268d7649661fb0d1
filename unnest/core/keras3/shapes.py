"""Input shapes of an older model that are stored beside its layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.keras3.config_values import plain
from unnest.core.model import Json, JsonObject


def build_shape(model: JsonObject) -> list[Json] | None:
    """The shape that a Sequential without an input was built on, where it is stored."""
    config = plain(model.get("config"))
    build = plain(model.get("build_config"))
    for where, key in ((config, "build_input_shape"), (build, "input_shape")):
        shape = where.get(key) if isinstance(where, Mapping) else None
        if (
            isinstance(shape, Sequence)
            and not isinstance(shape, str)
            and all(d is None or isinstance(d, int) for d in shape)
        ):
            return list(shape)
    return None
