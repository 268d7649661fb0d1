"""Apply a plan to the disk: leave the file, copy it, convert it, or write the template.

An `_Application` decides once what follows from source, plan and options; its steps are taken in their order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

from unnest.build_report import add_pictures_to_report, fields_from_plan, keras_3_preview
from unnest.core.keras3.derived_weights import stored_refs
from unnest.core.make_plan import plan as make_plan
from unnest.core.plan import Plan
from unnest.errors import Failed, Refused
from unnest.files import (
    overwrite_checks,
    replace_input,
    staging_folder,
    write_errors,
    write_output_atomically,
)
from unnest.files.copy_and_compare import bytes_writer
from unnest.findings import Code, listed
from unnest.formats.change_container.choose_target_format import target_format
from unnest.formats.container_interface import Source, Target, TargetFormat
from unnest.options import Dialect, FixOptions, PhaseMeter
from unnest.outputs import container_suffixes, output_file_names, publish_output
from unnest.outputs.write_and_read_back_jobs import (
    Job,
    copy_job,
    ignore_progress,
    output_would_be_same,
    write_job,
)
from unnest.report.result import Action, AsKeras3, CopyState, Kept, Result


def apply_plan(
    result: Result,
    source: Source,
    plan: Plan,
    options: FixOptions,
    meter: PhaseMeter | None,
    fingerprint: replace_input.Fingerprint | None,
) -> Result:
    """Apply the plan as the options ask: leave, copy, convert, or write the template.

    `fingerprint`: the input's, taken before it was read.

    Raises:
        UnnestError: the plan is refused, or the output cannot be written.

    """
    application = _Application.of(source, plan, options)
    if application.leaves_file:
        return replace(result, action="unchanged", as_keras_3=application.as_keras_3(result))
    result = application.describe(result)
    source.check_sums()
    as_keras_3 = cache(partial(application.as_keras_3, result))
    job = application.job(meter or ignore_progress).with_next_step(as_keras_3)
    application.check_place(result)
    result = (
        application.dry_run(result, job)
        if options.dry_run
        else application.write(result, job, fingerprint)
    )
    return replace(result, as_keras_3=as_keras_3())


def output_of(source: Source, plan: Plan, options: FixOptions) -> str | None:
    """Return the path that would be written; None if nothing would be. Raises Refused."""
    application = _Application.of(source, plan, options)
    return None if application.leaves_file else application.output_path


@dataclass(frozen=True, eq=False, repr=False)
class _Application:
    """A plan for a source under some options, the output that follows, and the steps that make it, in their order."""

    source: Source
    plan: Plan
    options: FixOptions
    target: TargetFormat
    #: What is done, and its name in a dry run.
    action: Action
    dry_run_action: Action

    @classmethod
    def of(cls, source: Source, plan: Plan, options: FixOptions) -> _Application:
        """Return the application.

        Raises:
            Refused: the plan is refused, or the output cannot be of the kind that the options name.
            Failed: a wrapper would be left.

        """
        if not _takes_any_weights(source, plan, options):
            _check_refusal(source, plan, options)
        target = _chosen_target(source, plan, options)
        return cls(source, plan, options, target, *_actions(source, plan, target, options))

    @property
    def leaves_file(self) -> bool:
        """True if nothing is to be done, and no copy is asked for."""
        return (
            self.action == "unchanged" and self.options.output is None and self.options.into is None
        )

    @property
    def output_path(self) -> str:
        """The path that was named, or the input's own name with the suffix of what is written."""
        if self.options.output is not None:
            return self.options.output
        path, mark = (
            (self.source.path, output_file_names.MARK)
            if self.options.into is None
            else (self.options.into, "")
        )
        is_bare = self.source.container in output_file_names.BARE or os.path.isdir(self.source.path)
        return output_file_names.default_output(path, self.target.suffix, bare=is_bare, mark=mark)

    def as_keras_3(self, result: Result) -> AsKeras3 | None:
        """Return what --keras 3 would do, unless it was given."""
        if self.options.keras == "3":
            return None
        model = self.target.model if self.plan.refusal is None else None
        return keras_3_preview.as_keras_3(self.source, self.plan, result, model)

    # Steps, in their order

    def describe(self, result: Result) -> Result:
        """Return the result with the output's path, the backup's, and everything that the output will hold.

        Raises:
            Refused: the input is to be replaced, and cannot be.

        """
        path = self.output_path
        if self.options.in_place:
            path, backup = result.path, _backup(result.path, self.source, self.options)
            result = replace(result, backup=backup)
        result = self._with_output(result, path)
        if self.action == "unchanged" or self.target.model.architecture is None:
            return result
        return add_pictures_to_report.with_output_view(
            result, self.source, self.plan, self.options, self.target.model
        )

    def _with_output(self, result: Result, output_path: str) -> Result:
        """Return the result with the output's path and everything that it will hold."""
        target, plan, model = self.target, self.plan, self.target.model
        is_like = self.options.like is not None
        weights = sum(len(g.tensors) for g in model.groups)
        state = model.optimizer
        carried_refs = stored_refs(model.tensors)
        return replace(
            result,
            output=output_path,
            findings=(
                *(
                    f
                    for f in result.findings
                    if f.code not in ON_LOADING and not (is_like and f.code in OF_NAMES)
                ),
                *target.findings,
                *fields_from_plan.frozen_findings(model, target.container),
                *(() if is_like else fields_from_plan.stored_code_findings(plan.stored, model)),
            ),
            kept=Kept(
                model.layers, weights, model.parameters, None if state is None else len(state)
            ),
            dropped=tuple(t.name for t in plan.dropped if t.ref not in carried_refs),
            conversions=target.conversions,
            **fields_from_plan.loading_facts(
                model,
                output_path,
                target.container,
                fields_from_plan.model_for_weights(result.wrappers, result.findings),
                self.source.json_style,
            ),
        )

    def job(self, meter: PhaseMeter) -> Job:
        """Return how the output is written, and read back before it gets its name."""
        if self.action == "unchanged":
            return copy_job(self.source)
        return write_job(self.source, self.plan, self.target, self.options, meter)

    def check_place(self, result: Result) -> None:
        """Raise Refused where the output would touch an input, or replace what is no output like it."""
        if not self.options.in_place:
            publish_output.check_place(self.source, self.target, str(result.output), self.options)

    def dry_run(self, result: Result, job: Job) -> Result:
        """Return what would become of the output; a dry run meets the same obstacles, and writes no file."""
        if self._is_written(result, job):
            return replace(result, action="unchanged")
        copy_state: CopyState | None = "would-copy" if self.action == "unchanged" else None
        return replace(result, action=self.dry_run_action, copy_state=copy_state, load=None)

    def _is_written(self, result: Result, job: Job) -> bool:
        """Return True if the output exists with the bytes that would be written.

        Raises:
            Refused: a run without --dry-run would be refused.

        """
        output_path, backup = result.output or "", result.backup or ""
        if self.options.in_place:
            if not replace_input.may_back_up(backup, result.path):
                raise write_errors.backup_exists(backup)
            return False
        if not os.path.lexists(output_path):
            return False
        if output_would_be_same(output_path, job, folder=publish_output.is_folder(self.target)):
            return True
        if not self.options.force:
            raise write_errors.exists(output_path)
        return False

    def write(
        self, result: Result, job: Job, fingerprint: replace_input.Fingerprint | None
    ) -> Result:
        """Write the output, or replace the input, and the stub; return the result.

        Raises:
            UnnestError: something is in the way, or the disk fails.

        """
        options, action, path = self.options, self.action, str(result.output)
        copy_state: CopyState | None = "copied" if action == "unchanged" else None
        stub = _stub_job(self.source, self.target, result, options)
        if options.in_place:
            path = os.path.realpath(path)
            replace_input.replace(path, str(result.backup), job.fill, job.check, fingerprint)
        elif (
            publish_output.publish(
                self.source, self.target, path, job.fill, job.check, options.force
            )
            == "same"
        ):
            action, copy_state = "unchanged", None
        if stub is not None:
            write_output_atomically.publish_file(str(options.stub), *stub, force=options.force)
        result = replace(result, stub=options.stub)
        debris = staging_folder.leftovers(path)
        findings = (*result.findings, *((Code.LEFTOVER(what=listed(debris)),) if debris else ()))
        checks = tuple(job.checks)
        return replace(
            result, action=action, copy_state=copy_state, checks=checks, findings=findings
        )


def _check_refusal(source: Source, plan: Plan, options: FixOptions) -> None:
    """Raise Refused if the plan refuses, or if names alone would be the reason to replace a file."""
    if plan.refusal is not None:
        raise Refused(plan.refusal.code, f"{source.path}: {plan.refusal.message}")
    by_names = (
        plan.result is not None and plan.stored.contents == "weights" and not options.architecture
    )
    if options.in_place and by_names:
        why = "is judged by layer names alone; pass --architecture MODEL.json for --in-place, or use -o"
        raise Refused("needs-architecture", f"{source.path}: {why}")


def _takes_any_weights(source: Source, plan: Plan, options: FixOptions) -> bool:
    """Return True if weights without an architecture go into the caller's model, whatever the plan."""
    if options.like is None:
        return False
    from unnest.formats.change_container.weights_h5_for_target_model import has_no_architecture

    return has_no_architecture(source, plan)


def _chosen_target(source: Source, plan: Plan, options: FixOptions) -> TargetFormat:
    """Return the container that the options and file names ask for, and what it gets. Raises Refused."""
    if options.like is not None:
        from unnest.formats.change_container.weights_h5_for_target_model import (
            weights_h5_for_target_model,
        )

        return weights_h5_for_target_model(source, plan, options.like)
    named = options.output or (source.path if options.in_place and not source.reformed else "")
    asked_for = options.to or container_suffixes.requested_container(
        named, source.path, is_hdf5=source.container in HDF5
    )
    if (
        source.written_as is not None
        and options.to is None
        and (options.output or options.into) is not None
    ):
        asked_for = _target_of_unwritten(source, options, asked_for)
    if (
        options.in_place
        and options.keras == "3"
        and asked_for == "h5"
        and not plan.stored.is_keras_3
    ):
        why = "--in-place keeps the container, and --keras 3 writes .keras, .weights.h5 or .json, not .h5; use -o"
        raise Refused("cannot-convert", f"{source.path}: {why}")
    is_new_keras = asked_for == "keras" and source.container != "keras"
    return _format_chooser(options.keras or ("3" if is_new_keras else "original"))(
        source, plan, asked_for
    )


def _target_of_unwritten(
    source: Source, options: FixOptions, named: Target | None
) -> Target | None:
    """Return the target container for a source in a container that is never written.

    Raises:
        Refused: `-o` seems to name the source's own container.

    """
    if named == "json" != source.written_as:
        why = "names the JSON of a TensorFlow.js model, which is read and not written"
        raise Refused(
            "cannot-write", f"{options.output}: {why}; name an .h5 or a .keras, or pass --to json"
        )
    return named or (None if options.keras == "3" else source.written_as)


def _actions(
    source: Source, plan: Plan, target: TargetFormat, options: FixOptions
) -> tuple[Action, Action]:
    """Return the action, and its name in a dry run.

    Raises:
        Failed: a wrapper would be left.

    """
    if options.like is not None:
        return _FIX if plan.verdict == "parallel" else _CONVERT
    if plan.result is not None:
        if make_plan(plan.complete or plan.result).verdict != "clean":
            raise Failed(
                "still-parallel",
                f"{source.path}: a wrapper would be left after the fix; please report it",
            )
        return _FIX
    stored = plan.stored
    is_other = (target.container, target.model.contents) != (source.container, stored.contents)
    converts = target.reformed or is_other or target.model.is_keras_3 is not stored.is_keras_3
    return _CONVERT if converts else _COPY


def _format_chooser(dialect: Dialect) -> Callable[[Source, Plan, Target | None], TargetFormat]:
    """Return the function that chooses the target; Keras 3's rules, a third of all modules, are loaded only for it."""
    if dialect == "original":
        return target_format
    from unnest.formats.change_container.convert_to_keras3 import keras_3_target_format

    return keras_3_target_format


#: Findings on what a file does when it is loaded: of the output they are found anew.
ON_LOADING = ("stored-code", "frozen-within", "frozen-state")

#: Findings on names alone, and on a missing architecture: --like has it.
OF_NAMES = ("names-alone", "named-by-count", "needs-architecture", "weightless-left-out")


#: Containers that are HDF5.
HDF5 = ("h5", "weights_h5")

_FIX: tuple[Action, Action] = ("fixed", "would-fix")
_CONVERT: tuple[Action, Action] = ("converted", "would-convert")
_COPY: tuple[Action, Action] = ("unchanged", "unchanged")


def _backup(path: str, source: Source, options: FixOptions) -> str:
    """Return the path to which the input moves if the output takes its name.

    Raises:
        Refused: the input cannot be replaced.

    """
    if source.not_in_place is not None:
        raise Refused("cannot-write", f"{path}: {source.not_in_place}; use -o")
    return os.path.realpath(path) + options.backup


def _stub_job(
    source: Source, target: TargetFormat, result: Result, options: FixOptions
) -> tuple[write_output_atomically.Fill, write_output_atomically.Check] | None:
    """Return the functions that write and read back the module of --stub; None if it is not asked for.

    Raises:
        Refused: it would replace an input, or, without --force, anything else than the same module.

    """
    if options.stub is None:
        return None
    from unnest.report.custom_code_stub import render

    place = options.stub
    data = render(target.model, result.findings, str(result.output)).encode(
        "utf-8", "backslashreplace"
    )
    for inputs in (overwrite_checks.Inputs.of((*source.parts(), source.path)), *options.inputs):
        overwrite_checks.check_not_an_input(place, inputs)
    fill, check = bytes_writer(data)
    if os.path.lexists(place) and not options.force:
        try:
            check(place)
        except (Failed, OSError):
            raise write_errors.exists(place) from None
    return fill, check
