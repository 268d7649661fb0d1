"""inspect_many() and fix_many(): many files, folders included, one Report or Result after the other."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from unnest import log_if_loaded
from unnest.batch.fix_many import fix_all
from unnest.batch.inspect_many import inspect_all
from unnest.batch.task_runner import NO_WATCH, Engine, NoWatch
from unnest.options import (
    FACTS,
    TEXT,
    Architecture,
    FixArguments,
    Meter,
    Phase,
    PhaseMeter,
    architecture_argument,
    signature_of_fix,
)
from unnest.remote.urls import path_text
from unnest.repair import fix_options
from unnest.report.result import Report, Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

R = TypeVar("R", bound=Report)
FilePath: TypeAlias = "str | bytes | os.PathLike[str]"


def inspect_many(
    paths: FilePath | Iterable[FilePath],
    jobs: int = 1,
    *,
    architecture: Architecture = None,
    slice_layers: Iterable[str] = (),
    trust: bool = False,
    draw: bool = False,
) -> Iterator[Report]:
    """Yield a Report for each model, in the order of `paths`.

    `paths` is one path or any iterable of them; folders are searched. `jobs` is the number of processes that work side
    by side, 1 for this one alone. All else is as in `inspect`. A bad file is a Report that says so. For a progress bar
    wrap the iterator: `for report in tqdm(unnest.inspect_many(paths)): ...`.

    Raises:
        UsageError: `architecture` names no architecture, or no process can be started.

    """
    architecture_json, classes = architecture_argument(architecture), frozenset(slice_layers)
    reports = inspect_all(
        _path_list(paths),
        architecture_json,
        classes,
        trust=trust,
        parts=TEXT if draw else FACTS,
        engine=Engine(jobs),
    )
    return _logged(reports, "inspect")


def fix_many(
    paths: FilePath | Iterable[FilePath],
    output: FilePath | None = None,
    jobs: int = 1,
    **arguments: Unpack[FixArguments],
) -> Iterator[Result]:
    """Yield a Result for each model as it is fixed, in the order of `paths`.

    `paths` is one path or any iterable of them; folders are searched. `output` is a folder for all outputs; without it
    each lies beside its input. `jobs` is the number of processes. All else is as in `fix`; `meter` gets the bytes of
    all files that were begun, together. Nothing is fixed before the first Result is asked for, and what is not asked
    for is not fixed.

    Raises:
        UsageError: options contradict each other; raised before anything is written.

    """
    options, meter = fix_options(output, arguments), arguments.get("meter")
    watch = NO_WATCH if meter is None else TotalBytesMeter(meter)
    return _logged(fix_all(_path_list(paths), options, engine=Engine(jobs), watch=watch), "fix")


fix_many.__signature__ = signature_of_fix(fix_many)  # type: ignore[attr-defined] # read by `inspect.signature`


class TotalBytesMeter(NoWatch):
    """One meter for many files, some of them at the same time: the bytes moved, and those of all that were begun."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._files: dict[str, tuple[int, int]] = {}
        self._done = self._total = 0

    def meter(self, path: str) -> PhaseMeter:
        """Return the function that receives the progress of one file."""

        def moved(done: int, total: int, _: Phase) -> None:
            before = self._files.get(path, (0, 0))
            self._files[path] = (done, total)
            self._done += done - before[0]
            self._total += total - before[1]
            self._meter(self._done, self._total)

        return moved


def _logged(reports: Generator[R, None, None], what: str) -> Generator[R, None, None]:
    """Yield the reports on; the logger `unnest` gets a line for each."""
    with closing(reports):
        for report in reports:
            log_if_loaded.info(
                "%s %s: %s", what, report.path, getattr(report, "action", report.verdict)
            )
            yield report


def _path_list(paths: FilePath | Iterable[FilePath]) -> list[str]:
    """Return the paths as strings; one path becomes a list."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        return [path_text(paths)]
    return [path_text(path) for path in paths]
