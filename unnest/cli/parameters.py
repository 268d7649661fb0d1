"""Arguments and options that more than one command has."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from unnest.errors import UsageError
from unnest.remote.urls import with_repository_slash, without_file_scheme

if TYPE_CHECKING:
    from unnest.batch.task_runner import Engine

DIALECTS = ("original", "3")
TARGETS = ("h5", "keras", "weights", "saved_model", "json")


def at_least_one(number: int) -> int:
    """Return the number; the parser's own range would be `x>=1` in the help.

    Raises:
        BadParameter: it is less than 1.

    """
    if number < 1:
        raise typer.BadParameter(f"{number} is not 1 or more")
    return number


Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Model files, or folders to search.",
        show_default=False,
        callback=lambda paths: [with_repository_slash(without_file_scheme(path)) for path in paths],
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON document on stdout instead of text.")
]
ArchitectureOption = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL.json",
        help="The architecture of a weights-only file: the parallel model's, or the single-device one's.",
    ),
]
SliceLayers = Annotated[
    list[str] | None,
    typer.Option(
        "--slice-layer",
        metavar="CLASS",
        help="You vouch that layers of this class cut the batch in order, if the file does not say so; repeatable.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Larger limits of work and memory, for files whose origin you know."
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="N", help="Processes that work side by side, 1 or more.", callback=at_least_one
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Work over the Dask cluster of this scheduler, as in tcp://127.0.0.1:8786.",
    ),
]
AsLines = Annotated[
    bool, typer.Option("--json-lines", help="One JSON object per file on stdout, as they come.")
]
ReportPage = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.html",
        help="Write a page: of one model its graph, layers and weights, of many a row each; replaces earlier ones.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No report; only errors, and the exit code.")
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="The picture, the evidence, all findings, and the near misses."
    ),
]


def engine(jobs: int, scheduler: str | None) -> Engine:
    """Return the place where the work runs.

    Raises:
        UsageError: the options name two places.

    """
    from unnest.batch.task_runner import Engine

    if scheduler is not None and jobs > 1:
        raise UsageError(
            "usage", "--jobs and --scheduler contradict each other: processes here, or a cluster's"
        )
    return Engine(jobs, scheduler)


def check_suffix(option: str, place: str, suffixes: Iterable[str]) -> None:
    """Raise UsageError if the path that an option names has none of these suffixes."""
    if os.path.splitext(place)[1].lower() not in suffixes:
        raise UsageError("usage", f"{option} {place}: the name must end in {' or '.join(suffixes)}")
