"""Where many outputs go, never two to one place: beside their inputs, or in one folder, laid out as those were."""

from __future__ import annotations

import contextlib
import os

from unnest import outputs
from unnest.batch.walk import Task
from unnest.files.interrupts import Held
from unnest.formats.base import Target
from unnest.formats.detect import may_be_model
from unnest.options import FixOptions
from unnest.remote.urls import shown
from unnest.report.result import Problem

#: Two inputs for one place.
OUTPUT_TWICE = "output-twice"


class OutputPlaces:
    """Where the outputs of a batch go, never two to one place, and the folders that are made for them."""

    def __init__(self, options: FixOptions) -> None:
        self.options = options
        self._taken: dict[str, Task] = {}
        #: Folders that were not there when a task was given its place, those above others first.
        self._new: dict[str, None] = {}

    def of(self, task: Task) -> Task:
        """The task with its place; beside its input it finds that itself."""
        if task.end or task.error is not None:
            return task
        folder = self.options.output
        if folder is None:
            output = outputs.default_output(task.path, _suffix(task.path, self.options))
        else:
            output = place_in(folder, task, self.options)
        other = self._taken.get(output)
        if other is not None and not (other.may_be and not may_be_model(other.path)):
            message = f"{task.path}: another input is written to {output} already; fix it on its own"
            return task._replace(error=Problem("output-twice", message))
        self._taken[output] = task
        if folder is None:
            return task
        folder, new = os.path.dirname(output), []
        while folder and not os.path.lexists(folder):
            new.append(folder)
            folder = os.path.dirname(folder)
        self._new.update(dict.fromkeys(reversed(new)))
        return task._replace(output=output)

    def remove_empty(self) -> None:
        """Take away the folders that were made and into which nothing came."""
        with Held():
            for folder in reversed(self._new):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)


def place_in(folder: str, task: Task, options: FixOptions) -> str:
    """Under its own name, and below the folder as it was below the one that was walked."""
    path = shown(task.path)
    name = os.path.relpath(path, shown(task.folder)) if task.folder else os.path.basename(path.rstrip("/\\"))
    suffix = _suffix(task.path, options)
    if suffix is not None:
        name = outputs.converted(name, suffix)
    return os.path.join(folder, name)


#: --to -> the suffix of its container, where the input has another.
SUFFIXES: dict[Target | None, str] = {"h5": ".h5", "keras": ".keras", "json": ".json"}


def _suffix(path: str, options: FixOptions) -> str | None:
    """The suffix of an output in a folder; None where the input's stays."""
    named = outputs.named_by(path)
    if options.to is None and path.lower().endswith((".yaml", ".yml")):
        return ".json"
    if options.to == "weights":
        is_by_path = options.keras == "3" or named == "keras"
        return ".weights.h5" if is_by_path else ".h5" if named is None else None
    if options.to is None and options.keras == "3":
        keeps = named in ("json", "keras") or (named == "weights" and not options.architecture)
        return None if keeps else ".keras"
    return None if named == options.to else SUFFIXES.get(options.to)
