"""Recognise the `model.json` of TensorFlow.js among other JSON files."""

from __future__ import annotations

import os
from collections.abc import Mapping

from unnest.core.model import Json, JsonObject
from unnest.errors import Unreadable
from unnest.formats.parse_json import parse, read_bytes

#: Bytes of a `model.json`, which holds a line a layer and one a weight.
MAX_JSON = 64 << 20
#: What its writers call it.
MODEL_JSON = "model.json"
#: (Source: write_artifacts of tensorflowjs 0.8 to 4.22, getModelJSONForModelArtifacts of TensorFlow.js 4.22.)
TOPOLOGY, MANIFEST = "modelTopology", "weightsManifest"


def has_keys(data: bytes) -> bool:
    """True if the bytes of a JSON file mention a key that TensorFlow.js alone writes; far cheaper than parsing."""
    return any(f'"{key}"'.encode() in data for key in (TOPOLOGY, MANIFEST))


def is_tfjs(value: Json) -> bool:
    """True if a JSON value is an object with one of these keys at its top."""
    return isinstance(value, Mapping) and not {TOPOLOGY, MANIFEST}.isdisjoint(value)


def is_model_json(path: str) -> bool:
    """True if `path` is a regular file that holds such an object. Raises OverBudget."""
    try:
        data = read_bytes(path, MAX_JSON, "model.json")
        return has_keys(data) and is_tfjs(parse(data.decode("utf-8-sig"), path))
    except UnicodeDecodeError:
        return False
    except Unreadable:
        return False


def read_model_json(path: str) -> JsonObject:
    """Return the content of a `model.json`. Raises Unreadable."""
    try:
        value = parse(read_bytes(path, MAX_JSON, "model.json").decode("utf-8-sig"), path)
    except UnicodeDecodeError as e:
        raise Unreadable("bad-json", f"{path}: is not UTF-8 text, so no model.json") from e
    assert isinstance(value, Mapping)
    return value


def model_json_around(path: str) -> str | None:
    """Return the `model.json` in a file's folder if its manifest names that file; else None."""
    whole = os.path.join(os.path.dirname(path), MODEL_JSON)
    if not os.path.isfile(whole) or not is_model_json(whole):
        return None
    groups = read_model_json(whole).get(MANIFEST)
    names = [
        name
        for group in (groups if isinstance(groups, list) else ())
        if isinstance(group, Mapping) and isinstance(paths := group.get("paths"), list)
        for name in paths
        if isinstance(name, str)
    ]
    return whole if os.path.basename(path) in {name.removeprefix("./") for name in names} else None
