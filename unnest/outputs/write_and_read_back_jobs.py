"""Pairs of functions that write an output, and read it back before it gets its name: for a copy, and for a model."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from unnest import open_and_plan
from unnest.budget import OverBudget
from unnest.core.architecture.input_output_names import exchanged_end
from unnest.core.model import JsonObject
from unnest.core.plan import Choices, Plan
from unnest.errors import Failed, Refused, UnnestError, Unreadable
from unnest.files import write_output_atomically
from unnest.files.copy_and_compare import copy_file, copy_tree, files_equal, folders_equal
from unnest.formats.container_interface import Source, TargetFormat
from unnest.formats.open_container import container, open_container
from unnest.options import FixOptions, Phase, PhaseMeter


class Job(NamedTuple):
    """Functions that write a file, and read it back before it gets its name."""

    fill: write_output_atomically.Fill
    check: write_output_atomically.Check
    checks: list[str]

    def with_next_step(self, prepare: Callable[[], object]) -> Job:
        """Return the same job, with something to do while the disk is still busy with what was written."""

        def check(path: str) -> None:
            self.check(path)
            prepare()

        return self._replace(check=check)


def ignore_progress(_done: int, _all: int, _phase: Phase) -> None:
    """Ignore progress."""


def copy_job(source: Source) -> Job:
    """Return the job that copies the input as it is. Raises Failed."""
    checks: list[str] = []
    folder = container(source.container).folder

    def fill(path: str) -> None:
        (copy_tree if folder else copy_file)(source.path, path)

    def check(path: str) -> None:
        if not (folders_equal if folder else files_equal)(source.path, path):
            raise Failed(
                "read-back", f"{path}: the copy reads back differently; the disk may be failing"
            )
        checks.append("bytes")

    return Job(fill, check, checks)


def write_job(
    source: Source, plan: Plan, target: TargetFormat, options: FixOptions, meter: PhaseMeter
) -> Job:
    """Return the job that writes a model to its container; what it wrote must be clean, and have its own ends."""
    writer, done = container(target.container), 0
    checks: list[str] = []
    total = 2 * sum(t.nbytes for t in target.model.tensors)
    is_copied = target.container == source.container and not target.conversions
    phase: Phase = "copying" if is_copied else "converting"

    def step(size: int) -> None:
        nonlocal done
        done += size
        meter(min(done, total), total, phase)

    def fill(path: str) -> None:
        try:
            writer.write(target.output, source, path, step)
        except Failed as e:
            if e.code == "write":
                _check_readable(source)
            raise

    def check(path: str) -> None:
        nonlocal phase
        phase = "reading back"
        checks[:] = [*writer.verify(target.output, source, path, step), *target.checks]
        architecture = _architecture(plan, options)
        _check_clean(path, plan, architecture, Choices(slice_layers=options.slice_layers))

    return Job(fill, check, checks)


def _check_readable(source: Source) -> None:
    """Raise Unreadable if a write failed because the input cannot be read, not because of the output."""
    tensor = None
    try:
        for tensor in source.tensors:
            for _ in source.blocks(tensor):
                pass
    except (OSError, RuntimeError, ValueError, KeyError) as e:
        why, name = " ".join(str(e).split())[:200], tensor and tensor.name
        raise Unreadable(
            "cannot-read",
            f"{source.path}: {name!r} cannot be read ({why}); restore the file from a copy",
        ) from e


def _architecture(plan: Plan, options: FixOptions) -> JsonObject | None:
    """Return the output's architecture, if it was given beside weights alone: their names show less."""
    if options.like is not None:
        return options.like.architecture
    return None if plan.complete is None else plan.complete.architecture


def _check_clean(path: str, plan: Plan, architecture: JsonObject | None, choices: Choices) -> None:
    """Check that `inspect` calls the output clean, and that no inputs or outputs are exchanged.

    An output that has the template's own inputs and outputs, in its order, has a finding that says so.

    Raises:
        Failed: the output would be unreadable or still parallel, or its ends are exchanged.
        Refused: the input is clean, and the output would not be called so.

    """
    try:
        with open_container(path).open(path) as written:
            verdict = open_and_plan.plan_source(written, architecture, choices).verdict
            exchanged = exchanged_end(plan.stored.architecture, written.stored.architecture)
    except OverBudget:  # the input's budget, of which reading back takes its part
        raise
    except Unreadable as e:
        raise Failed("read-back", f"{e.message}; it was not written, please report it") from e
    if verdict != "clean" and plan.verdict == "clean":
        why = "its layers look like a multi-GPU wrapper, which its operations contradict"
        raise Refused(
            "cannot-convert",
            f"{path}: {why}: without them it would be taken for one; keep the container",
        )
    if verdict != "clean":
        raise Failed(
            "still-parallel", f"{path}: a wrapper would be left after the fix; please report it"
        )
    if exchanged is not None and not any(finding.code == "other-ends" for finding in plan.findings):
        why = f"{exchanged!r} would be another input or output than it was"
        raise Failed("internal", f"{path}: {why}; nothing was written, please report it")


def output_would_be_same(output_path: str, job: Job, *, folder: bool) -> bool:
    """Return True if the output is there with the bytes that would be written.

    Most differences show when it is read back; what is left needs the very bytes, written to a temporary folder.

    Raises:
        Failed: there is no room for that.

    """
    try:
        job.check(output_path)
    except (UnnestError, OSError):
        return False
    import tempfile

    try:
        with tempfile.TemporaryDirectory(prefix="unnest-") as scratch:
            scratch_path = os.path.join(scratch, os.path.basename(output_path.rstrip("/\\")))
            if folder:
                os.mkdir(scratch_path)
            job.fill(scratch_path)
            return (folders_equal if folder else files_equal)(scratch_path, output_path)
    except (Failed, OSError) as e:
        where = tempfile.gettempdir()
        raise Failed(
            "no-space", f"{where}: a dry run compares here, and cannot ({e}); set TMPDIR"
        ) from e
