"""Many paths: walking folders, keeping the order, and going on where one file is bad.

Each path that a walk comes to is a `Task`; what is done with it is a value that can be pickled, so that it is done
here, in processes of this machine, or on others, with the same results in the same order.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

from unnest import outputs
from unnest.carry_out import Meter
from unnest.core.model import JsonObject
from unnest.errors import UsageError
from unnest.files import workspace
from unnest.files.replaceable import Inputs, models_around
from unnest.formats.detect import may_be_model
from unnest.options import FixOptions, check_name, check_usage
from unnest.output_places import OUTPUT_TWICE, OutputPlaces, place_in
from unnest.remote.urls import is_remote, renamed, shown
from unnest.repair import fix_with, inspect
from unnest.report.result import Problem, Report, Result
from unnest.walk import Task, is_walked, tasks_in

R = TypeVar("R", bound=Report)

#: What a walk leaves to others without a word: HDF5 and JSON that were never Keras's.
FOREIGN = "not-keras"


class Watch(Protocol):
    """Told how a batch gets on, in the process that asked for it."""

    def meter(self, path: str) -> Meter | None:
        """What is told how many bytes of this file have been moved, and of how many; None where nobody looks."""

    def looked_at(self, path: str) -> None:
        """A path has been worked on, whether it was a model or not. In the order of the walk."""


class Unwatched:
    """Nobody looks."""

    def meter(self, path: str) -> Meter | None:  # noqa: ARG002 - what a batch asks for
        """Nobody is told."""
        return None

    def looked_at(self, path: str) -> None:
        """Nobody is told."""


class Engine(NamedTuple):
    """Where the work is done: here one by one, in so many processes, or over the Dask cluster of a scheduler."""

    jobs: int = 1
    scheduler: str | None = None

    def run(self, tasks: Iterator[Task], work: _Work[R], watch: Watch) -> Generator[tuple[Task, R | None], None, None]:
        """Each task with its result, in the order of the tasks."""
        if self.scheduler is not None:
            yield from _over_cluster(tasks, work, self.scheduler)
            return
        if self.jobs > 1:
            from unnest.workers import in_order

            yield from in_order(tasks, work, self.jobs, lambda task: watch.meter(task.path), ahead=work.ahead)
            return
        for task in tasks:
            yield task, work(task, watch.meter(task.path))


HERE = Engine()
UNWATCHED = Unwatched()


def inspect_all(  # noqa: PLR0913 - one argument per option of the command line
    paths: Sequence[str],
    architecture: JsonObject | None = None,
    slice_layers: Collection[str] = (),
    *,
    trust: bool = False,
    draw: bool = False,
    engine: Engine = HERE,
    watch: Watch = UNWATCHED,
) -> Generator[Report, None, None]:
    """A report per model, in the order of the paths; with `draw`, with its picture."""
    work = Inspecting(architecture, frozenset(slice_layers), trust, draw)
    return _each(tasks_in(paths, FixOptions()), work, engine, watch)


def fix_all(
    paths: Sequence[str], options: FixOptions, *, engine: Engine = HERE, watch: Watch = UNWATCHED
) -> Generator[Result, None, None]:
    """A result per model, in the order of the paths. Raises UsageError before anything is written."""
    several = len(paths) > 1 or any(is_walked(p) for p in paths)
    _check(paths, options, several=several)
    # A folder for all that is itself a SavedModel may be one that a walk comes to later.
    around = models_around(options.output) if several and options.output is not None else []
    given = Inputs.of([*(p for p in paths if not is_walked(p)), *around])
    options = options._replace(inputs=(*options.inputs, given))
    tasks = tasks_in(paths, options)
    if not several or options.in_place:
        return _each(tasks, Fixing(options), engine, watch)
    return _to_places(tasks, options, engine, watch)


class _Work(Generic[R]):
    """What both commands do with a task: what is no model is passed by, what is known to be wrong is told."""

    def __call__(self, task: Task, meter: Meter | None) -> R | None:
        """The entry for a path; None where a walk came by something else than a model."""
        if task.end or (task.may_be and not may_be_model(task.path)):
            return None
        if task.error is not None:
            return self.failed(task, task.error)
        entry = self.entry(task, meter)
        foreign = task.folder is not None and entry.error is not None and entry.error.code == FOREIGN
        return None if foreign else entry

    def lost(self, task: Task, why: str) -> R | None:
        """The entry for a path over which a process died."""
        what = f"{shown(task.path)}: the process that worked on it {why}; look at it alone, and do not trust it"
        return self.failed(task, Problem("process-lost", what))

    #: How many files a worker of a cluster is given at once.
    lot: ClassVar = 1
    #: How many a process here is given before it has answered the first, so that it need not wait for the next.
    ahead: ClassVar = 1

    @property
    def output(self) -> str | None:
        """The one output that was named, if it was."""
        return None

    def anywhere(self) -> _Work[R]:
        """The same for a process with another working folder."""
        return self

    def entry(self, task: Task, meter: Meter | None) -> R:
        """The report, or the result, for a model."""
        raise NotImplementedError

    def failed(self, task: Task, problem: Problem) -> R:
        """The same where there is nothing but a problem."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Inspecting(_Work[Report]):
    """`inspect` for one path after the other."""

    lot: ClassVar = 16
    ahead: ClassVar = 4

    architecture: JsonObject | None
    slice_layers: frozenset[str]
    trust: bool
    draw: bool = False

    def entry(self, task: Task, meter: Meter | None) -> Report:  # noqa: ARG002 - nothing is moved
        """Its report."""
        return inspect(
            task.path,
            architecture=self.architecture,
            slice_layers=self.slice_layers,
            trust=self.trust,
            draw=self.draw,
        )

    def failed(self, task: Task, problem: Problem) -> Report:
        """An unreadable file."""
        return Report(path=shown(task.path), verdict="unreadable", error=problem)


@dataclass(frozen=True, slots=True)
class Fixing(_Work[Result]):
    """`fix` for one path after the other."""

    options: FixOptions

    @property
    def output(self) -> str | None:
        """Where the options say that it goes."""
        return self.options.output

    def anywhere(self) -> Fixing:
        """With the whole path of the output."""
        output = self.options.output
        return self if output is None else replace(self, options=self.options._replace(output=_whole(output)))

    def entry(self, task: Task, meter: Meter | None) -> Result:
        """Its result. What contradicts itself for one file of many is that file's refusal."""
        options = self.options
        if task.output is not None:
            options = options._replace(output=task.output)
            if not options.dry_run and not is_remote(task.output):
                with contextlib.suppress(OSError):  # fix itself says that the folder is missing
                    os.makedirs(os.path.dirname(task.output) or ".", exist_ok=True)
        try:
            return fix_with(task.path, options, meter)
        except UsageError as e:
            return self._refused(task, Problem(e.code, e.message))

    def failed(self, task: Task, problem: Problem) -> Result:
        """A file that was not fixed."""
        if problem.code == OUTPUT_TWICE:
            return self._refused(task, problem)
        return Result(path=shown(task.path), verdict="unreadable", action="failed", error=problem)

    def _refused(self, task: Task, problem: Problem) -> Result:
        """A file that is not even tried, with what is in it."""
        options = self.options
        found = inspect(
            task.path, architecture=options.architecture, slice_layers=options.slice_layers, trust=options.trust
        )
        told = {each.name: getattr(found, each.name) for each in fields(found)}
        return Result(**{**told, "error": problem}, action="refused")

    def lost(self, task: Task, why: str) -> Result | None:
        """A file that was not fixed, and what the process left of the attempt is removed."""
        place = os.path.realpath(task.path) if self.options.in_place else task.output or self.options.output
        for output in outputs.default_outputs(task.path) if place is None else (place,):
            workspace.sweep(output)
        return _Work.lost(self, task, why)


def _each(tasks: Iterator[Task], work: _Work[R], engine: Engine, watch: Watch) -> Generator[R, None, None]:
    """The entries of all tasks; a folder in which there was none has one that says so."""
    nothing = True
    with closing(engine.run(tasks, work, watch)) as results:
        for task, entry in results:
            if task.end:
                if nothing:
                    what = f"{shown(task.path)}: no model in this folder; pass a model file or a folder that holds some"
                    yield work.failed(task, Problem("no-model", what))
                nothing = True
                continue
            watch.looked_at(task.path)
            if entry is not None:
                nothing = nothing and task.folder is None
                yield entry


def _over_cluster(
    tasks: Iterator[Task], work: _Work[R], scheduler: str
) -> Generator[tuple[Task, R | None], None, None]:
    """Over a cluster, whose workers work in other folders: paths are sent whole, and come back as they were given."""
    from unnest.cluster import in_order

    def sent() -> Iterator[Task]:
        for task in tasks:
            given.append(task)
            yield task._replace(path=_whole(task.path), output=task.output and _whole(task.output))

    given: deque[Task] = deque()
    for _, entry in in_order(sent(), work.anywhere(), scheduler, lot=work.lot):
        task = given.popleft()
        own = sorted(outputs.default_outputs(task.path), key=len, reverse=True)
        yield task, _as_given(entry, [task.output or work.output, *own, task.path])


def _as_given(entry: R | None, paths: Sequence[str | None]) -> R | None:
    for path in paths:
        entry = entry if path is None else renamed(entry, _whole(path), path)
    return entry


def _whole(path: str) -> str:
    return path if is_remote(path) else os.path.abspath(path)


def _to_places(
    tasks: Iterator[Task], options: FixOptions, engine: Engine, watch: Watch
) -> Generator[Result, None, None]:
    """The results where no two outputs may have one place."""
    places = OutputPlaces(options)
    try:
        yield from _each(map(places.of, tasks), Fixing(options), engine, watch)
    finally:
        places.remove_empty()


def _check(paths: Sequence[str], options: FixOptions, *, several: bool) -> None:
    """All usage errors at once, and first: a batch must not stop in the middle for one."""
    if options.verify:
        from unnest.verify import check_installed

        check_installed()
    check_name(options.output)
    if several and options.output is not None and os.path.lexists(options.output) and not os.path.isdir(options.output):
        raise UsageError("usage", f"{options.output}: for several inputs -o names a folder, and this is none")
    for path in paths:
        output = options.output
        if several and output is not None and not is_walked(path):
            output = place_in(output, Task(path), options)
        check_usage(path, options if is_walked(path) and not options.in_place else options._replace(output=output))
