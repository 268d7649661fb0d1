"""The Keras config in a SavedModel: JSON of the root object, or of a file beside the graph, as Keras has it in .h5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unnest.core import json_tree
from unnest.core.keras_facts.custom_functions_in_configs import is_keras_rule
from unnest.core.keras_facts.stored_class_names import is_keras_class
from unnest.core.model import Json, JsonObject, release_of
from unnest.files.file_reading import read_plain_file
from unnest.formats.tensorflow import protobuf_messages

#: Keras's own modules of what these keys end in, written to .h5 since this release.
MODULE_BY_KEY_ENDING = {k: f"keras.{k}s" for k in ("initializer", "regularizer", "constraint")}
MODULES_SINCE = (2, 13)


#: The file with the Keras metadata of a SavedModel's objects, from TensorFlow 2.5 on.
METADATA = "keras_metadata.pb"
#: The child of a Keras object that is its traced call; without it the class has to be given.
CALL = "__call__"
#: Protobuf's own limit.
MAX_METADATA = 1 << 31


def metadata_by_node(path: str) -> dict[int, str]:
    """Return node of an object -> its Keras metadata, from the file at `path`. Raises Unreadable."""
    nodes = protobuf_messages.parse(
        "KerasMetadata", read_plain_file(path, MAX_METADATA), path
    ).nodes
    return {int(n.node_id): str(n.metadata) for n in nodes}


def needs_its_class(meta: JsonObject) -> bool:
    """Return True for a custom class that Keras restores from its config alone, not by functions.

    (Source: layers with `_must_restore_from_config` in SavedModels of TensorFlow 2.3 to 2.15.)
    """
    return meta.get("must_restore_from_config") is True and not is_keras_class(
        str(meta.get("class_name")), meta
    )


def model_of_exported_json(value: JsonObject) -> dict[str, Any]:
    """Return `architecture`, `keras_version` and `backend` that `export_saved_model` puts beside the graph."""
    exported = {k: v for k, v in value.items() if k not in ("keras_version", "backend")}
    return {"architecture": _plain(exported), **_versions(value)}


def model_of_root_metadata(meta: JsonObject) -> dict[str, Any] | None:
    """Return what the root object's metadata stores; None if that is not a model's.

    It is architecture, versions, `training`, and `is_subclassed`: True if code alone calls the model's layers.
    (Source: SavedModels of TensorFlow 2.3 and 2.15.)
    """
    if "class_name" not in meta or "config" not in meta:
        return None
    versions = _versions(meta)
    architecture: Json = {k: _plain(meta[k]) for k in ("class_name", "config")}
    if release_of(versions["keras_version"]) >= MODULES_SINCE:
        architecture = _with_modules(architecture)
    training = meta.get("training_config")
    compiled = _without_shared_ids(_plain(training)) if isinstance(training, Mapping) else None
    return {
        "architecture": architecture,
        **versions,
        "training": compiled,
        "is_subclassed": meta.get("is_graph_network") is False,
    }


def _versions(value: Mapping[str, Any]) -> dict[str, str | None]:
    return {
        k: value.get(k) if isinstance(value.get(k), str) else None
        for k in ("keras_version", "backend")
    }


def _plain(value: Json) -> Json:
    """Return JSON without encodings that only SavedModel metadata has: tuples and shapes become lists."""

    def change(before: JsonObject, part: dict[str, Json]) -> Json:
        is_encoding = before.get("class_name") in ("__tuple__", "TensorShape") and set(before) == {
            "class_name",
            "items",
        }
        return part["items"] if is_encoding else part

    return json_tree.transform(value, change)


def _without_shared_ids(value: Json) -> Json:
    """Remove the numbers by which SavedModel metadata identifies shared objects."""
    return json_tree.transform(
        value, lambda _, part: {k: v for k, v in part.items() if k != "shared_object_id"}
    )


def _with_modules(value: Json) -> Json:
    """Return initializers and their like with modules, as these releases write them to .h5 but not to metadata."""

    def change(_: JsonObject, parts: dict[str, Json]) -> Json:
        for key, part in parts.items():
            kind = key.rpartition("_")[2]
            if (
                kind not in MODULE_BY_KEY_ENDING
                or not isinstance(part, Mapping)
                or set(part) != {"class_name", "config"}
            ):
                continue
            name = str(part["class_name"])
            if is_keras_rule(name):
                parts[key] = {"module": MODULE_BY_KEY_ENDING[kind], **part, "registered_name": None}
            elif ">" not in name:
                # Its author's module is not stored; the loader is given the class by this name.
                parts[key] = {"module": None, **part, "registered_name": name}
        return parts

    return json_tree.transform(value, change)
