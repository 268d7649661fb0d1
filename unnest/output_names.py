"""Names of outputs, backups and temporary files, and the meaning of suffixes."""

from __future__ import annotations

import os
import re

from unnest.files.workspace import TEMPORARY
from unnest.formats.base import Target

BACKUP = ".bak"
MARK = ".unnested"

#: Suffix -> the container it names, and what else --to may ask for under it. The longest comes first.
CONTAINER_BY_SUFFIX: tuple[tuple[str, Target, tuple[Target, ...]], ...] = (
    (".weights.h5", "weights", ()),
    (".h5", "h5", ("weights",)),
    (".hdf5", "h5", ("weights",)),
    (".keras", "keras", ()),
    (".json", "json", ()),
)

#: Containers whose names are no file's: a dot in one is no suffix.
BARE = ("saved_model", "checkpoint")

#: Suffixes of other formats: a file of Keras under one of these names would pass for what it is not.
FOREIGN_SUFFIXES = (
    ".onnx", ".pt", ".pth", ".ckpt.pt", ".torch", ".safetensors", ".gguf", ".ggml", ".tflite", ".lite", ".pb", ".pbtxt",
    ".mlmodel", ".mlpackage", ".bin", ".npz", ".npy", ".pkl", ".pickle", ".joblib", ".msgpack", ".caffemodel", ".zip",
    ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z",
)  # fmt: skip
#: What an output can be called, as a message says it.
CAN_BE_WRITTEN = (
    ".keras, .h5 (.hdf5), .weights.h5 or .json; a SavedModel is a folder without suffix"
)

_OWN_OUTPUT = re.compile(re.escape(MARK) + r"(\.weights\.h5|\.[^.]+)?$", re.IGNORECASE)


def container_of_suffix(path: str) -> Target | None:
    """Return the container that a path's suffix names, if any."""
    return next(
        (names for suffix, names, _ in CONTAINER_BY_SUFFIX if path.lower().endswith(suffix)), None
    )


def foreign_suffix(path: str) -> str | None:
    """Return the suffix of another format that a path has; None without one, or for a folder's name with a slash."""
    return next((suffix for suffix in FOREIGN_SUFFIXES if path.lower().endswith(suffix)), None)


def requested_container(place: str, source: str, *, is_hdf5: bool) -> Target | None:
    """Return the container that an output's suffix names; HDF5 called `.keras` (Keras 2.2 wrote it) stays HDF5."""
    named = container_of_suffix(place)
    return (
        None if named == "keras" and is_hdf5 and container_of_suffix(source) == "keras" else named
    )


def agrees(path: str, to: Target) -> bool:
    """Return True if a path's suffix allows --to."""
    for suffix, names, also in CONTAINER_BY_SUFFIX:
        if path.lower().endswith(suffix):
            return to == names or to in also
    return True


def default_output(
    path: str, suffix: str | None = None, *, bare: bool = False, mark: str = MARK
) -> str:
    """Return `model.unnested.h5` for `model.h5`, with `suffix` if the output is of another container.

    A folder's or a checkpoint's name is `bare`: a dot in it is no suffix. In a folder for all the name has no `mark`.
    """
    stem, own = (path.rstrip("/\\") or path, "") if bare else split(path)
    return f"{stem}{mark}{own if suffix is None else suffix}"


def default_outputs(path: str, mark: str = MARK) -> set[str]:
    """Return every name that `default_output` may return for a path, whatever container is written."""
    suffixes = (None, "", *(suffix for suffix, _, _ in CONTAINER_BY_SUFFIX))
    return {
        default_output(path, suffix, bare=bare, mark=mark)
        for suffix in suffixes
        for bare in (False, True)
    }


def stems(path: str) -> set[str]:
    """Return the stems of all `default_outputs` of a path: paths that share none never write to one place."""
    whole = path.rstrip("/\\") or path
    return {stem.removesuffix(".weights") for stem in (whole, split(path)[0])}


def split(path: str) -> tuple[str, str]:
    """Return stem and suffix; a `.weights` before it belongs to the suffix."""
    path = path.rstrip("/\\") or path
    stem, suffix = os.path.splitext(path)
    if suffix.lower() in (".h5", ".json") and stem.lower().endswith(".weights"):
        stem = stem[: -len(".weights")]
    return stem, path[len(stem) :]


def is_suffix(text: str) -> bool:
    """Return True if a name with this appended is another file in the same folder."""
    return bool(text) and not {"/", "\\", "\0"} & set(text)


def is_ours(name: str, backup: str = BACKUP) -> bool:
    """Return True for outputs, backups and leftovers of killed runs, which a walk skips."""
    return bool(_OWN_OUTPUT.search(name) or TEMPORARY.search(name)) or name.endswith(
        (backup, BACKUP)
    )
