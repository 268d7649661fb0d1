"""Output paths of a batch, each unique: beside the inputs, or in one folder that mirrors their layout."""

from __future__ import annotations

import contextlib
import os

from unnest.batch.walk import Task
from unnest.files.interrupts import DeferredSignals
from unnest.formats.detect_container import may_be_model
from unnest.options import FixOptions
from unnest.outputs import output_file_names
from unnest.remote.urls import is_remote, safe_url
from unnest.repair import output_path
from unnest.report.result import Problem

#: Two inputs for one place.
OUTPUT_TWICE = "output-twice"


class OutputPaths:
    """Unique output paths for the tasks of a batch, and the folders that are made for them."""

    def __init__(self, options: FixOptions) -> None:
        self.options = options
        #: A stem of an output's name -> the tasks of which it may be.
        self._by_stem: dict[str, list[Task]] = {}
        #: Folders that were not there when a task was given its place, those above others first.
        self._new: dict[str, None] = {}

    def with_output_path(self, task: Task) -> Task:
        """Return the task with its output path; None there means beside the input."""
        if task.end or task.error is not None:
            return task
        folder = self.options.output
        if folder is not None:
            task = task._replace(output=path_in_folder(folder, task))
        stems = output_file_names.stems(task.output or task.path)
        others = {other.path: other for stem in stems for other in self._by_stem.get(stem, ())}
        for stem in stems:
            self._by_stem.setdefault(stem, []).append(task)
        taken = self._path_by_content(task) if others else None
        if taken is not None and any(
            self._path_by_content(other) == taken for other in others.values()
        ):
            message = (
                f"{task.path}: another input is written to {taken} already; give it a -o of its own"
            )
            return task._replace(output=None, error=Problem("output-twice", message))
        self._note_new_folders(os.path.dirname(task.output or ""))
        return task

    def _path_by_content(self, task: Task) -> str | None:
        """Return the path that `fix` writes for a task, decided by the content of the file; None if it writes nothing.

        Called only if names alone could put two outputs at one path, as `m.h5` and `m.json`. In a store the names
        decide.
        """
        if is_remote(task.path):
            path, keeps_suffix = (
                task.output or task.path,
                self.options.to is None and self.options.keras != "3",
            )
            return path if keeps_suffix else output_file_names.split_suffix(path)[0]
        if task.may_be and not may_be_model(task.path):
            return None
        from unnest import architecture_file_search

        options = self.options._replace(output=None, into=task.output)
        return output_path(
            task.path,
            options
            if task.folder is None
            else architecture_file_search.with_fitting_architecture(task.path, options),
        )

    def _note_new_folders(self, folder: str) -> None:
        """Note the folders on the way to an output that do not exist yet."""
        new = []
        while folder and not os.path.lexists(folder):
            new.append(folder)
            folder = os.path.dirname(folder)
        self._new.update(dict.fromkeys(reversed(new)))

    def remove_empty(self) -> None:
        """Take away the folders that were made and into which nothing came."""
        with DeferredSignals():
            for folder in reversed(self._new):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)


def path_in_folder(folder: str, task: Task) -> str:
    """Return the output path below `folder`: the input's name, below its relative place in the walked folder."""
    path = safe_url(task.path)
    name = (
        os.path.relpath(path, safe_url(task.folder))
        if task.folder
        else os.path.basename(path.rstrip("/\\"))
    )
    return os.path.join(folder, name)
