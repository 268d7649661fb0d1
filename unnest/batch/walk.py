"""Tasks of a run: the given paths, and the models below given folders, on this machine or in a store.

A walk of this machine opens no file: the work on a task finds out whether it is a model. In a store that would take a
request for each object, so there the names decide.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from unnest.errors import UnnestError
from unnest.formats.container_interface import MODEL_SUFFIXES
from unnest.formats.detect_container import checkpoints_of, holds_model, is_model_folder
from unnest.options import FixOptions
from unnest.outputs import output_file_names
from unnest.remote.urls import is_remote
from unnest.report.result import Problem


class Task(NamedTuple):
    """A path to work on, its output path if the options name one, and the folder of its walk; or an error."""

    path: str
    folder: str | None = None
    output: str | None = None
    error: Problem | None = None
    #: True if the content must be looked at first, to see whether it is a model at all.
    may_be: bool = False
    #: Nothing to work on: all that was found in a folder has come before this.
    end: bool = False


def tasks_in(paths: Sequence[str], options: FixOptions) -> Iterator[Task]:
    """Yield the paths, each once, and what may be a model below them, sorted; no file is opened for it."""
    for path in dict.fromkeys(paths):
        if is_walked(path):
            yield from (_walk_store if is_remote(path) else _walk)(path, options)
            yield Task(path, path, end=True)
        else:
            yield Task(path)


def count_files(paths: Sequence[str], options: FixOptions) -> int | None:
    """Return how many tasks `tasks_in` yields; None if an object store would be listed for it."""
    if any(map(is_remote, paths)):
        return None
    return sum(not task.end for task in tasks_in(paths, options))


def _walk(path: str, options: FixOptions) -> Iterator[Task]:
    """Yield a task for each file and SavedModel below a folder, except our own outputs and backups."""
    own = None if options.output is None else os.path.realpath(options.output)
    denied: list[OSError] = []
    for folder, folders, files in os.walk(path, onerror=denied.append):
        below = sorted(d for d in folders if not output_file_names.is_ours(d, options.backup))
        models = [d for d in below if is_model_folder(os.path.join(folder, d))]
        folders[:] = [
            d for d in below if d not in models and os.path.realpath(os.path.join(folder, d)) != own
        ]
        prefixes = checkpoints_of(files)
        for name in sorted(
            [
                *models,
                *prefixes,
                *(f for f in files if not output_file_names.is_ours(f, options.backup)),
            ]
        ):
            yield Task(os.path.join(folder, name), path, may_be=name not in prefixes)
    for error in denied:
        what = f"{error.filename}: cannot be opened ({error.strerror}); check its permissions"
        yield Task(str(error.filename), path, error=Problem("cannot-open", what))


def _walk_store(url: str, options: FixOptions) -> Iterator[Task]:
    """Yield the models below a folder of an object store, by their names, without our own outputs and backups."""
    from unnest.remote.store import RemoteStore

    own = None if options.output is None else options.output.rstrip("/")
    try:
        for folder, folders, files in RemoteStore(url).walk():
            if holds_model(files):
                folders.clear()
                yield Task(folder, url)
                continue
            for name in [
                n
                for n in folders
                if output_file_names.is_ours(n, options.backup) or f"{folder}/{n}" == own
            ]:
                del folders[name]
            models = [name for name in files if name.lower().endswith(MODEL_SUFFIXES)]
            for name in sorted([*checkpoints_of(files), *models]):
                if not output_file_names.is_ours(name, options.backup):
                    yield Task(f"{folder}/{name}", url)
    except UnnestError as e:
        yield Task(url, url, error=Problem(e.code, e.message))


def is_walked(path: str) -> bool:
    """Return True for a folder of models, False for one model; the URL of a folder of models ends with a slash."""
    if not is_remote(path):
        return os.path.isdir(path) and not is_model_folder(path)
    if not path.endswith("/"):
        return False
    from unnest.remote.store import RemoteStore

    try:
        _, _, files = next(RemoteStore(path).walk(), (path, {}, {}))
    except UnnestError:
        return True  # the walk says why
    return not holds_model(files)
