"""Many paths: walking folders, keeping the order, and going on where one file is bad."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from unnest import outputs
from unnest.core.model import JsonObject
from unnest.errors import UsageError
from unnest.files.interrupts import Held
from unnest.files.replaceable import Inputs, models_around
from unnest.formats.detect import checkpoints_of, is_saved_model, may_be_model
from unnest.options import FixOptions, check_usage
from unnest.repair import Meter, fix_with, inspect
from unnest.report.result import Problem, Report, Result

#: Makes the meter of one file, given its path.
Meters = Callable[[str], "Meter | None"]
R = TypeVar("R", bound=Report)

#: What a walk leaves to others without a word: HDF5 and JSON that were never Keras's.
FOREIGN = "not-keras"


@dataclass(frozen=True, slots=True)
class Found:
    """A path to work on, and the folder whose walk led there; or why there is nothing to work on."""

    path: str
    folder: str | None = None
    error: Problem | None = None


def inspect_all(
    paths: Sequence[str],
    architecture: JsonObject | None = None,
    slice_layers: Collection[str] = (),
    *,
    trust: bool = False,
) -> Iterator[Report]:
    """A report per model, in the order of the paths."""

    def work(found: Found) -> Report:
        if found.error is not None:
            return Report(path=found.path, verdict="unreadable", error=found.error)
        return inspect(found.path, architecture=architecture, slice_layers=slice_layers, trust=trust)

    return _each(paths, FixOptions(), work)


def fix_all(paths: Sequence[str], options: FixOptions, meters: Meters = lambda _: None) -> Iterator[Result]:
    """A result per model, in the order of the paths. Raises UsageError before anything is written."""
    several = len(paths) > 1 or any(_is_walked(p) for p in paths)
    _check(paths, options, several=several)
    # A folder for all that is itself a SavedModel may be one that a walk comes to later.
    around = models_around(options.output) if several and options.output is not None else []
    given = Inputs.of([*(p for p in paths if not _is_walked(p)), *around])
    options = replace(options, inputs=(*options.inputs, given))
    taken: set[str] = set()

    def work(found: Found) -> Result:
        if found.error is not None:
            return Result(path=found.path, verdict="unreadable", action="failed", error=found.error)
        if not several or options.output is None:
            return _fix_one(found.path, options, meters)
        output = _place_in(options.output, found, options)
        if output in taken:
            message = f"{found.path}: another input is written to {output} already; fix it on its own"
            return Result(
                path=found.path, verdict="unreadable", action="refused", error=Problem("output-twice", message)
            )
        taken.add(output)
        with _folders_of(output, wanted=not options.dry_run):
            return _fix_one(found.path, replace(options, output=output), meters)

    return _each(paths, options, work)


def models_in(path: str, options: FixOptions) -> Iterator[Found]:
    """The path itself, or the models below it, sorted; our own outputs and backups are skipped."""
    if not _is_walked(path):
        yield Found(path)
        return
    own = None if options.output is None else os.path.realpath(options.output)
    denied: list[OSError] = []
    for folder, folders, files in os.walk(path, onerror=denied.append):
        below = sorted(d for d in folders if not outputs.is_ours(d, options.backup))
        models = [d for d in below if is_saved_model(os.path.join(folder, d))]
        folders[:] = [d for d in below if d not in models and os.path.realpath(os.path.join(folder, d)) != own]
        prefixes = checkpoints_of(files)
        for name in sorted([*models, *prefixes, *(f for f in files if not outputs.is_ours(f, options.backup))]):
            candidate = os.path.join(folder, name)
            if name in prefixes or may_be_model(candidate):
                yield Found(candidate, path)
    for error in denied:
        what = f"{error.filename}: cannot be opened ({error.strerror}); check its permissions"
        yield Found(str(error.filename), path, Problem("cannot-open", what))


def _each(paths: Sequence[str], options: FixOptions, work: Callable[[Found], R]) -> Iterator[R]:
    for given in paths:
        nothing = True
        for found in models_in(given, options):
            entry = work(found)
            if found.folder is None or entry.error is None or entry.error.code != FOREIGN:
                nothing = False
                yield entry
        if nothing:
            message = f"{given}: no model in this folder; pass a model file or a folder that holds some"
            yield work(Found(given, error=Problem("no-model", message)))


def _check(paths: Sequence[str], options: FixOptions, *, several: bool) -> None:
    """All usage errors at once, and first: a batch must not stop in the middle for one."""
    if options.verify:
        from unnest.verify import check_installed

        check_installed()
    if several and options.output is not None and os.path.lexists(options.output) and not os.path.isdir(options.output):
        raise UsageError("usage", f"{options.output}: for several inputs -o names a folder, and this is none")
    for path in paths:
        output = options.output
        if several and output is not None and not _is_walked(path):
            output = _place_in(output, Found(path), options)
        check_usage(path, options if _is_walked(path) and not options.in_place else replace(options, output=output))


def _place_in(folder: str, found: Found, options: FixOptions) -> str:
    """Under its own name, and below the folder as it was below the one that was walked."""
    name = os.path.relpath(found.path, found.folder) if found.folder else os.path.basename(found.path.rstrip("/\\"))
    suffix = _suffix(found.path, options)
    if suffix is not None:
        name = outputs.converted(name, suffix)
    return os.path.join(folder, name)


def _suffix(path: str, options: FixOptions) -> str | None:
    """The suffix of an output in a folder; None where the input's stays."""
    if options.to == "json":
        return ".json"
    keeps = path.lower().endswith((".json", ".keras")) or (
        path.lower().endswith(".weights.h5") and not options.architecture
    )
    return ".keras" if options.keras == "3" and options.to is None and not keeps else None


def _fix_one(path: str, options: FixOptions, meters: Meters) -> Result:
    """What contradicts itself for one file of many is that file's refusal."""
    try:
        return fix_with(path, options, meters(path))
    except UsageError as e:
        return Result(path=path, verdict="unreadable", action="refused", error=Problem(e.code, e.message))


@contextlib.contextmanager
def _folders_of(output: str, *, wanted: bool) -> Iterator[None]:
    """Make the folders that the output needs, and take them away again where nothing came into them."""
    made: list[str] = []
    folder = os.path.dirname(output)
    while wanted and folder and not os.path.isdir(folder):
        made.append(folder)
        folder = os.path.dirname(folder)
    with Held() as held:
        try:
            for each in reversed(made):
                with contextlib.suppress(OSError):  # fix itself says that the folder is missing
                    os.mkdir(each)
            with held.released():
                yield
        finally:
            for each in made:
                with contextlib.suppress(OSError):
                    os.rmdir(each)


def _is_walked(path: str) -> bool:
    return os.path.isdir(path) and not is_saved_model(path)
