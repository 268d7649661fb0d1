"""Find the container of a path by its content: magic numbers and markers first, then structure."""

from __future__ import annotations

import errno
import itertools
import os
import re
import stat
from collections.abc import Collection, Iterable
from typing import IO

from unnest.errors import Unreadable
from unnest.formats.container_interface import MODEL_SUFFIXES, ContainerName
from unnest.formats.hdf5.detect_path_keyed_layout import is_path_keyed_file
from unnest.formats.keras3.weights_json_map import files_of, map_of
from unnest.formats.tfjs.detection import is_model_json

HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
ZIP_MAGIC = b"PK\x03\x04"

#: HDF5 looks for its magic at the start, and behind a user block of any power of two from 512.
USER_BLOCKS = (512, 1024, 2048, 4096)

#: Files of a folder that count for its size.
MOST_FILES = 10_000

#: How YAML that holds an architecture starts: its keys are sorted, and these are all there are.
YAML_START = re.compile(rb"(?:---\s+)?(?:backend|class_name|config|keras_version):\s")

#: Bytes that no text has, and JSON not even within a string: other formats may begin with a brace by chance.
NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")

#: What a checkpoint's files are called behind its prefix; an index is a table, which ends in this.
CHECKPOINT_PART = re.compile(r"\.(?:index|data-\d{5}-of-\d{5})$")
TABLE_MAGIC = bytes.fromhex("57fb808b247547db")


#: The files of a `.keras`, which also lie in a folder.
KERAS_FOLDER = ("config.json", "metadata.json", "model.weights.h5")

SAVED_MODEL_MARKS = ("saved_model.pb", "saved_model.pbtxt", "keras_metadata.pb")


def container_of(path: str) -> ContainerName | None:
    """Return the container at `path`; None for unknown content.

    Raises:
        Unreadable: the path cannot be opened, or its content is damaged.

    """
    name = container_by_first_bytes(path)
    return (
        "weights_h5"
        if name == "h5" and (map_of(path) is not None or is_path_keyed_file(path))
        else name
    )


def container_by_first_bytes(path: str) -> ContainerName | None:
    """Return the same without HDF5's library: every HDF5 file counts as `h5`. Raises Unreadable."""
    try:
        mode = os.stat(path).st_mode
    except OSError as e:
        if os.path.isfile(path + ".index"):
            return "checkpoint"
        raise cannot_open(path, e) from e
    if stat.S_ISDIR(mode):
        return "saved_model" if is_saved_model(path) else "keras" if is_keras_folder(path) else None
    if not stat.S_ISREG(mode):
        # A pipe or a device would keep us waiting, or never end.
        raise Unreadable("not-a-file", f"{path}: is no regular file; pass a file or a folder")
    return _of_file(path)


def _of_file(path: str) -> ContainerName | None:
    """Return the container of a file by its first bytes; None if these do not show it."""
    try:
        with open(path, "rb", buffering=0) as file:
            start = file.read(512)
            if start.startswith(ZIP_MAGIC):
                return "keras"
            if start.startswith(HDF5_MAGIC) or any(_is_hdf5_from(file, k) for k in USER_BLOCKS):
                _check_no_zip(path)
                return "h5"
    except OSError as e:
        raise cannot_open(path, e) from e
    if is_checkpoint_part(path):
        return "checkpoint"
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if (text[:1] in (b"{", b'"') and not NO_TEXT.search(start)) or YAML_START.match(text):
        return (
            "weights_h5" if map_of(path) is not None else "tfjs" if is_model_json(path) else "json"
        )
    return None


def _is_hdf5_from(file: IO[bytes], offset: int) -> bool:
    file.seek(offset)
    return file.read(len(HDF5_MAGIC)) == HDF5_MAGIC


def _check_no_zip(path: str) -> None:
    """Raise Unreadable for HDF5 called `.keras` that ends as a zip file does: Keras would load what that holds."""
    if not path.endswith(".keras"):
        return
    import zipfile  # not for every start

    if zipfile.is_zipfile(path):
        raise Unreadable(
            "damaged",
            f"{path}: is an HDF5 file and a zip file at once (crafted or damaged); do not trust this file",
        )


def checkpoint_prefix(path: str) -> str:
    """Return the checkpoint that a path names, by its prefix or by one of its files."""
    return CHECKPOINT_PART.sub("", path) if is_checkpoint_part(path) else path


def is_checkpoint_part(path: str) -> bool:
    """Return True if a file is the index or a shard of a checkpoint, the index of which exists."""
    part = CHECKPOINT_PART.search(path)
    if part is None or not os.path.isfile(path[: part.start()] + ".index"):
        return False
    try:
        with open(path[: part.start()] + ".index", "rb") as index:
            index.seek(-len(TABLE_MAGIC), os.SEEK_END)
            return index.read() == TABLE_MAGIC
    except OSError:
        return False


def stored_size(path: str) -> int:
    """Return the bytes stored under a path: a file, a folder's files, a checkpoint's; 0 for nothing."""
    path = checkpoint_prefix(path)
    if os.path.isfile(path):
        map_path = map_of(path)
        return (
            os.path.getsize(path)
            if map_path is None
            else sum(map(os.path.getsize, files_of(map_path)))
        )
    files: Iterable[str]
    if os.path.isdir(path):
        files = itertools.islice(
            (os.path.join(parent, n) for parent, _, names in os.walk(path) for n in names),
            MOST_FILES,
        )
    else:
        folder, name = os.path.split(path)
        files = (
            os.path.join(folder, n) for n in _names_in(folder or ".") if n.startswith(name + ".")
        )
    return sum(os.lstat(f).st_size for f in files if os.path.lexists(f))


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def checkpoints_of(names: Collection[str]) -> list[str]:
    """Return the checkpoint prefixes among a folder's files: an index with at least one data file."""
    stems = {n.rpartition(".data-")[0] for n in names if ".data-" in n}
    return [
        n
        for n in (name.removesuffix(".index") for name in names if name.endswith(".index"))
        if n in stems
    ]


def is_saved_model(folder: str) -> bool:
    """Return True if the folder holds one of the files that mark a SavedModel."""
    marks = [os.path.join(folder, mark) for mark in SAVED_MODEL_MARKS]
    # A pipe of that name is one, too, so that it is refused, and not passed by.
    return any(os.path.exists(mark) and not os.path.isdir(mark) for mark in marks)


def is_keras_folder(folder: str) -> bool:
    """Return True for a `.keras` that was not zipped, as on the Hugging Face Hub and in KerasHub's presets."""
    return all(os.path.isfile(os.path.join(folder, name)) for name in KERAS_FOLDER)


def holds_model(names: Iterable[str]) -> bool:
    """Return True if a folder's file names, relative and at any depth, are those of a SavedModel or a Keras folder."""
    found = set(names)
    return not found.isdisjoint(SAVED_MODEL_MARKS) or found.issuperset(KERAS_FOLDER)


def is_model_folder(folder: str) -> bool:
    """Return True for a folder that is one model, and is not searched for others."""
    return is_saved_model(folder) or is_keras_folder(folder)


def saved_model_around(path: str) -> str | None:
    """Return the SavedModel that contains a path, at most two folders up, or None."""
    folder = os.path.abspath(path)
    for _ in range(2):
        folder = os.path.dirname(folder)
        if is_saved_model(folder):
            return folder if os.path.isabs(path) else os.path.relpath(folder)
    return None


def cannot_open(path: str, error: OSError) -> Unreadable:
    """Return the error for a path that the system does not open."""
    if isinstance(error, FileNotFoundError):
        return Unreadable("not-found", f"{path}: no such file or folder; check the path")
    if error.errno == errno.ELOOP:
        return Unreadable(
            "cannot-open", f"{path}: is a link that leads back to itself; pass the file itself"
        )
    return Unreadable(
        "cannot-open", f"{path}: cannot be opened ({error.strerror}); check its permissions"
    )


def may_be_model(path: str) -> bool:
    """Return True if a walk should take a path for a model: by its content, or by a suffix that promises one.

    A damaged model is reported; any other text in a `.json` is not.
    """
    try:
        name = container_by_first_bytes(path)
    except Unreadable as e:
        return e.code != "not-a-file" and path.lower().endswith(MODEL_SUFFIXES)
    if name == "json":
        return _mentions_a_class(path)
    if name == "checkpoint" and os.path.isfile(path):
        return False  # a part: the walk takes the checkpoint by its prefix
    if name == "h5" and map_of(path) is not None:
        return False  # a shard: the walk takes the map
    if name == "keras":  # or any other zip file
        return path.lower().endswith(MODEL_SUFFIXES) or os.path.isdir(path)
    return name is not None or path.lower().endswith(MODEL_SUFFIXES)


def _mentions_a_class(path: str) -> bool:
    """Return True if a JSON file mentions a class: cheaper than parsing; quotes are escaped in JSON within JSON."""
    from unnest.formats.architecture_json import read_text

    try:
        text, _ = read_text(path)
    except Unreadable:
        return False
    return "class_name" in text and "config" in text
