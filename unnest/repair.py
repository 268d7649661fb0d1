"""inspect() and fix(): the whole story on one page.

Open the file, let the core make a plan, and, for fix, write the plan, read it back and give it
its name. A bad file is a Report that says so; only a caller's mistake raises (UsageError).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from unnest import outputs
from unnest.core.model import Choices, JsonObject, Plan
from unnest.core.plan import NotAGraph, plan
from unnest.errors import Failed, Refused, UnnestError, Unreadable
from unnest.files import atomic, atomic_dir
from unnest.formats.base import Source, Target, nbytes
from unnest.formats.convert import Aim, aim
from unnest.formats.detect import container, container_of, open_container
from unnest.options import Architecture, FixOptions, check_usage, given_architecture
from unnest.report.load_hint import load_line, loads_in
from unnest.report.result import Action, Kept, Problem, Report, Result, Writer

#: Called with the bytes moved so far, and in all: written once, read back once.
Meter: TypeAlias = Callable[[int, int], None]

R = TypeVar("R", bound=Report)


def inspect(
    path: str | os.PathLike[str], *, architecture: Architecture = None, slice_layers: Iterable[str] = ()
) -> Report:
    """Tell what is in this file, and whether it is a parallel model.

    `architecture` is for weights alone: the JSON, or the file that holds it, of the model that
    was saved or of its template. `slice_layers` are the classes of which the caller vouches that
    they cut the batch in order.
    """
    report = Report(path=os.fspath(path), verdict="unreadable")
    known, choices = given_architecture(architecture), Choices(slice_layers=frozenset(slice_layers))
    try:
        with open_container(report.path).open(report.path) as source:
            made = _plan(source, known, choices)
            report = replace(_seen(report, source, made), near_misses=made.near_misses, fix_would=_foreseen(made))
            mistaken = made.refusal if made.refusal is not None and made.refusal.code == MISMATCH else None
            return (
                replace(report, error=Problem(MISMATCH, f"{source.path}: {mistaken.message}")) if mistaken else report
            )
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a report, not a traceback
        return _troubled(report, e)


def fix(  # noqa: PLR0913 - one argument per option of the command line
    path: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    in_place: bool = False,
    backup: str = outputs.BACKUP,
    force: bool = False,
    dry_run: bool = False,
    to: Target | None = None,
    architecture: Architecture = None,
    keep_nested: bool = False,
    slice_layers: Iterable[str] = (),
    meter: Meter | None = None,
) -> Result:
    """Write the clean single-device model beside the file, to `output`, or in its place.

    Raises UsageError for options that contradict each other; all else is in the result.
    """
    options = FixOptions(
        None if output is None else os.fspath(output), in_place, backup, force, dry_run, to,
        given_architecture(architecture), keep_nested, frozenset(slice_layers),
    )  # fmt: skip
    result = Result(path=os.fspath(path), verdict="unreadable", action="failed")
    check_usage(result.path, options)
    try:
        with open_container(result.path).open(result.path) as source:
            made = _plan(source, options.architecture, Choices(keep_nested, options.slice_layers))
            result = _seen(result, source, made)
            return _carried_out(result, source, made, options, meter)
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a result, not a traceback
        return replace(_troubled(result, e), action="refused" if isinstance(e, Refused) else "failed")


def _plan(source: Source, architecture: JsonObject | None, choices: Choices) -> Plan:
    try:
        return source.plan(architecture, choices=choices)
    except NotAGraph as e:
        raise Unreadable("not-a-graph", f"{source.path}: the stored architecture does not add up ({e})") from e
    except RecursionError as e:
        raise Unreadable("json-too-deep", f"{source.path}: the architecture nests too deep to be a model") from e


def _seen(report: R, source: Source, made: Plan) -> R:
    """The report with what reading and planning found."""
    stored = source.stored
    return replace(
        report,
        container=source.container,
        contents=stored.contents,
        writer=Writer(stored.keras_version, stored.backend),
        verdict=made.verdict,
        wrappers=made.wrappers,
        template=made.template,
        optimizer=made.optimizer,
        findings=(*source.findings, *made.findings),
    )


#: The code of what is the caller's mistake, and no fault of the file.
MISMATCH = "architecture-mismatch"


def _foreseen(made: Plan) -> str | None:
    """What fix would do to a parallel model, in one sentence; None where it is clean."""
    if made.verdict == "clean":
        return None
    if made.refusal is not None:
        return f"unnest fix will refuse this: {made.refusal.message}"
    outermost = made.wrappers[0]
    if outermost.scope == "head":
        return (
            f"unnest fix keeps what follows the merge, with the layers of {outermost.template} in the wrapper's place"
        )
    if outermost.scope == "embedded":
        return f"unnest fix keeps the larger model and puts one call of {outermost.template} in the wrapper's place"
    return "unnest fix writes the template model alone"


def _troubled(report: R, error: Exception) -> R:
    """The report with its error. What was found before stays."""
    if not isinstance(error, UnnestError):
        told = " ".join(str(error).split())[:200]
        error = Failed("internal", f"{report.path}: unnest stumbled ({type(error).__name__}: {told}); please report it")
    name = report.container
    if name is None:
        with contextlib.suppress(UnnestError, OSError):
            name = container_of(report.path)
    return replace(report, container=name, error=Problem(error.code, error.message))


def _check_refusal(source: Source, made: Plan, options: FixOptions) -> None:
    """Raises Refused for what the plan refuses, and for names as the only reason to replace a file."""
    if made.refusal is not None:
        raise Refused(made.refusal.code, f"{source.path}: {made.refusal.message}")
    by_names = made.result is not None and source.stored.contents == "weights" and not options.architecture
    if options.in_place and by_names:
        why = "only names say that this is a parallel model; --in-place wants --architecture MODEL.json, or use -o"
        raise Refused("needs-architecture", f"{source.path}: {why}")


def _carried_out(result: Result, source: Source, made: Plan, options: FixOptions, meter: Meter | None) -> Result:
    """Leave, copy, convert, or write the template: what the plan and the options ask for."""
    _check_refusal(source, made, options)
    wanted = options.to or outputs.named_by(source.path if options.in_place else options.output or "")
    goal = aim(source, made.result or source.stored, wanted)
    converts = (goal.container, goal.model.contents) != (source.container, source.stored.contents)
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
        place, backup = result.path, os.path.realpath(result.path) + options.backup
        result = replace(result, backup=backup)
    result = _told(result, goal, made, place)
    job = _copying(source) if done == "unchanged" else _writing(source, goal, meter or (lambda _done, _all: None))
    if options.dry_run:
        return replace(result, action=_foretold(result, goal, job, options, would))
    if options.in_place:
        atomic.replace(os.path.realpath(place), backup, job.fill, job.check)
    elif goal.container == "checkpoint":
        _copy_parts(source, place, force=options.force)
        job.checks.append("bytes")
    else:
        publish = atomic_dir.publish if container(goal.container).folder else atomic.publish
        if publish(place, job.fill, job.check, force=options.force) == "same":
            done = "unchanged"
    return replace(result, action=done, checks=tuple(job.checks))


#: Containers whose paths have no suffix.
BARE = ("saved_model", "checkpoint")

_FIX: tuple[Action, Action] = ("fixed", "would-fix")
_CONVERT: tuple[Action, Action] = ("converted", "would-convert")
_COPY: tuple[Action, Action] = ("unchanged", "unchanged")


def _told(result: Result, goal: Aim, made: Plan, place: str) -> Result:
    """What is going to be where."""
    model = goal.model
    weights = sum(len(g.tensors) for g in model.groups)
    state = model.optimizer
    kept = {t.ref for g in model.groups for t in g.tensors} | {t.ref for t in state or ()}
    return replace(
        result,
        output=place,
        findings=(*result.findings, *goal.lost),
        kept=Kept(len(model.groups), weights, model.parameters, None if state is None else len(state)),
        dropped=tuple(t.name for t in made.dropped if t.ref not in kept),
        loads_in=loads_in(model, place, goal.container),
        load=load_line(model, place, goal.container),
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """How a file is filled, and how it is read back before it gets its name."""

    fill: atomic.Fill
    check: atomic.Fill
    checks: list[str] = field(default_factory=list)


def _writing(source: Source, goal: Aim, meter: Meter) -> _Job:
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
        into.write(goal.model, source, path, step)

    def check(path: str) -> None:
        checks[:] = into.verify(goal.model, source, path, step)

    return _Job(fill, check, checks)


def _copy_parts(source: Source, place: str, *, force: bool) -> None:
    """A container of several files; the one that makes it a model comes last."""
    for path in source.parts():
        target = place + path[len(source.path) :]

        def fill(temporary: str, path: str = path) -> None:
            atomic.copy(path, temporary)

        def check(temporary: str, path: str = path) -> None:
            if not atomic.same(path, temporary):
                raise Failed("read-back", f"{temporary}: the copy reads back differently; the disk may be failing")

        atomic.publish(target, fill, check, force=force)


def _copying(source: Source) -> _Job:
    checks: list[str] = []

    folder = container(source.container).folder

    def fill(path: str) -> None:
        (atomic_dir.copy if folder else atomic.copy)(source.path, path)

    def check(path: str) -> None:
        alike = atomic_dir.same_tree(source.path, path) if folder else atomic.same(source.path, path)
        if not alike:
            raise Failed("read-back", f"{path}: the copy reads back differently; the disk may be failing")
        checks.append("bytes")

    return _Job(fill, check, checks)


def _foretold(result: Result, goal: Aim, job: _Job, options: FixOptions, would: Action) -> Action:
    """What would become of the output: a dry run meets the same obstacles. Nothing is written where files are."""
    place = result.output or ""
    if options.in_place:
        if os.path.lexists(result.backup or "") and not os.path.samefile(result.backup or "", result.path):
            raise atomic.backup_exists(result.backup or "")
        return would
    if not os.path.lexists(place):
        return would
    if _would_be_same(place, job, folder=container(goal.container).folder):
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

    with tempfile.TemporaryDirectory(prefix="unnest-") as scratch:
        made = os.path.join(scratch, os.path.basename(place.rstrip("/\\")))
        publish, same = (atomic_dir.publish, atomic_dir.same_tree) if folder else (atomic.publish, atomic.same)
        publish(made, job.fill, lambda _: None)
        return same(made, place)
