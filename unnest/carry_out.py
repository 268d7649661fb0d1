"""What `fix` does to the disk, once the plan is made: leave, copy, convert, or write the template."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from unnest import destination, examine, outputs
from unnest.budget import OverBudget
from unnest.core.keras3.tensors import stored as stored_tensors
from unnest.core.model import Choices, Plan
from unnest.core.plan import plan
from unnest.errors import Failed, Refused, UnnestError, Unreadable
from unnest.files import atomic, system, workspace
from unnest.findings import Code, listed
from unnest.formats.base import Source, Target, nbytes
from unnest.formats.convert import TargetFormat, target_format
from unnest.formats.detect import container, open_container
from unnest.options import Dialect, FixOptions
from unnest.report.result import Action, Kept, Result

#: Called with the bytes moved so far, and in all: written once, read back once.
Meter: TypeAlias = Callable[[int, int], None]


def _check_refusal(source: Source, made: Plan, options: FixOptions) -> None:
    """Raises Refused for what the plan refuses, and for names as the only reason to replace a file."""
    if made.refusal is not None:
        raise Refused(made.refusal.code, f"{source.path}: {made.refusal.message}")
    by_names = made.result is not None and made.stored.contents == "weights" and not options.architecture
    if options.in_place and by_names:
        why = "only names say that this is a parallel model; --in-place wants --architecture MODEL.json, or use -o"
        raise Refused("needs-architecture", f"{source.path}: {why}")


def carried_out(
    result: Result,
    source: Source,
    made: Plan,
    options: FixOptions,
    meter: Meter | None,
    read: atomic.Fingerprint | None,
) -> Result:
    """Leave, copy, convert, or write the template: what the plan and the options ask for."""
    _check_refusal(source, made, options)
    wanted = options.to or outputs.asked_for(
        source.path if options.in_place else options.output or "", source.path, is_hdf5=source.container in HDF5
    )
    goal = _target_format(options.keras)(source, made, wanted)
    converts = goal.reformed or (goal.container, goal.model.contents) != (source.container, made.stored.contents)
    converts = converts or goal.model.is_keras_3 is not made.stored.is_keras_3
    if made.result is not None:
        if plan(made.result).verdict != "clean":
            raise Failed("still-parallel", f"{source.path}: a wrapper would be left after the fix; please report it")
        done, would = _FIX
    elif converts:
        done, would = _CONVERT
    elif options.output is None:
        return replace(result, action="unchanged")
    else:
        done, would = _COPY
    place = options.output or outputs.default_output(source.path, goal.suffix, bare=source.container in BARE)
    if options.in_place:
        place, backup = result.path, _backup(result.path, source, options)
        result = replace(result, backup=backup)
    result = _told(result, goal, made, place)
    source.check_sums()
    job = _copying(source) if done == "unchanged" else _writing(source, goal, options, meter or _unwatched)
    if not options.in_place:
        destination.check_place(source, goal, place, options)
    if options.dry_run:
        return replace(result, action=_foretold(result, goal, job, options, would))
    if options.in_place:
        atomic.replace(os.path.realpath(place), backup, job.fill, job.check, read)
    elif destination.publish(source, goal, place, job.fill, job.check, options.force) == "same":
        done = "unchanged"
    left = workspace.leftovers(os.path.realpath(place) if options.in_place else place)
    found = (*result.findings, *((Code.LEFTOVER(what=listed(left)),) if left else ()))
    return replace(result, action=done, checks=tuple(job.checks), findings=found)


def _target_format(dialect: Dialect) -> Callable[[Source, Plan, Target | None], TargetFormat]:
    """What chooses the target format; the rules of Keras 3 are a third of all modules, loaded for who asks for them."""
    if dialect == "original":
        return target_format
    from unnest.formats.keras3.dialect import keras_3_target_format

    return keras_3_target_format


STORED_CODE = "stored-code"


def _backup(path: str, source: Source, options: FixOptions) -> str:
    """Where the input goes when the output takes its name. Raises Refused where it cannot."""
    if source.not_in_place is not None:
        raise Refused("cannot-write", f"{path}: {source.not_in_place}; use -o")
    return os.path.realpath(path) + options.backup


#: Containers whose paths have no suffix.
BARE = ("saved_model", "checkpoint")
#: Containers that are HDF5.
HDF5 = ("h5", "weights_h5")

_FIX: tuple[Action, Action] = ("fixed", "would-fix")
_CONVERT: tuple[Action, Action] = ("converted", "would-convert")
_COPY: tuple[Action, Action] = ("unchanged", "unchanged")


def _told(result: Result, goal: TargetFormat, made: Plan, place: str) -> Result:
    """What is going to be where."""
    model = goal.model
    weights = sum(len(g.tensors) for g in model.groups)
    state = model.optimizer
    written = [*(t for g in model.groups for t in g.tensors), *(state or ())]
    kept = {leaf.ref for t in written for leaf in stored_tensors(t)}
    return replace(
        result,
        output=place,
        findings=(
            *(f for f in result.findings if f.code != STORED_CODE),
            *goal.lost,
            *examine.stored_code_findings(made.stored, model),
        ),
        kept=Kept(len(model.groups), weights, model.parameters, None if state is None else len(state)),
        dropped=tuple(t.name for t in made.dropped if t.ref not in kept),
        conversions=goal.conversions,
        **examine.loading_facts(model, place, goal.container),
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """How a file is filled, and how it is read back before it gets its name."""

    fill: atomic.Fill
    check: atomic.Fill
    checks: list[str] = field(default_factory=list)


def _writing(source: Source, goal: TargetFormat, options: FixOptions, meter: Meter) -> _Job:
    into, moved = container(goal.container), 0
    checks: list[str] = []
    total = 2 * sum(
        nbytes(t) for t in [*(t for g in goal.model.groups for t in g.tensors), *(goal.model.optimizer or ())]
    )

    def step(size: int) -> None:
        nonlocal moved
        moved += size
        meter(min(moved, total), total)

    def fill(path: str) -> None:
        try:
            into.write(goal.output, source, path, step)
        except Failed as e:
            if e.code == "write":
                _check_readable(source)
            raise

    def check(path: str) -> None:
        checks[:] = into.verify(goal.output, source, path, step)
        _inspected(path, Choices(slice_layers=options.slice_layers))

    return _Job(fill, check, checks)


def _check_readable(source: Source) -> None:
    """Raises Unreadable where a write failed because the input cannot be read: the output is not to blame."""
    tensor = None
    try:
        for tensor in source.tensors:
            for _ in source.blocks(tensor):
                pass
    except (OSError, RuntimeError, ValueError, KeyError) as e:
        why, name = " ".join(str(e).split())[:200], tensor and tensor.name
        raise Unreadable(
            "cannot-read", f"{source.path}: {name!r} cannot be read ({why}); restore the file from a copy"
        ) from e


def _unwatched(_done: int, _all: int) -> None:
    """The meter that nobody looks at."""


def _inspected(path: str, choices: Choices) -> None:
    """Raises Failed where `inspect` would call the output unreadable, or parallel."""
    try:
        with open_container(path).open(path) as written:
            verdict = examine.planned(written, None, choices).verdict
    except OverBudget:  # the input's budget, of which reading back takes its part
        raise
    except Unreadable as e:
        raise Failed("read-back", f"{e.message}; it was not written, please report it") from e
    if verdict != "clean":
        raise Failed("still-parallel", f"{path}: a wrapper would be left after the fix; please report it")


def _copying(source: Source) -> _Job:
    checks: list[str] = []
    folder = container(source.container).folder

    def fill(path: str) -> None:
        (atomic.copy_tree if folder else atomic.copy)(source.path, path)

    def check(path: str) -> None:
        if not (atomic.same_tree if folder else system.same)(source.path, path):
            raise Failed("read-back", f"{path}: the copy reads back differently; the disk may be failing")
        checks.append("bytes")

    return _Job(fill, check, checks)


def _foretold(result: Result, goal: TargetFormat, job: _Job, options: FixOptions, would: Action) -> Action:
    """What would become of the output: a dry run meets the same obstacles. Nothing is written where files are."""
    place = result.output or ""
    if options.in_place:
        if not atomic.may_back_up(result.backup or "", result.path):
            raise atomic.backup_exists(result.backup or "")
        return would
    if not os.path.lexists(place):
        return would
    if _would_be_same(place, job, folder=destination.is_folder(goal)):
        return "unchanged"
    if not options.force:
        raise atomic.exists(place)
    return would


def _would_be_same(place: str, job: _Job, *, folder: bool) -> bool:
    """Whether `place` holds what would be written: most differences show at once, the last need the very bytes."""
    try:
        job.check(place)
    except (UnnestError, OSError):
        return False
    import tempfile

    try:
        with tempfile.TemporaryDirectory(prefix="unnest-") as scratch:
            made = os.path.join(scratch, os.path.basename(place.rstrip("/\\")))
            if folder:
                os.mkdir(made)
            job.fill(made)
            return (atomic.same_tree if folder else system.same)(made, place)
    except (Failed, OSError) as e:
        where = tempfile.gettempdir()
        raise Failed("no-space", f"{where}: a dry run compares here, and cannot ({e}); set TMPDIR") from e
