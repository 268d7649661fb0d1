"""JSON out of files that may come from anyone: parsed, or refused in one line."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from typing import Any, TypeGuard

from unnest.budget import charge_memory
from unnest.core.model import Json, JsonObject
from unnest.errors import Unreadable


def read_bytes(path: str, most: int, what: str) -> bytes:
    """Return the content of a JSON file of at most `most` bytes; `what` names it in messages. Raises Unreadable."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            # A pipe or a device would keep us waiting, or never end.
            raise Unreadable(
                "not-a-file", f"{path}: is no regular file; pass the file that holds the JSON"
            )
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as e:
        raise Unreadable(
            "cannot-open", f"{path}: cannot be opened ({os.strerror(e.errno or 0)})"
        ) from e
    if len(data) > most:
        raise Unreadable("too-large", f"{path}: more than {most >> 20} MiB of JSON is no {what}")
    return data


def parse(text: str, place: str) -> Json:
    """Return a JSON value. Raises Unreadable if it is no JSON, or nests deeper than Python can hold."""
    # What Python makes of it: an object, a list, a value and its place in either.
    charge_memory(len(text) + 184 * text.count("{") + 64 * text.count("[") + 64 * text.count(","))
    try:
        value: Json = json.loads(text)
    except RecursionError:
        raise Unreadable(
            "json-too-deep", f"{place} nests too deep to be a model; do not trust this file"
        ) from None
    except json.JSONDecodeError as e:
        why = "it starts with a byte order mark" if text.startswith("\ufeff") else str(e)
        raise Unreadable(
            "bad-json", f"{place} is not JSON ({why}); the file is damaged; copy it again"
        ) from None
    except ValueError:  # Python's own limit
        raise Unreadable(
            "bad-json",
            f"{place} is not JSON (a number is too long); the file is damaged; copy it again",
        ) from None
    return value


def parse_object(text: str, place: str) -> JsonObject:
    """Return a JSON object, as training and model configs are. Raises Unreadable."""
    value = parse(text, place)
    if not isinstance(value, Mapping):
        raise Unreadable(
            "bad-json", f"{place} is JSON, but not an object; the file is damaged; copy it again"
        )
    return value


def is_architecture(value: Json) -> TypeGuard[JsonObject]:
    """Return True if JSON looks like the output of `model.to_json()`."""
    return isinstance(value, Mapping) and "class_name" in value and "config" in value


def dump(value: Json, **style: Any) -> str:  # noqa: ANN401 - json.dumps's own keywords
    """Return JSON as Keras writes it, except for the given `style`."""
    return json.dumps(value, **style)
