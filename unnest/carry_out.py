"""Apply a plan to the disk: leave the file, copy it, convert it, or write the template."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

from unnest import destination, examine, outputs
from unnest.budget import OverBudget
from unnest.core.keras3.tensors import stored_refs
from unnest.core.model import Choices, JsonObject, Plan
from unnest.core.plan import plan as make_plan
from unnest.core.rewrite.flatten import exchanged_end
from unnest.errors import Failed, Refused, UnnestError, Unreadable
from unnest.files import atomic, os_calls, overwrite_checks, workspace
from unnest.findings import Code, listed
from unnest.formats.base import Source, Target
from unnest.formats.convert import TargetFormat, planned_model, target_format
from unnest.formats.detect import container, open_container
from unnest.options import Dialect, FixOptions, Phase, PhaseMeter
from unnest.report.result import Action, AsKeras3, Kept, Result


def _check_refusal(source: Source, plan: Plan, options: FixOptions) -> None:
    """Raises Refused for what the plan refuses, and for names as the only reason to replace a file."""
    if plan.refusal is not None:
        raise Refused(plan.refusal.code, f"{source.path}: {plan.refusal.message}")
    by_names = plan.result is not None and plan.stored.contents == "weights" and not options.architecture
    if options.in_place and by_names:
        why = "is judged by layer names alone; pass --architecture MODEL.json for --in-place, or use -o"
        raise Refused("needs-architecture", f"{source.path}: {why}")


def apply_plan(
    result: Result,
    source: Source,
    plan: Plan,
    options: FixOptions,
    meter: PhaseMeter | None,
    fingerprint: atomic.Fingerprint | None,
) -> Result:
    """Apply the plan as the options ask: leave, copy, convert, or write the template.

    `fingerprint`: the input's, taken before it was read.

    Raises:
        UnnestError: the plan is refused, or the output cannot be written.

    """
    if not _places_alone(source, plan, options):
        _check_refusal(source, plan, options)
    target = _chosen_target(source, plan, options)
    action, dry_run_action = _actions(source, plan, target, options)
    if action == "unchanged" and options.output is None and options.into is None:
        return replace(result, action="unchanged", as_keras_3=_as_keras_3(source, plan, result, options))
    output_path = _output_path(source, target, options)
    if options.in_place:
        output_path, backup = result.path, _backup(result.path, source, options)
        result = replace(result, backup=backup)
    result = _with_output(result, target, plan, output_path, options)
    if action != "unchanged" and target.model.architecture is not None:
        result = examine.with_output_view(result, source, plan, options, target.model)
    source.check_sums()
    as_keras_3 = cache(partial(_as_keras_3, source, plan, result, options))
    job = _copy_job(source) if action == "unchanged" else _write_job(source, plan, target, options, meter or _unwatched)
    job = job.followed_by(as_keras_3)
    if not options.in_place:
        destination.check_place(source, target, output_path, options)
    if options.dry_run:
        action = _dry_run_action(result, target, job, options, dry_run_action)
        is_there = os.path.lexists(result.output or "") and not action.startswith("would-")
        return replace(result, action=action, load=result.load if is_there else None, as_keras_3=as_keras_3())
    stub = _stub_job(source, target, result, options)
    if options.in_place:
        atomic.replace(os.path.realpath(output_path), backup, job.fill, job.check, fingerprint)
    elif destination.publish(source, target, output_path, job.fill, job.check, options.force) == "same":
        action = "unchanged"
    if stub is not None:
        atomic.publish(str(options.stub), *stub, force=options.force)
    debris = workspace.leftovers(os.path.realpath(output_path) if options.in_place else output_path)
    findings = (*result.findings, *((Code.LEFTOVER(what=listed(debris)),) if debris else ()))
    return replace(result, action=action, checks=tuple(job.checks), findings=findings, as_keras_3=as_keras_3())


def _stub_job(
    source: Source, target: TargetFormat, result: Result, options: FixOptions
) -> tuple[atomic.Fill, atomic.Fill] | None:
    """How --stub's module is written and read back; None where none was asked for.

    Raises:
        Refused: it would replace an input, or, without --force, anything else than the same module.

    """
    if options.stub is None:
        return None
    from unnest.report.stub import render

    place = options.stub
    data = render(target.model, result.findings, str(result.output)).encode("utf-8", "backslashreplace")
    for inputs in (overwrite_checks.Inputs.of((*source.parts(), source.path)), *options.inputs):
        overwrite_checks.check_inputs(place, inputs)
    fill, check = atomic.bytes_writer(data)
    if os.path.lexists(place) and not options.force:
        try:
            check(place)
        except (Failed, OSError):
            raise atomic.exists(place) from None
    return fill, check


def output_of(source: Source, plan: Plan, options: FixOptions) -> str | None:
    """The path that would be written; None where nothing would. Raises Refused."""
    if not _places_alone(source, plan, options):
        _check_refusal(source, plan, options)
    target = _chosen_target(source, plan, options)
    is_left_alone = _actions(source, plan, target, options) == _COPY and options.output is None and options.into is None
    return None if is_left_alone else _output_path(source, target, options)


def _output_path(source: Source, target: TargetFormat, options: FixOptions) -> str:
    """The one that was named, or the input's own name with the suffix of what is written."""
    if options.output is not None:
        return options.output
    path, mark = (source.path, outputs.MARK) if options.into is None else (options.into, "")
    return outputs.default_output(
        path, target.suffix, bare=source.container in outputs.BARE or os.path.isdir(source.path), mark=mark
    )


def _as_keras_3(source: Source, plan: Plan, result: Result, options: FixOptions) -> AsKeras3 | None:
    """Return what --keras 3 would do, unless it was given."""
    if options.keras == "3":
        return None
    return examine.as_keras_3(source, plan, result, options, planned_model(plan) if plan.refusal is None else None)


def _places_alone(source: Source, plan: Plan, options: FixOptions) -> bool:
    """Return True if weights without an architecture go into the caller's model, whatever the plan."""
    if options.like is None:
        return False
    from unnest.formats.keras3.like import has_no_architecture

    return has_no_architecture(source, plan)


def _chosen_target(source: Source, plan: Plan, options: FixOptions) -> TargetFormat:
    """The container that options and names of files ask for, and what goes into it. Raises Refused."""
    if options.like is not None:
        from unnest.formats.keras3.like import like_target_format

        return like_target_format(source, plan, options.like)
    named = options.output or (source.path if options.in_place and not source.reformed else "")
    asked_for = options.to or outputs.requested_container(named, source.path, is_hdf5=source.container in HDF5)
    if source.written_as is not None and options.to is None and (options.output or options.into) is not None:
        asked_for = _target_of_unwritten(source, options, asked_for)
    if options.in_place and options.keras == "3" and asked_for == "h5" and not plan.stored.is_keras_3:
        why = "--in-place keeps the container, and --keras 3 writes .keras, .weights.h5 or .json, not .h5; use -o"
        raise Refused("cannot-convert", f"{source.path}: {why}")
    is_new_keras = asked_for == "keras" and source.container != "keras"
    return _format_chooser(options.keras or ("3" if is_new_keras else "original"))(source, plan, asked_for)


def _target_of_unwritten(source: Source, options: FixOptions, named: Target | None) -> Target | None:
    """Return the target container for a source in a container that is never written.

    Raises:
        Refused: `-o` seems to name the source's own container.

    """
    if named == "json" != source.written_as:
        why = "names the JSON of a TensorFlow.js model, which is read and not written"
        raise Refused("cannot-write", f"{options.output}: {why}; name an .h5 or a .keras, or pass --to json")
    return named or (None if options.keras == "3" else source.written_as)


def _actions(source: Source, plan: Plan, target: TargetFormat, options: FixOptions) -> tuple[Action, Action]:
    """Return the action, and its name in a dry run.

    Raises:
        Failed: a wrapper would be left.

    """
    if options.like is not None:
        return _FIX if plan.verdict == "parallel" else _CONVERT
    if plan.result is not None:
        if make_plan(plan.complete or plan.result).verdict != "clean":
            raise Failed("still-parallel", f"{source.path}: a wrapper would be left after the fix; please report it")
        return _FIX
    stored = plan.stored
    is_other = (target.container, target.model.contents) != (source.container, stored.contents)
    converts = target.reformed or is_other or target.model.is_keras_3 is not stored.is_keras_3
    return _CONVERT if converts else _COPY


def _format_chooser(dialect: Dialect) -> Callable[[Source, Plan, Target | None], TargetFormat]:
    """Return the function that chooses the target; Keras 3's rules, a third of all modules, are loaded only for it."""
    if dialect == "original":
        return target_format
    from unnest.formats.keras3.dialect import keras_3_target_format

    return keras_3_target_format


#: Findings on what a file does when it is loaded: of the output they are found anew.
ON_LOADING = ("stored-code", "frozen-within", "frozen-state")

#: Findings on names alone, and on a missing architecture: --like has it.
OF_NAMES = ("names-alone", "named-by-count", "needs-architecture", "weightless-left-out")


def _backup(path: str, source: Source, options: FixOptions) -> str:
    """Return the path to which the input moves if the output takes its name.

    Raises:
        Refused: the input cannot be replaced.

    """
    if source.not_in_place is not None:
        raise Refused("cannot-write", f"{path}: {source.not_in_place}; use -o")
    return os.path.realpath(path) + options.backup


#: Containers that are HDF5.
HDF5 = ("h5", "weights_h5")

_FIX: tuple[Action, Action] = ("fixed", "would-fix")
_CONVERT: tuple[Action, Action] = ("converted", "would-convert")
_COPY: tuple[Action, Action] = ("unchanged", "unchanged")


def _with_output(result: Result, target: TargetFormat, plan: Plan, output_path: str, options: FixOptions) -> Result:
    """Return the result with the output's path and everything that it will hold."""
    model, is_like = target.model, options.like is not None
    weights = sum(len(g.tensors) for g in model.groups)
    state = model.optimizer
    carried_refs = stored_refs(model.tensors)
    return replace(
        result,
        output=output_path,
        findings=(
            *(f for f in result.findings if f.code not in ON_LOADING and not (is_like and f.code in OF_NAMES)),
            *target.findings,
            *examine.frozen_findings(model, target.container),
            *(() if is_like else examine.stored_code_findings(plan.stored, model)),
        ),
        kept=Kept(len(model.groups), weights, model.parameters, None if state is None else len(state)),
        dropped=tuple(t.name for t in plan.dropped if t.ref not in carried_refs),
        conversions=target.conversions,
        **examine.loading_facts(
            model, output_path, target.container, examine.fixed_model(result.wrappers, result.findings)
        ),
    )


class _Job(NamedTuple):
    """Functions that write a file, and read it back before it gets its name."""

    fill: atomic.Fill
    check: atomic.Fill
    checks: list[str]

    def followed_by(self, prepare: Callable[[], object]) -> _Job:
        """Return the same job, with something to do while the disk is still busy with what was written."""

        def check(path: str) -> None:
            self.check(path)
            prepare()

        return self._replace(check=check)


def _write_job(source: Source, plan: Plan, target: TargetFormat, options: FixOptions, meter: PhaseMeter) -> _Job:
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


def _unwatched(_done: int, _all: int, _phase: Phase) -> None:
    """Ignore progress."""


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

    """
    try:
        with open_container(path).open(path) as written:
            verdict = examine.plan_source(written, architecture, choices).verdict
            exchanged = exchanged_end(plan.stored.architecture, written.stored.architecture)
    except OverBudget:  # the input's budget, of which reading back takes its part
        raise
    except Unreadable as e:
        raise Failed("read-back", f"{e.message}; it was not written, please report it") from e
    if verdict != "clean":
        raise Failed("still-parallel", f"{path}: a wrapper would be left after the fix; please report it")
    if exchanged is not None and not any(finding.code == "other-ends" for finding in plan.findings):
        why = f"{exchanged!r} would be another input or output than it was"
        raise Failed("internal", f"{path}: {why}; nothing was written, please report it")


def _copy_job(source: Source) -> _Job:
    checks: list[str] = []
    folder = container(source.container).folder

    def fill(path: str) -> None:
        (atomic.copy_tree if folder else atomic.copy)(source.path, path)

    def check(path: str) -> None:
        if not (atomic.same_tree if folder else os_calls.same)(source.path, path):
            raise Failed("read-back", f"{path}: the copy reads back differently; the disk may be failing")
        checks.append("bytes")

    return _Job(fill, check, checks)


def _dry_run_action(result: Result, target: TargetFormat, job: _Job, options: FixOptions, action: Action) -> Action:
    """Return what would become of the output; a dry run meets the same obstacles, and writes no file."""
    output_path = result.output or ""
    if options.in_place:
        if not atomic.may_back_up(result.backup or "", result.path):
            raise atomic.backup_exists(result.backup or "")
        return action
    if not os.path.lexists(output_path):
        return action
    if _would_be_same(output_path, job, folder=destination.is_folder(target)):
        return "unchanged"
    if not options.force:
        raise atomic.exists(output_path)
    return action


def _would_be_same(output_path: str, job: _Job, *, folder: bool) -> bool:
    """True if `place` holds what would be written: most differences show at once, the last need the very bytes."""
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
            return (atomic.same_tree if folder else os_calls.same)(scratch_path, output_path)
    except (Failed, OSError) as e:
        where = tempfile.gettempdir()
        raise Failed("no-space", f"{where}: a dry run compares here, and cannot ({e}); set TMPDIR") from e
