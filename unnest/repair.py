"""inspect() and fix(): the whole story on one page.

Open the file and let the core make a plan (`unnest.examine`); for fix, write the plan, read it back and give it
its name (`unnest.carry_out`). A bad file is a Report that says so; only a caller's mistake raises (UsageError).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from unnest import examine, outputs
from unnest.budget import Budget, limited
from unnest.carry_out import Meter, carried_out
from unnest.core.model import Choices
from unnest.errors import Failed, Refused, UnnestError, Unreadable
from unnest.files import atomic, interrupts, workspace
from unnest.files.spool import spool_in
from unnest.formats.base import Target
from unnest.formats.boundary import no_memory, out_of_memory, reading, writing
from unnest.formats.detect import container_of, stored_size
from unnest.options import (
    Architecture,
    Dialect,
    FixOptions,
    architecture_inputs,
    check_usage,
    given_architecture,
)
from unnest.remote.urls import is_remote, renamed, shown
from unnest.report.result import Problem, Report, Result

R = TypeVar("R", bound=Report)

#: The code of what is the caller's mistake, and no fault of the file.
MISMATCH = "architecture-mismatch"


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
    report is one to be read: it has a `drawing`, for `unnest.report.diagram`, and `as_keras_3`.
    """
    report = Report(path=os.fspath(path), verdict="unreadable")
    if is_remote(report.path):
        inspect_copy = partial(inspect, architecture=architecture, slice_layers=slice_layers, trust=trust, draw=draw)
        return _inspect_remote(report.path, inspect_copy, trust=trust)
    json_given, choices = given_architecture(architecture), Choices(slice_layers=frozenset(slice_layers))
    try:
        with limited(_budget(report.path, trust=trust)), reading(report.path), examine.opened(report.path) as source:
            plan = examine.planned(source, json_given, choices)
            report = examine.described(report, source, plan)
            report = replace(report, near_misses=plan.near_misses, fix_would=examine.foreseen(plan))
            if draw:
                options = FixOptions(architecture=json_given, slice_layers=choices.slice_layers, trust=trust)
                report = replace(
                    report,
                    drawing=examine.drawing(source, plan, json_given, choices),
                    as_keras_3=examine.as_keras_3(source, plan, report, options),
                )
            if plan.refusal is not None and plan.refusal.code == MISMATCH:
                return replace(report, error=Problem(MISMATCH, f"{source.path}: {plan.refusal.message}"))
            return report
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a report, not a traceback
        return _with_error(report, e)


def _inspect_remote(url: str, inspect_copy: Callable[[str], Report], *, trust: bool) -> Report:
    """`inspect` of a copy without the tensors' bytes."""
    from unnest.remote import transfer

    try:
        with transfer.copied(url, with_tensors=False, trust=trust) as path:
            return renamed(inspect_copy(path), path, shown(url))
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a report, not a traceback
        return _with_error(Report(path=shown(url), verdict="unreadable"), e)


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
        None if output is None else os.fspath(output),
        in_place,
        backup,
        force,
        dry_run,
        to,
        given_architecture(architecture),
        keep_nested,
        frozenset(slice_layers),
        architecture_inputs(architecture),
        trust,
        verify=verify,
        keras=keras,
    )
    return fix_with(os.fspath(path), options, meter)


def fix_with(path: str, options: FixOptions, meter: Meter | None = None) -> Result:
    """`fix`, with its options as one value."""
    result = Result(path=path, verdict="unreadable", action="failed")
    check_usage(path, options)
    if is_remote(path) or is_remote(options.output or ""):
        return _fix_remote(path, options, meter)
    if options.verify:
        from unnest.verify import check_installed

        check_installed()
    fingerprint: atomic.Fingerprint | None = None
    try:
        if options.in_place and not options.dry_run:
            workspace.sweep(os.path.realpath(path))  # a killed run may have got as far as leaving nothing to fix
        fingerprint = atomic.Fingerprint.of(path)
        with (
            limited(_budget(path, trust=options.trust)),
            spool_in(os.path.dirname(options.output or path)),
            examine.opened(path) as source,
        ):
            with reading(path):
                plan = examine.planned(source, options.architecture, Choices(options.keep_nested, options.slice_layers))
                result = examine.described(result, source, plan)
            with writing(options.output or path):
                carried = carried_out(result, source, plan, options, meter, fingerprint)
            if options.keras == "original":
                carried = replace(carried, as_keras_3=examine.as_keras_3(source, plan, carried, options))
        if options.verify and not options.dry_run and carried.output is not None:
            from unnest.verify import verified

            return verified(carried, result)
        return carried  # noqa: TRY300 - only what comes before it may go wrong
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a result, not a traceback
        error = atomic.changed(path) if _has_moved_on(path, fingerprint, e) else e
        return replace(_with_error(result, error), action="refused" if isinstance(error, Refused) else "failed")


def _fix_remote(path: str, options: FixOptions, meter: Meter | None) -> Result:
    """`fix` of a copy, whose output is sent to where it belongs."""
    from unnest.remote import transfer

    result = Result(path=shown(path), verdict="unreadable", action="failed")
    try:
        return transfer.fix(path, options, lambda at, wanted: fix_with(at, wanted, meter))
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a result, not a traceback
        return replace(_with_error(result, e), action="refused" if isinstance(e, Refused) else "failed")


def _has_moved_on(path: str, fingerprint: atomic.Fingerprint | None, error: Exception) -> bool:
    """Whether somebody wrote or removed the input meanwhile: no disk, and no output, is to blame for that."""
    if fingerprint is not None and not os.path.lexists(path):
        return isinstance(error, (Failed, Unreadable))
    blames_read_back = isinstance(error, Failed) and error.code == "read-back"
    return (
        blames_read_back
        and fingerprint is not None
        and stat.S_ISREG(fingerprint.status.st_mode)
        and not fingerprint.is_of(path)
    )


def _budget(path: str, *, trust: bool) -> Budget:
    return Budget.of(path, stored_size(path), trust=trust)


def _with_error(report: R, error: Exception) -> R:
    """The report with its error. What was found before stays."""
    if interrupts.is_behind(error):
        raise KeyboardInterrupt from error
    if not isinstance(error, UnnestError):
        lacks_memory = out_of_memory(error)
        error = (
            no_memory(report.path, "go on") if lacks_memory else Failed("internal", f"{report.path}: {internal(error)}")
        )
    container = report.container
    if container is None and not is_remote(report.path):
        with contextlib.suppress(UnnestError, OSError, MemoryError):
            container = container_of(report.path)
    return replace(report, container=container, error=Problem(error.code, error.message))


def internal(error: BaseException) -> str:
    """A defect in one line: what was raised, and where in this package."""
    text = " ".join(str(error).split())[:200]
    where, trace = "", error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.partition(".")[0] == "unnest":
            where = f" at {module}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"internal error ({type(error).__name__}: {text}{where}); please report it"
