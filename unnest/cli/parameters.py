"""Arguments and options that more than one command has."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from unnest.cli.command import Argument, Option
from unnest.errors import UsageError
from unnest.remote.urls import with_repository_slash, without_file_scheme

if TYPE_CHECKING:
    from unnest.batch.task_runner import Engine

DIALECTS = ("original", "3")
TARGETS = ("h5", "keras", "weights", "saved_model", "json")


def at_least_one(text: str) -> int:
    """Return a number. Raises ValueError for what is none, and for less than 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError("needs a number, 1 or more")
    return number


PATHS = Argument(
    "paths",
    "PATH...",
    "Model files, or folders to search.",
    lambda path: with_repository_slash(without_file_scheme(path)),
)
AS_JSON = Option(("--json",), "One JSON document on stdout instead of text.", parameter="as_json")
ARCHITECTURE = Option(
    ("--architecture",),
    "The architecture of a weights-only file: the parallel model's, or the single-device one's.",
    "MODEL.json",
)
SLICE_LAYERS = Option(
    ("--slice-layer",),
    "You vouch that layers of this class cut the batch in order, if the file does not say so; repeatable.",
    "CLASS",
    is_repeatable=True,
)
TRUST = Option(("--trust",), "Larger limits of work and memory, for files whose origin you know.")
JOBS = Option(
    ("--jobs",),
    "Processes that work side by side, 1 or more.",
    "N",
    convert=at_least_one,
    default="1",
)
SCHEDULER = Option(
    ("--scheduler",),
    "Work over the Dask cluster of this scheduler, as in tcp://127.0.0.1:8786.",
    "ADDRESS",
)
AS_LINES = Option(("--json-lines",), "One JSON object per file on stdout, as they come.")
REPORT_PAGE = Option(
    ("--report",),
    "Write a page: of one model its graph, layers and weights, of many a row each; replaces earlier ones.",
    "FILE.html",
)
QUIET = Option(("--quiet", "-q"), "No report; only errors, and the exit code.")
VERBOSE = Option(
    ("--verbose", "-v"), "The picture, the evidence, all findings, and the near misses."
)


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
