"""Open the container of a path; of a file that is no model say what it is instead.

The modules that read a container are imported when one is met: loading HDF5's library alone takes longer than all the
rest.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, closing
from importlib import import_module
from typing import TYPE_CHECKING

from unnest.budget import refund_on
from unnest.errors import Unreadable
from unnest.formats.container_interface import MODEL_SUFFIXES, Container, ContainerName, Source
from unnest.formats.detect_container import (
    CHECKPOINT_PART,
    container_by_first_bytes,
    container_of,
    saved_model_around,
)
from unnest.formats.keras3.weights_json_map import map_of
from unnest.formats.tfjs.detection import model_json_around

if TYPE_CHECKING:
    from unnest.formats.hdf5.legacy_h5_reader import H5Source
    from unnest.formats.keras3.weights_h5 import WeightsSource

#: Container -> module and class. A new container is a line here.
READERS: dict[ContainerName, tuple[str, str]] = {
    "h5": ("unnest.formats.hdf5.legacy_h5_writer", "H5Container"),
    "json": ("unnest.formats.architecture_json", "JsonContainer"),
    "keras": ("unnest.formats.keras3.keras_zip", "KerasContainer"),
    "weights_h5": ("unnest.formats.keras3.weights_h5", "WeightsContainer"),
    "checkpoint": ("unnest.formats.tensorflow.checkpoint", "CheckpointContainer"),
    "saved_model": ("unnest.formats.tensorflow.saved_model_writer", "SavedModelContainer"),
    "tfjs": ("unnest.formats.tfjs.layers_model", "TfjsContainer"),
}


#: How the files begin that failed downloads leave in a model's place.
LFS_POINTER = re.compile(rb"version https://git-lfs")


WEB_PAGE = re.compile(rb"<(?:(?:!doctype\s+html|html|head|\?xml)[\s>]|!--)", re.IGNORECASE)


def open_container(path: str) -> Container:
    """Return the container that reads `path`.

    Raises:
        Unreadable: no container does.

    """
    name = container_of(path)
    if name is None:
        raise _not_a_model(path)
    return container(name)


def open_for_inspection(path: str) -> Source:
    """Open the model at `path` to be inspected, not copied.

    The same source as from `open_container`, but faster if there is a faster reader.

    Raises:
        Unreadable: no container reads the path.

    """
    name = container_by_first_bytes(path)
    if name == "h5" and map_of(path) is None:
        source = open_plain_hdf5(path)
        if source is not None:
            return source
    if name == "keras" and not os.path.isdir(path):
        from unnest.formats.keras3.keras_zip import KerasSource

        return KerasSource(path, fast=True)
    return open_container(path).open(path)


def open_plain_hdf5(path: str) -> H5Source | WeightsSource | None:
    """Open the HDF5 file `path` with the fast reader; None if only HDF5's library can read it.

    The library opens the file where tensors of the source are read: use `open_container` to copy them.

    Raises:
        Unreadable: the file is damaged or unsafe.

    """
    from unnest.formats.hdf5.fast_reader import PlainFile
    from unnest.formats.hdf5.legacy_h5_reader import H5Source
    from unnest.formats.hdf5.plain_layouts import NotPlain

    try:
        with refund_on(NotPlain), ExitStack() as stack:
            plain = stack.enter_context(closing(PlainFile(path)))
            if not plain.is_path_keyed():
                return H5Source(path, plain)
            plain.check_path_keyed()
            stack.pop_all()
            from unnest.formats.keras3.weights_h5 import WeightsSource

            return WeightsSource(path, plain)  # which closes it
    except NotPlain:
        return None


def container(name: ContainerName) -> Container:
    """Return the container of that name, one of READERS."""
    module, class_name = READERS[name]
    container_object: Container = getattr(import_module(module), class_name)()
    return container_object


def _not_a_model(path: str) -> Unreadable:
    """Return the error for a path that is not a model, by the first reason that holds."""
    if os.path.isdir(path):
        return Unreadable(
            "no-model",
            f"{path}: is a folder and no model; pass one of its files, or the folder to inspect_many or fix_many",
        )
    if os.path.getsize(path) == 0:
        return Unreadable("empty", f"{path}: is empty (0 bytes); copy or download it again")
    reasons = (
        _in_the_place_of_a_model,
        _part_of_model,
        _of_other_format,
        _misnamed,
        _without_index,
    )
    found = next(filter(None, (reason(path) for reason in reasons)), None)
    return found or Unreadable(
        "not-keras", f"{path}: is no model file ({_first_bytes(path)}); {READABLE_FORMATS}"
    )


#: What there is to read, for whoever passed something else.
READABLE_FORMATS = (
    "unnest reads .h5, .keras and .weights.h5 files, SavedModel folders, checkpoints and model.json"
)


def _first_bytes(path: str) -> str:
    """Return the beginning of a file, in quotes, for a sentence."""
    with open(path, "rb") as file:
        return f"it begins with {file.read(12)!r}".replace("with b", "with ")


def _in_the_place_of_a_model(path: str) -> Unreadable | None:
    """Return the error for a file that a failed download leaves in a model's place, by its first bytes."""
    with open(path, "rb") as file:
        start = file.read(512).removeprefix(b"\xef\xbb\xbf").lstrip()
    if LFS_POINTER.match(start):
        advice = "run `git lfs pull`, or download the file itself"
        return Unreadable(
            "lfs-pointer", f"{path}: is a Git LFS pointer, a note in the model's place; {advice}"
        )
    if WEB_PAGE.match(start):
        advice = "download the file itself (on GitHub: Download raw file)"
        return Unreadable(
            "web-page", f"{path}: is a web page that was saved under a model's name; {advice}"
        )
    return None


def _part_of_model(path: str) -> Unreadable | None:
    """Return the error for one file of a model that consists of several; None for another file."""
    whole = model_json_around(path)
    if whole is not None:
        return Unreadable(
            "part-of-model", f"{path}: is one of the files of a TensorFlow.js model; pass {whole}"
        )
    folder = saved_model_around(path)
    if folder is not None:
        return Unreadable(
            "part-of-model",
            f"{path}: is one of the files of a SavedModel; pass its folder, {folder}",
        )
    return None


def _of_other_format(path: str) -> Unreadable | None:
    from unnest.formats.foreign_formats import foreign  # not for every start

    other = foreign(path)
    return None if other is None else other.error(path)


def _misnamed(path: str) -> Unreadable | None:
    """Return the error for a file with a model's name and unknown content; None for another file."""
    if not path.lower().endswith(MODEL_SUFFIXES):
        return None
    kind = "zip file" if path.lower().endswith(".keras") else "HDF5 file"
    why = f"is no {kind} despite its name ({_first_bytes(path)})"
    return Unreadable("damaged", f"{path}: {why}; restore it from a copy")


def _without_index(path: str) -> Unreadable | None:
    """Return the error for a checkpoint's data file without its index; None for another file."""
    part = CHECKPOINT_PART.search(path)
    if part is None or os.path.exists(index := path[: part.start()] + ".index"):
        return None
    return Unreadable(
        "missing-file",
        f"{path}: is called a checkpoint's file, and {index} is missing; copy it, too",
    )
