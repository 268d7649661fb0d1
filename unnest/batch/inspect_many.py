"""`inspect` for many paths, with one report for each."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from unnest.batch.task_runner import NO_WATCH, THIS_PROCESS, Engine, ModelWork, Watch, run_tasks
from unnest.batch.walk import Task, tasks_in
from unnest.build_report.in_memory_report_cache import ReportCache
from unnest.core.model import JsonObject
from unnest.core.plan import Choices
from unnest.inspection import inspect_anywhere
from unnest.options import FACTS, FixOptions, PhaseMeter, ReportParts
from unnest.remote.urls import safe_url
from unnest.report.result import Problem, Report

#: Answers for models that this process has already seen; only batches keep them.
REPORT_CACHE = ReportCache()


def inspect_all(  # noqa: PLR0913 - one argument per option of the command line
    paths: Sequence[str],
    architecture: JsonObject | None = None,
    slice_layers: Collection[str] = (),
    *,
    trust: bool = False,
    parts: ReportParts = FACTS,
    engine: Engine = THIS_PROCESS,
    watch: Watch = NO_WATCH,
) -> Generator[Report, None, None]:
    """Yield a report per model, in the order of the paths, with the `parts` that are asked for."""
    work = InspectWork(architecture, frozenset(slice_layers), trust, parts)
    return run_tasks(tasks_in(paths, FixOptions()), work, engine, watch)


@dataclass(frozen=True, eq=False, repr=False)
class InspectWork(ModelWork[Report]):
    """`inspect` for one path after the other."""

    lot: ClassVar = 16
    ahead: ClassVar = 4
    start_cost: ClassVar = 1.0

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
