"""Suffixes of outputs: the container that one names, and those of other formats, which are never written."""

from __future__ import annotations

from unnest.formats.container_interface import Target

#: Suffix -> the container it names, and what else --to may ask for under it. The longest comes first.
CONTAINER_BY_SUFFIX: tuple[tuple[str, Target, tuple[Target, ...]], ...] = (
    (".weights.h5", "weights", ()),
    (".h5", "h5", ("weights",)),
    (".hdf5", "h5", ("weights",)),
    (".keras", "keras", ()),
    (".json", "json", ()),
)


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


def suffix_allows(path: str, to: Target) -> bool:
    """Return True if a path's suffix allows --to."""
    for suffix, names, also in CONTAINER_BY_SUFFIX:
        if path.lower().endswith(suffix):
            return to == names or to in also
    return True
