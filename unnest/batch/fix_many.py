"""`fix` for many paths: wrong options are reported before anything is written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, fields, replace

from unnest.batch.output_paths import OUTPUT_TWICE, OutputPaths, path_in_folder
from unnest.batch.task_runner import (
    NO_WATCH,
    THIS_PROCESS,
    Engine,
    ModelWork,
    Watch,
    absolute,
    run_tasks,
)
from unnest.batch.walk import Task, is_walked, tasks_in
from unnest.errors import UsageError
from unnest.files import staging_folder
from unnest.files.overwrite_checks import Inputs, saved_models_around
from unnest.inspection import inspect
from unnest.options import FixOptions, PhaseMeter, check_name, check_usage
from unnest.outputs import container_suffixes, output_file_names
from unnest.remote.urls import is_remote, safe_url
from unnest.repair import fix_one
from unnest.report.result import Problem, Result


def fix_all(
    paths: Sequence[str],
    options: FixOptions,
    *,
    engine: Engine = THIS_PROCESS,
    watch: Watch = NO_WATCH,
) -> Generator[Result, None, None]:
    """Yield a result per model, in the order of the paths. Raises UsageError before anything is written."""
    several = len(paths) > 1 or any(is_walked(p) for p in paths)
    _check(paths, options, several=several)
    # A folder for all that is itself a SavedModel may be one that a walk comes to later.
    around = saved_models_around(options.output) if several and options.output is not None else []
    given = Inputs.of([*(p for p in paths if not is_walked(p)), *around])
    urls = tuple(filter(is_remote, paths))
    options = options._replace(inputs=(*options.inputs, given), input_urls=urls)
    tasks = tasks_in(paths, options)
    if not several or options.in_place:
        return run_tasks(tasks, FixWork(options), engine, watch)
    return _to_places(tasks, options, engine, watch)


@dataclass(frozen=True, slots=True)
class FixWork(ModelWork[Result]):
    """`fix` for one path after the other."""

    options: FixOptions

    @property
    def output(self) -> str | None:
        """The output path or folder that the options name, if any."""
        return self.options.output

    def anywhere(self) -> FixWork:
        """Return this work with an absolute output path, for a process with another working folder."""
        output = self.options.output
        return (
            self
            if output is None
            else replace(self, options=self.options._replace(output=absolute(output)))
        )

    def entry(self, task: Task, meter: PhaseMeter | None) -> Result:
        """Fix one file; return its result. A usage error that concerns one file of many becomes that file's refusal."""
        options = self.options
        if task.output is not None:
            options = options._replace(output=None, into=task.output)
            if not options.dry_run and not is_remote(task.output):
                with contextlib.suppress(OSError):  # fix itself says that the folder is missing
                    os.makedirs(os.path.dirname(task.output) or ".", exist_ok=True)
        if task.folder is not None and not is_remote(task.path):
            from unnest import architecture_file_search

            options = architecture_file_search.with_fitting_architecture(task.path, options)
        try:
            return fix_one(task.path, options, meter)
        except UsageError as e:
            return self._refused(task, Problem(e.code, e.message))

    def failed(self, task: Task, problem: Problem) -> Result:
        """Return the result of a file that was not fixed."""
        if problem.code == OUTPUT_TWICE:
            return self._refused(task, problem)
        return Result(
            path=safe_url(task.path), verdict="unreadable", action="failed", error=problem
        )

    def _refused(self, task: Task, problem: Problem) -> Result:
        """Return the result of a file that is not tried, with its content."""
        options = self.options
        found = inspect(
            task.path,
            architecture=options.architecture,
            slice_layers=options.slice_layers,
            trust=options.trust,
        )
        told = {each.name: getattr(found, each.name) for each in fields(found)}
        return Result(**{**told, "error": problem}, action="refused")

    def lost(self, task: Task, why: str) -> Result | None:
        """Return the result of a file whose process died, after removing what that process left of the output."""
        for place in self._may_have_written(task):
            staging_folder.sweep(place)
        return ModelWork.lost(self, task, why)

    def _may_have_written(self, task: Task) -> Collection[str]:
        """Return every path at which the output of a task can be."""
        if self.options.in_place:
            return (os.path.realpath(task.path),)
        if task.output is not None:
            return output_file_names.default_outputs(task.output, mark="")
        return (
            output_file_names.default_outputs(task.path)
            if self.options.output is None
            else (self.options.output,)
        )


def _to_places(
    tasks: Iterator[Task], options: FixOptions, engine: Engine, watch: Watch
) -> Generator[Result, None, None]:
    """Yield the results of tasks, each with an output path that no other has."""
    places = OutputPaths(options)
    try:
        yield from run_tasks(map(places.with_output_path, tasks), FixWork(options), engine, watch)
    finally:
        places.remove_empty()


def _check(paths: Sequence[str], options: FixOptions, *, several: bool) -> None:
    """Raise UsageError for any contradiction among the options before the first file: a batch must not stop midway."""
    if options.verify:
        from unnest.outputs.verify import check_installed

        check_installed()
    check_name(options.output)
    if several and options.output is not None:
        _check_folder(options.output)
    if several and options.stub is not None:
        raise UsageError("usage", f"--stub {options.stub}: is for one file; run fix for each")
    if options.in_place:
        _check_each_once(paths)
    for path in paths:
        into = None
        if several and options.output is not None and not is_walked(path) and not options.in_place:
            into = path_in_folder(options.output, Task(path))
        check_usage(path, options if into is None else options._replace(output=None, into=into))


def _check_folder(output: str) -> None:
    """Raise UsageError where -o, of several inputs, is no folder: one that is not there yet has no model's suffix."""
    if os.path.lexists(output) and not os.path.isdir(output):
        raise UsageError(
            "usage", f"{output}: for several inputs -o names a folder, and this is a file"
        )
    if container_suffixes.container_of_suffix(output) is not None and not os.path.isdir(output):
        why = "for several inputs -o names a folder, and this is a file's name"
        raise UsageError("usage", f"{output}: {why}; for a folder of that name end it in a slash")


def _check_each_once(paths: Sequence[str]) -> None:
    """Raise UsageError if two paths are one file: the result of the second would depend on timing."""
    given: dict[str, str] = {}
    for path in paths:
        place = path if is_remote(path) else os.path.realpath(path)
        if place in given:
            raise UsageError(
                "usage",
                f"{safe_url(path)}: is the same file as {safe_url(given[place])}; name it once",
            )
        given[place] = path
