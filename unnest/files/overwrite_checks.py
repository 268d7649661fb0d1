"""Outputs that `--force` may replace: those of the same kind, and never anything that an input is part of.

A file may take a file's place, or that of a link to one (the link goes, not its target). A folder may take the place of
an empty folder, or of one that holds nothing but a SavedModel's own parts.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from unnest.errors import Refused
from unnest.files.copy_and_compare import files_equal
from unnest.files.portable_file_operations import is_folder

#: What TensorFlow, Keras and unnest put into a SavedModel's folder.
GRAPHS = ("saved_model.pb", "saved_model.pbtxt")
SAVED_MODEL_FILES = (*GRAPHS, "keras_metadata.pb", "fingerprint.pb")
SAVED_MODEL_FOLDERS = ("assets", "assets.extra")
VARIABLES_FILE = re.compile(r"variables\.(index|data-\d{5}-of-\d{5})")

IN_THE_WAY = "in-the-way"

#: Where names stand for devices and open files: whoever replaces one takes it from every other program. /dev/shm is
#: memory.
SYSTEM_FOLDERS = ("/dev", "/proc", "/sys")
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where it is, not what is written there
#: Links that the system itself follows, one after the other.
MOST_LINKS = 40

#: Device and inode.
FileIdentity: TypeAlias = tuple[int, int]
NO_FILE: FileIdentity = (-1, -1)


class Inputs(NamedTuple):
    """Paths of the files and folders that a run reads, by device and inode, so that other names are recognised."""

    #: The files and folders themselves.
    named: dict[FileIdentity, str]
    #: Those of them that are a SavedModel's folder.
    models: dict[FileIdentity, str]
    #: The files in these.
    parts: dict[FileIdentity, str]
    #: The folders that all of them lie in.
    folders_above: dict[FileIdentity, str]

    @classmethod
    def of(cls, paths: Iterable[str]) -> Inputs:
        """Build from paths of files, SavedModels and prefixes of checkpoints."""
        inputs = cls({}, {}, {}, {})
        for path in paths:
            names = [path] if os.path.lexists(path) else _checkpoint_files(path)
            for name in names:
                inputs._add(name)
        return inputs

    def _add(self, path: str) -> None:
        _add_identity(self.named, path, path)
        for folder in _folders_above(path):
            _add_identity(self.folders_above, folder, path)
        if is_saved_model_folder(path):
            _add_identity(self.models, path, path)
            for root, _, names in os.walk(path):
                for name in names:
                    _add_identity(self.parts, os.path.join(root, name), os.path.join(root, name))


def check_not_an_input(target: str, inputs: Inputs) -> None:
    """Raise Refused if `target` is an input, contains one, lies in one, or links to one."""
    identity = _identity(target)
    if identity is not None:
        if identity in inputs.named:
            raise _refused(
                target, f"is {inputs.named[identity]}, which is an input, or a link to it"
            )
        if identity in inputs.parts:
            raise _refused(
                target, f"is {inputs.parts[identity]}, which is part of an input, or a link to it"
            )
        if identity in inputs.folders_above:
            raise _refused(target, f"contains {inputs.folders_above[identity]}, which is an input")
    for folder in _folders_above(target) if inputs.models else ():
        model = inputs.models.get(_identity(folder) or NO_FILE)
        if model is not None:
            raise _refused(target, f"lies in {model}, which is an input")


def check_not_of_the_system(target: str) -> None:
    """Raise Refused if `target` is one of the system's own names, or a link that leads to one."""
    path = target
    for _ in range(MOST_LINKS):
        folder, name = os.path.split(path.rstrip("/") or path)
        folder = os.path.realpath(folder)
        system_folder = next((top for top in SYSTEM_FOLDERS if _is_in(folder, top)), None)
        if system_folder is not None and not _is_in(folder, SHARED_MEMORY):
            verb = "is" if path == target else "is a link to what is"
            raise _refused(
                target,
                f"{verb} in {system_folder}, where names stand for devices and open files: no regular file",
            )
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            return
        path = os.path.join(folder, os.readlink(path))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def check_same_kind(target: str, *, folder: bool, new_folder: str | None = None) -> None:
    """Raise Refused if what is at `target` is of another kind than the output that is to take its place.

    A file takes the place of a regular file, or of a link to one or to nothing. A SavedModel (`folder`) takes that of
    a folder with a SavedModel and nothing else in it; files that `new_folder`, the finished output, holds with the
    same bytes do not count. Nothing at `target` is always right.
    """
    try:
        mode = os.lstat(target).st_mode
    except OSError:
        return
    if folder:
        if not stat.S_ISDIR(mode):
            raise _refused(target, f"is {_kind(target)}, and a SavedModel is a folder")
        check_holds_saved_model_alone(target, new_folder, target)
    elif os.path.isdir(target):
        raise _refused(target, f"is {_kind(target)}, and the output is a file")
    elif not stat.S_ISREG(mode) and not (stat.S_ISLNK(mode) and _leads_to_file(target)):
        raise _refused(target, "is no regular file")


def _leads_to_file(link: str) -> bool:
    """Return True if a link leads to a regular file, or to nothing."""
    try:
        return stat.S_ISREG(os.stat(link).st_mode)
    except OSError:
        return True


def check_holds_saved_model_alone(folder: str, new_folder: str | None, target: str) -> None:
    """Raise Refused, which names `target`, where the folder holds something besides a SavedModel's own parts."""
    names = sorted(os.listdir(folder))
    if not names:
        return
    foreign_entry = next(_foreign_entries(folder, new_folder), None)
    if foreign_entry is not None:
        raise _refused(target, f"holds {foreign_entry}, which is no part of a SavedModel")
    if not set(GRAPHS) & set(names):
        raise _refused(target, f"holds {names[0]} and no saved_model.pb, so it is no SavedModel")


def saved_models_around(path: str) -> list[str]:
    """Return the SavedModel folders that the path is, or lies in."""
    return [folder for folder in (path, *_folders_above(path)) if is_saved_model_folder(folder)]


def is_saved_model_folder(path: str) -> bool:
    """Return True if a folder is a SavedModel."""
    return any(os.path.isfile(os.path.join(path, name)) for name in GRAPHS)


def _foreign_entries(folder: str, new_folder: str | None) -> Iterator[str]:
    """Yield paths in the folder that belong to no SavedModel, and are not in `new_folder` with the same bytes."""
    for root, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            path = os.path.join(root, name)
            path_in_folder = os.path.relpath(path, folder).replace(os.sep, "/")
            if not _is_part_of_saved_model(path_in_folder, path) and not (
                new_folder is not None
                and _are_equal(path, os.path.join(new_folder, path_in_folder))
            ):
                yield path_in_folder


def _is_part_of_saved_model(path_in_folder: str, path: str) -> bool:
    """Return True for a path that belongs to a SavedModel folder."""
    top, _, rest = path_in_folder.partition("/")
    if os.path.islink(path):
        return False
    if is_folder(path):
        return top in SAVED_MODEL_FOLDERS or path_in_folder == "variables"
    if not os.path.isfile(path):
        return False
    return (
        path_in_folder in SAVED_MODEL_FILES
        or (top in SAVED_MODEL_FOLDERS and bool(rest))
        or (top == "variables" and bool(VARIABLES_FILE.fullmatch(rest)))
    )


def _are_equal(left: str, right: str) -> bool:
    """Compare two entries: files by content, folders by kind alone, since their entries are compared in turn."""
    if os.path.islink(left) or os.path.islink(right):
        return False
    if os.path.isdir(left):
        return os.path.isdir(right)
    try:
        return os.path.isfile(left) and files_equal(left, right)
    except OSError:
        return False


def _kind(path: str) -> str:
    what = "a folder" if os.path.isdir(path) else "a file"
    return f"a link to {what}" if os.path.islink(path) else what


def _folders_above(path: str) -> Iterator[str]:
    """Yield the folders that the path lies in, by its real name, the nearest first."""
    folder = os.path.realpath(path)
    while (parent := os.path.dirname(folder)) != folder:
        yield (folder := parent)


def _checkpoint_files(prefix: str) -> list[str]:
    """Return the paths of the files of a checkpoint, by its prefix."""
    folder, start = os.path.split(prefix)
    ends = (".index", ".meta")
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return []
    return [
        os.path.join(folder, n)
        for n in names
        if n.startswith(start) and (n[len(start) :] in ends or n[len(start) :].startswith(".data-"))
    ]


def _identity(path: str) -> FileIdentity | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _add_identity(paths: dict[FileIdentity, str], path: str, name: str) -> None:
    identity = _identity(path)
    if identity is not None:
        paths.setdefault(identity, name)


def _refused(target: str, why: str) -> Refused:
    return Refused(
        IN_THE_WAY, f"{target}: {why}; it is never replaced: choose another output with -o"
    )
