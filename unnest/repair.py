"""inspect() and fix(): the whole story on one page.

Open the file, let the core make a plan, and, for fix, write the plan, read it back and give it
its name. A bad file is a Report that says so; only a caller's mistake raises (UsageError).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from unnest import destination, outputs, remote
from unnest.budget import Budget, OverBudget, check, limited
from unnest.core import stored_code
from unnest.core.keras3.tensors import stored as stored_tensors
from unnest.core.keras_facts.loading import needs
from unnest.core.model import Choices, JsonObject, Plan, Stored
from unnest.core.plan import NotAGraph, plan
from unnest.errors import Failed, Refused, UnnestError, Unreadable
from unnest.files import atomic, interrupts, system, workspace
from unnest.files.spool import spool_in
from unnest.findings import Code, Finding, listed
from unnest.formats.base import Source, Target, nbytes
from unnest.formats.boundary import reading, writing
from unnest.formats.convert import Aim, aim
from unnest.formats.detect import container, container_of, open_container, stored_size
from unnest.options import (
    Architecture,
    Dialect,
    FixOptions,
    architecture_inputs,
    check_usage,
    given_architecture,
)
from unnest.report.load_hint import does_not_load_in, load_line, loads_in
from unnest.report.result import Action, Kept, Problem, Report, Result, Writer

if TYPE_CHECKING:
    from unnest.report.diagram import Drawing

#: Called with the bytes moved so far, and in all: written once, read back once.
Meter: TypeAlias = Callable[[int, int], None]

R = TypeVar("R", bound=Report)


def inspect(
    path: str | os.PathLike[str],
    *,
    architecture: Architecture = None,
    slice_layers: Iterable[str] = (),
    trust: bool = False,
    draw: bool = False,
) -> Report:
    """Tell what is in this file, and whether it is a parallel model.

    `architecture` is for weights alone: the JSON, or the file that holds it, of the model that
    was saved or of its template. `slice_layers` are the classes of which the caller vouches that
    they cut the batch in order. `trust` raises the limits of work and memory. With `draw` the
    report has a `drawing`, for `unnest.report.diagram`.
    """
    report = Report(path=os.fspath(path), verdict="unreadable")
    if remote.is_remote(report.path):
        again = partial(inspect, architecture=architecture, slice_layers=slice_layers, trust=trust, draw=draw)
        return _inspect_remote(report.path, again, trust=trust)
    known, choices = given_architecture(architecture), Choices(slice_layers=frozenset(slice_layers))
    try:
        with limited(_budget(report.path, trust=trust)), reading(report.path), _opened(report.path) as source:
            made = _plan(source, known, choices)
            report = replace(_seen(report, source, made), near_misses=made.near_misses, fix_would=_foreseen(made))
            if draw:
                report = replace(report, drawing=_drawing(source, made, known, choices))
            mistaken = made.refusal if made.refusal is not None and made.refusal.code == MISMATCH else None
            return (
                replace(report, error=Problem(MISMATCH, f"{source.path}: {mistaken.message}")) if mistaken else report
            )
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a report, not a traceback
        return _troubled(report, e)


def _inspect_remote(url: str, inspect_copy: Callable[[str], Report], *, trust: bool) -> Report:
    """`inspect` of a copy without the tensors' bytes."""
    try:
        with remote.copied(url, whole=False, trust=trust) as path:
            return remote.renamed(inspect_copy(path), path, remote.shown(url))
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a report, not a traceback
        return _troubled(Report(path=remote.shown(url), verdict="unreadable"), e)


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
    trust: bool = False,
    verify: bool = False,
    keras: Dialect = "original",
    meter: Meter | None = None,
) -> Result:
    """Write the clean single-device model beside the file, to `output`, or in its place.

    Raises UsageError for options that contradict each other; all else is in the result.
    """
    options = FixOptions(
        None if output is None else os.fspath(output), in_place, backup, force, dry_run, to,
        given_architecture(architecture), keep_nested, frozenset(slice_layers), architecture_inputs(architecture),
        trust,
        verify=verify, keras=keras,
    )  # fmt: skip
    return fix_with(os.fspath(path), options, meter)


def fix_with(path: str, options: FixOptions, meter: Meter | None = None) -> Result:
    """`fix`, with its options as one value."""
    result = Result(path=path, verdict="unreadable", action="failed")
    check_usage(path, options)
    if remote.is_remote(path) or remote.is_remote(options.output or ""):
        return _fix_remote(path, options, meter)
    if options.verify:
        from unnest.verify import check_installed

        check_installed()
    if options.in_place and not options.dry_run:
        workspace.sweep(os.path.realpath(path))  # a killed run may have got as far as leaving nothing to fix
    read = atomic.Fingerprint.of(path)
    try:
        with (
            limited(_budget(path, trust=options.trust)),
            spool_in(os.path.dirname(options.output or path)),
            _opened(path) as source,
        ):
            with reading(path):
                made = _plan(source, options.architecture, Choices(options.keep_nested, options.slice_layers))
                result = _seen(result, source, made)
            with writing(options.output or path):
                done = _carried_out(result, source, made, options, meter, read)
        if options.verify and not options.dry_run and done.output is not None:
            from unnest.verify import verified

            return verified(done, result)
        return done  # noqa: TRY300 - only what comes before it may go wrong
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a result, not a traceback
        error = atomic.changed(path) if _has_moved_on(path, read, e) else e
        return replace(_troubled(result, error), action="refused" if isinstance(error, Refused) else "failed")


def _fix_remote(path: str, options: FixOptions, meter: Meter | None) -> Result:
    """`fix` of a copy, whose output is sent to where it belongs."""
    result = Result(path=remote.shown(path), verdict="unreadable", action="failed")
    try:
        return remote.fix(path, options, lambda at, wanted: fix_with(at, wanted, meter))
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a result, not a traceback
        return replace(_troubled(result, e), action="refused" if isinstance(e, Refused) else "failed")


def _has_moved_on(path: str, read: atomic.Fingerprint | None, error: Exception) -> bool:
    """Whether a copy differs because somebody wrote the input meanwhile: no disk is to blame for that."""
    blames = isinstance(error, Failed) and error.code == "read-back"
    return blames and read is not None and stat.S_ISREG(read.status.st_mode) and not read.is_of(path)


def _budget(path: str, *, trust: bool) -> Budget:
    return Budget.of(path, stored_size(path), trust=trust)


def _opened(path: str) -> Source:
    """The model at `path`. Raises Unreadable or Failed, and nothing else."""
    with reading(path):
        return open_container(path).open(path)


def _plan(source: Source, architecture: JsonObject | None, choices: Choices) -> Plan:
    try:
        made = source.plan(architecture, choices=choices)
        check()
    except NotAGraph as e:
        raise Unreadable("not-a-graph", f"{source.path}: the stored architecture does not add up ({e})") from e
    except RecursionError as e:
        raise Unreadable("json-too-deep", f"{source.path}: the architecture nests too deep to be a model") from e
    return made


def _seen(report: R, source: Source, made: Plan) -> R:
    """The report with what reading and planning found."""
    stored = made.stored
    return replace(
        report,
        container=source.container,
        contents=stored.contents,
        writer=Writer(stored.keras_version, stored.backend),
        verdict=made.verdict,
        wrappers=made.wrappers,
        template=made.template,
        optimizer=made.optimizer,
        findings=(*source.findings, *made.findings, *_told_code(stored, None)),
        **_loading(stored, source.path, source.container),
    )


def _drawing(source: Source, made: Plan, architecture: JsonObject | None, choices: Choices) -> Drawing | None:
    """The picture of what is stored, or was given, and of what `fix` would write.

    None where the file's budget does not last for one: a picture costs about what recognition costs.
    """
    from unnest.report.diagram import draw

    before = source.stored.architecture or architecture
    after = made.result and (made.result.architecture or (made.complete and made.complete.architecture))
    refusal = made.refusal.message if made.refusal is not None else None
    try:
        return draw(before, after or None, made.wrappers, choices.slice_layers, refusal)
    except OverBudget:
        return None


def _loading(model: Stored, path: str, container: str) -> dict[str, Any]:
    """What a report says of where a file loads."""
    return {
        "loads_in": loads_in(model, path, container),
        "load": load_line(model, path, container),
        "does_not_load_in": does_not_load_in(model, container),
        "needs": needs(model),
    }


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


def _told_code(stored: Stored, output: Stored | None) -> tuple[Finding, ...]:
    """What loading the file would run; with `output`, whether that still has it."""
    named = stored_code.named_by(stored)
    if not named:
        return ()
    left = [n for n in stored_code.named_by(output) if n in named] if output is not None else []
    fate = "none of it" if not left else "all of it" if len(left) == len(named) else listed(left)
    told = "" if output is None else f"; the output has {fate}"
    return (Code.STORED_CODE(what=listed(named), output=told),)


def _troubled(report: R, error: Exception) -> R:
    """The report with its error. What was found before stays."""
    if interrupts.is_behind(error):
        raise KeyboardInterrupt from error
    if not isinstance(error, UnnestError):
        error = Failed("internal", f"{report.path}: {internal(error)}")
    name = report.container
    if name is None and not remote.is_remote(report.path):
        with contextlib.suppress(UnnestError, OSError):
            name = container_of(report.path)
    return replace(report, container=name, error=Problem(error.code, error.message))


def internal(error: BaseException) -> str:
    """A defect in one line: what was raised, and where in this package."""
    told = " ".join(str(error).split())[:200]
    place, trace = "", error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.partition(".")[0] == "unnest":
            place = f" at {module}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"internal error ({type(error).__name__}: {told}{place}); please report it"


def _check_refusal(source: Source, made: Plan, options: FixOptions) -> None:
    """Raises Refused for what the plan refuses, and for names as the only reason to replace a file."""
    if made.refusal is not None:
        raise Refused(made.refusal.code, f"{source.path}: {made.refusal.message}")
    by_names = made.result is not None and made.stored.contents == "weights" and not options.architecture
    if options.in_place and by_names:
        why = "only names say that this is a parallel model; --in-place wants --architecture MODEL.json, or use -o"
        raise Refused("needs-architecture", f"{source.path}: {why}")


def _carried_out(
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
    goal = _aim(options.keras)(source, made, wanted)
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


def _aim(dialect: Dialect) -> Callable[[Source, Plan, Target | None], Aim]:
    """What makes an aim; the rules of Keras 3 are a third of all modules, and loaded for those who ask for it."""
    if dialect == "original":
        return aim
    from unnest.formats.keras3.dialect import aim_keras_3

    return aim_keras_3


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


def _told(result: Result, goal: Aim, made: Plan, place: str) -> Result:
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
            *_told_code(made.stored, model),
        ),
        kept=Kept(len(model.groups), weights, model.parameters, None if state is None else len(state)),
        dropped=tuple(t.name for t in made.dropped if t.ref not in kept),
        conversions=goal.conversions,
        **_loading(model, place, goal.container),
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """How a file is filled, and how it is read back before it gets its name."""

    fill: atomic.Fill
    check: atomic.Fill
    checks: list[str] = field(default_factory=list)


def _writing(source: Source, goal: Aim, options: FixOptions, meter: Meter) -> _Job:
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
        for tensor in source.everything:
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
            verdict = _plan(written, None, choices).verdict
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


def _foretold(result: Result, goal: Aim, job: _Job, options: FixOptions, would: Action) -> Action:
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
