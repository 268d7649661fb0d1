"""`inspect` for many paths, with one report for each."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from unnest.batch.tasks import HERE, UNWATCHED, Engine, ModelWork, Watch, each
from unnest.batch.walk import Task, tasks_in
from unnest.core.model import JsonObject
from unnest.core.plan import Choices
from unnest.inspection import inspect_anywhere
from unnest.options import FACTS, FixOptions, PhaseMeter, ReportParts
from unnest.remote.urls import safe_url
from unnest.report.result import Problem, Report
from unnest.report_cache import ReportCache

#: Answers for models that this process has already seen; only batches keep them.
REPORT_CACHE = ReportCache()


def inspect_all(  # noqa: PLR0913 - one argument per option of the command line
    paths: Sequence[str],
    architecture: JsonObject | None = None,
    slice_layers: Collection[str] = (),
    *,
    trust: bool = False,
    parts: ReportParts = FACTS,
    engine: Engine = HERE,
    watch: Watch = UNWATCHED,
) -> Generator[Report, None, None]:
    """Yield a report per model, in the order of the paths, with the `parts` that are asked for."""
    work = Inspecting(architecture, frozenset(slice_layers), trust, parts)
    return each(tasks_in(paths, FixOptions()), work, engine, watch)


@dataclass(frozen=True, eq=False, repr=False)
class Inspecting(ModelWork[Report]):
    """`inspect` for one path after the other."""

    lot: ClassVar = 16
    ahead: ClassVar = 4
    alone: ClassVar = 1.0

    architecture: JsonObject | None
    slice_layers: frozenset[str]
    trust: bool
    parts: ReportParts = FACTS

    def entry(self, task: Task, meter: PhaseMeter | None) -> Report:  # noqa: ARG002 - nothing is moved
        """Return the report on one file."""
        choices = Choices(slice_layers=self.slice_layers)
        return inspect_anywhere(
            task.path,
            self.architecture,
            choices,
            trust=self.trust,
            parts=self.parts,
            known=REPORT_CACHE,
        )

    def failed(self, task: Task, problem: Problem) -> Report:
        """Return the report on a file that could not be read."""
        return Report(path=safe_url(task.path), verdict="unreadable", error=problem)
