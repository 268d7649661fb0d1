"""Functions as configs store them: code, defaults and closure, or a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.model import Json


def parts_of(function: Json) -> tuple[str | None, Json, Json]:
    """Return code, defaults and closure: stored as `[code, defaults, closure]` up to Keras 2, as an object in Keras 3.

    In Keras 1.0 the code alone, where functions that are stored by name have their name: a text either way.
    """
    if function is None:
        return None, None, None
    if isinstance(function, str):
        return (function if "\0" in function else None), None, None
    if isinstance(function, Mapping):
        config = function.get("config")
        if not isinstance(config, Mapping):
            return None, None, None
        text, defaults, closure = config.get("code"), config.get("defaults"), config.get("closure")
    elif isinstance(function, Sequence):
        text, defaults, closure = (*function, None, None, None)[:3]
    else:
        return None, None, None
    return (text if isinstance(text, str) else None), defaults, closure
