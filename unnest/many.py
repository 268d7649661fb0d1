"""inspect_many() and fix_many(): many files, folders included, one Report or Result after the other."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from unnest import logs, outputs
from unnest.batch.fixing import fix_all
from unnest.batch.inspecting import inspect_all
from unnest.batch.tasks import Engine
from unnest.caller_code import target_model_of
from unnest.options import FACTS, TEXT, Architecture, Dialect, FixOptions, architecture_argument, architecture_inputs
from unnest.remote.urls import path_text
from unnest.report.result import Report, Result

if TYPE_CHECKING:
    from unnest.formats.base import Target

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
        _listed(paths), architecture_json, classes, trust=trust, parts=TEXT if draw else FACTS, engine=Engine(jobs)
    )
    return _logged(reports, "inspect")


def fix_many(  # noqa: PLR0913 - one argument per option of the command line
    paths: FilePath | Iterable[FilePath],
    output: FilePath | None = None,
    jobs: int = 1,
    *,
    in_place: bool = False,
    backup: str = outputs.BACKUP,
    force: bool = False,
    dry_run: bool = False,
    to: Target | None = None,
    architecture: Architecture = None,
    keep_nested: bool = False,
    slice_layers: Iterable[str] = (),
    trust: bool = False,
    verify: bool = False,
    keras: Dialect | None = None,
    like: object = None,
) -> Iterator[Result]:
    """Yield a Result for each model as it is fixed, in the order of `paths`.

    `paths` is one path or any iterable of them; folders are searched. `output` is a folder for all outputs; without it
    each lies beside its input. `jobs` is the number of processes. All else is as in `fix`. Nothing is fixed before the
    first Result is asked for, and what is not asked for is not fixed.

    Raises:
        UsageError: options contradict each other; raised before anything is written.

    """
    options = FixOptions(
        None if output is None else path_text(output),
        in_place,
        backup,
        force,
        dry_run,
        to,
        architecture_argument(architecture),
        keep_nested,
        frozenset(slice_layers),
        architecture_inputs(architecture),
        trust=trust,
        verify=verify,
        keras=keras,
        like=target_model_of(like),
    )
    return _logged(fix_all(_listed(paths), options, engine=Engine(jobs)), "fix")


def _logged(reports: Generator[R, None, None], what: str) -> Generator[R, None, None]:
    """The same reports; the logger `unnest` gets a line for each."""
    with closing(reports):
        for report in reports:
            logs.info("%s %s: %s", what, report.path, getattr(report, "action", report.verdict))
            yield report


def _listed(paths: FilePath | Iterable[FilePath]) -> list[str]:
    """The paths as text; one path is a list of one."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        return [path_text(paths)]
    return [path_text(path) for path in paths]
