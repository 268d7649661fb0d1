"""Run one kind of work over many tasks; the order is kept, and one bad file does not end the run.

Each path that a walk finds is a `Task`. The work is a value that can be pickled, so that it runs in this process, in
processes of this machine, or on other machines, with the same results in the same order.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

from unnest.batch.walk import Task
from unnest.formats.detect_container import may_be_model
from unnest.options import PhaseMeter
from unnest.outputs import output_file_names
from unnest.remote.urls import is_remote, safe_url
from unnest.report.result import Problem, Report, with_path_replaced

R = TypeVar("R", bound=Report)

#: What a walk leaves to others without a word: HDF5 and JSON that were never Keras's.
NOT_KERAS = "not-keras"


class Watch(Protocol):
    """Receiver of a batch's progress, in the process that asked for it."""

    def meter(self, path: str) -> PhaseMeter | None:
        """Return a function that receives the bytes of a file moved and in all, and the phase; None for nothing."""

    def count_file(self, path: str) -> None:
        """Count a path that has been worked on, model or not; called in the order of the walk."""


class NoWatch:
    """A receiver of progress that shows nothing."""

    def meter(self, path: str) -> PhaseMeter | None:  # noqa: ARG002 - what a batch asks for
        """Return None: no progress is shown."""
        return None

    def count_file(self, path: str) -> None:
        """Do nothing with the path."""


class Engine(NamedTuple):
    """The place where the work runs: this process, so many processes, or the Dask cluster of a scheduler."""

    jobs: int = 1
    scheduler: str | None = None

    def run(
        self, tasks: Iterator[Task], work: ModelWork[R], watch: Watch
    ) -> Generator[tuple[Task, R | None], None, None]:
        """Yield each task with its result, in the order of the tasks."""
        if self.scheduler is not None:
            yield from _over_cluster(tasks, work, self.scheduler)
            return
        waiting: deque[Task] = deque()
        if self.jobs == 1 or work.start_cost:
            yield from _in_this_process(tasks, work, watch, waiting, self.jobs)
        if self.jobs == 1 or (not waiting and work.start_cost):
            return
        from unnest.batch.workers import map_in_order

        left = chain(waiting, tasks)
        yield from map_in_order(
            left, work, self.jobs, lambda task: watch.meter(task.path), ahead=work.ahead
        )


THIS_PROCESS = Engine()
#: Processes are started if they save this many times what starting them costs.
SAVED_TIMES_START = 2
#: Tasks that are drawn ahead at most, to see whether so many are left.
MAX_DRAWN_AHEAD = 50_000
NO_WATCH = NoWatch()


class ModelWork(Generic[R]):
    """Work common to `inspect` and `fix`: skip what is not a model, report known problems, catch unexpected ones."""

    def __call__(self, task: Task, meter: PhaseMeter | None) -> R | None:
        """Return the entry for a path; None if a walk found something that is not a model."""
        if task.end or (task.may_be and not may_be_model(task.path)):
            return None
        if task.error is not None:
            return self.failed(task, task.error)
        entry = self.entry(task, meter)
        foreign = (
            task.folder is not None and entry.error is not None and entry.error.code == NOT_KERAS
        )
        return None if foreign else entry

    def lost(self, task: Task, why: str) -> R | None:
        """Return the entry for a path at which a process died."""
        what = f"{safe_url(task.path)}: the process that worked on it {why}; look at it alone, and do not trust it"
        return self.failed(task, Problem("process-lost", what))

    #: How many files a worker of a cluster is given at once.
    lot: ClassVar = 1
    #: Processor seconds that starting processes costs; until they are worth it, this process works alone. 0: they
    #: are always started, so that a file that kills its process kills no other work.
    start_cost: ClassVar = 0.0
    #: How many a process here is given before it has answered the first, so that it need not wait for the next.
    ahead: ClassVar = 1

    @property
    def output(self) -> str | None:
        """The one output that was named, if it was."""
        return None

    def anywhere(self) -> ModelWork[R]:
        """Return this work with absolute paths, for a process with another working folder."""
        return self

    def entry(self, task: Task, meter: PhaseMeter | None) -> R:
        """Return the report, or the result, for one model."""
        raise NotImplementedError

    def failed(self, task: Task, problem: Problem) -> R:
        """Return the report or result of a task that ended with a problem and nothing else."""
        raise NotImplementedError


def _in_this_process(
    tasks: Iterator[Task], work: ModelWork[R], watch: Watch, waiting: deque[Task], jobs: int
) -> Generator[tuple[Task, R | None], None, None]:
    """Work on tasks in this process until `jobs` processes would be done sooner; tasks drawn before stay in `waiting`.

    Seconds are the processor's, so that other work on the machine counts for nothing. What is left takes as long as
    what was done, by the number of tasks: as many are drawn as make processes save SAVED_TIMES_START times what it
    costs to begin with them, but not more than MAX_DRAWN_AHEAD.
    """
    seconds, done, again = 0.0, 0, work.start_cost
    while True:
        task = waiting.popleft() if waiting else next(tasks, None)
        if task is None:
            return
        start = time.process_time()
        entry = work(task, watch.meter(task.path))
        seconds += time.process_time() - start
        done += 1
        yield task, entry
        if jobs > 1 and seconds >= again:
            again = seconds + work.start_cost
            enough = math.ceil(
                SAVED_TIMES_START * work.start_cost / (seconds / done * (1 - 1 / jobs))
            )
            waiting.extend(islice(tasks, max(0, min(enough, MAX_DRAWN_AHEAD) - len(waiting))))
            if len(waiting) >= enough:
                return


def run_tasks(
    tasks: Iterator[Task], work: ModelWork[R], engine: Engine, watch: Watch
) -> Generator[R, None, None]:
    """Yield the entries of all tasks; a folder without a model has one entry that says so."""
    nothing = True
    with closing(engine.run(tasks, work, watch)) as results:
        for task, entry in results:
            if task.end:
                if nothing:
                    yield work.failed(task, Problem("no-model", _without_model(task.path)))
                nothing = True
                continue
            watch.count_file(task.path)
            if entry is not None:
                nothing = nothing and task.folder is None
                yield entry


def _without_model(folder: str) -> str:
    """Return the message on a folder without a model, which names what else is in it."""
    from unnest.formats.foreign_formats import foreign_in  # for a message alone

    others = "" if is_remote(folder) else foreign_in(folder)
    said = f" ({others})" if others else ""
    return f"{safe_url(folder)}: no model in this folder{said}; pass a model file or a folder that holds some"


def _over_cluster(
    tasks: Iterator[Task], work: ModelWork[R], scheduler: str
) -> Generator[tuple[Task, R | None], None, None]:
    """Run the tasks on a cluster, where the working folder differs: paths are sent absolute, and returned as given.

    An entry may name the input, the output folder, and any output that the task may have had.
    """
    from unnest.batch.dask_workers import map_in_order

    waiting: deque[Task] = deque()

    def absolute_tasks() -> Iterator[Task]:
        for task in tasks:
            waiting.append(task)
            yield task._replace(
                path=absolute(task.path), output=task.output and absolute(task.output)
            )

    for _, entry in map_in_order(absolute_tasks(), work.anywhere(), scheduler, lot=work.lot):
        task = waiting.popleft()
        outputs = (
            output_file_names.default_outputs(task.output, mark="")
            if task.output
            else output_file_names.default_outputs(task.path)
        )
        longest_first = sorted(outputs, key=len, reverse=True)  # a name may begin with another one
        yield task, _with_given_paths(entry, [*longest_first, work.output, task.path])


def _with_given_paths(entry: R | None, paths: Sequence[str | None]) -> R | None:
    """Return a report or result that names these paths as the caller does, in place of absolute ones."""
    for path in paths:
        entry = entry if path is None else with_path_replaced(entry, absolute(path), path)
    return entry


def absolute(path: str) -> str:
    """Return the absolute path; URLs are returned unchanged."""
    return path if is_remote(path) else os.path.abspath(path)
