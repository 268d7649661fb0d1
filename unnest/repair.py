"""fix(): make the plan as `inspect` does, write it, read it back, and give it its name (`unnest.outputs.apply_plan`).

A bad file is a Result that says so; only a caller's mistake raises (UsageError).
"""

from __future__ import annotations

import os
import shlex
import stat
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unnest import log_if_loaded, open_and_plan
from unnest.budget import limited
from unnest.build_report import add_pictures_to_report, fields_from_plan
from unnest.core.plan import Choices
from unnest.errors import Failed, Refused, UnnestError, Unreadable
from unnest.files import replace_input, staging_folder, write_errors
from unnest.files.temporary_files import unnamed_files_in
from unnest.formats.translate_errors import reading, writing
from unnest.inspection import inspect, with_error
from unnest.options import (
    FixArguments,
    FixOptions,
    Meter,
    Phase,
    PhaseMeter,
    architecture_argument,
    architecture_inputs,
    check_usage,
    signature_of_fix,
)
from unnest.outputs.apply_plan import apply_plan, output_of
from unnest.remote.urls import is_remote, path_text, safe_url
from unnest.report.result import Result
from unnest.user_build_function import target_model_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


def fix(
    path: str | bytes | os.PathLike[str],
    output: str | bytes | os.PathLike[str] | None = None,
    **arguments: Unpack[FixArguments],
) -> Result:
    """Write the clean single-device model beside the file, to `output`, or in its place.

    Args:
        path: A model file, a SavedModel's folder, a checkpoint's prefix, or a URL.
        output: The path to write; None: beside the input, `model.unnested.h5`.
        **arguments: As listed here.

            - `in_place` (bool): Replace the input; the old file stays as a backup.
            - `backup` (str): Suffix of the backup's name, `.bak`.
            - `force` (bool): Replace an existing output of the same kind.
            - `dry_run` (bool): Write nothing; the result says what would be done.
            - `to` (str): The container to write: `h5`, `keras`, `weights`, `saved_model` or `json`; None: what
              `output` names, else the input's.
            - `architecture` (path or dict): For weights alone: the JSON of their model or of its template.
            - `keep_nested` (bool): If weights cannot be placed without doubt, keep the template as a nested model.
            - `slice_layers` (iterable of str): Classes that, as the caller guarantees, cut the batch in order.
            - `trust` (bool): Raise the limits of work and memory a hundredfold.
            - `verify` (bool): Load and run the output in its Keras, in a process of its own.
            - `keras` (str): The dialect to write: `original` or `3`; None: the file's own, and `3` where another
              container becomes a `.keras`.
            - `like` (model): A built model of Keras 3 or tf_keras that is to get the weights; the output is its
              `.weights.h5`.
            - `stub` (path): With `keras="3"`, a module for the functions and classes that the output still needs.
            - `meter` (callable): Called with the bytes that were moved so far, and with those in all.

    Returns:
        The result. A bad file is a result with an `error`, its `action` is then `refused` or `failed`.

    Raises:
        UsageError: Options contradict each other, or `architecture` holds no architecture.

    """
    result = fix_one(
        path_text(path), fix_options(output, arguments), without_phase(arguments.get("meter"))
    )
    log_if_loaded.info("fix %s: %s, output %s", result.path, result.action, result.output)
    return result


fix.__signature__ = signature_of_fix(fix)  # type: ignore[attr-defined] # read by `inspect.signature`


def fix_options(
    output: str | bytes | os.PathLike[str] | None, arguments: FixArguments
) -> FixOptions:
    """Return the options that a caller gives by keywords; `meter` is not one of them.

    Raises:
        TypeError: there is no such argument.
        UsageError: `architecture` holds no architecture, or `like` takes no weights.

    """
    given: dict[str, Any] = {**arguments}
    if unknown := given.keys() - FixArguments.__annotations__.keys():
        raise TypeError(f"fix has no argument {min(unknown)!r}")
    given.pop("meter", None)
    architecture, stub = arguments.get("architecture"), arguments.get("stub")
    keras = arguments.get("keras")
    given |= {
        "keras": None if keras is None else str(keras),
        "output": None if output is None else path_text(output),
        "architecture": architecture_argument(architecture),
        "slice_layers": frozenset(arguments.get("slice_layers", ())),
        "inputs": architecture_inputs(architecture),
        "like": target_model_of(arguments.get("like")),
        "stub": None if stub is None else os.fspath(stub),
    }
    return FixOptions(**given)


def without_phase(meter: Meter | None) -> PhaseMeter | None:
    """Return a meter that leaves the phase out; None for none."""

    def step(done: int, total: int, _: Phase) -> None:
        assert meter is not None
        meter(done, total)

    return None if meter is None else step


def fix_one(path: str, options: FixOptions, meter: PhaseMeter | None = None) -> Result:
    """Run `fix` with its options as one value."""
    result = Result(
        path=path,
        verdict="unreadable",
        action="failed",
        inspector=inspect,
        options=options.to_repeat,
    )
    check_usage(path, options)
    if is_remote(path) or is_remote(options.path_at_output(path)):
        return _fix_remote(path, options, meter)
    if options.verify:
        from unnest.outputs.verify import check_installed

        check_installed()
    fingerprint: replace_input.Fingerprint | None = None
    try:
        if options.in_place and not options.dry_run:
            # A killed run may have got as far as leaving nothing to fix.
            staging_folder.sweep(os.path.realpath(path))
        fingerprint = replace_input.Fingerprint.of(path)
        with (
            limited(open_and_plan.budget_of(path, trust=options.trust)),
            unnamed_files_in(os.path.dirname(options.path_at_output(path))),
            open_and_plan.open_model(path) as source,
        ):
            with reading(path):
                plan = open_and_plan.plan_source(
                    source, options.architecture, Choices(options.keep_nested, options.slice_layers)
                )
                result = add_pictures_to_report.with_pictures(
                    fields_from_plan.with_plan(result, source, plan), source, plan, options
                )
            with writing(options.path_at_output(path)):
                result_written = apply_plan(result, source, plan, options, meter, fingerprint)
        if options.verify and not options.dry_run and result_written.output is not None:
            from unnest.outputs.verify import verify_output

            return verify_output(result_written, result)
        return _with_architecture_beside(result_written, options)
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a result, not a traceback
        error = write_errors.changed(path) if _input_changed(path, fingerprint, e) else e
        refused = replace(
            with_error(result, error), action="refused" if isinstance(error, Refused) else "failed"
        )
        return _with_architecture_beside(refused, options)


def _with_architecture_beside(result: Result, options: FixOptions) -> Result:
    """Return the result for weights alone, its refusal naming the architecture file beside them that fits."""
    if result.contents != "weights" or options.architecture is not None or options.like is not None:
        return result
    from unnest import architecture_file_search

    choices = Choices(options.keep_nested, options.slice_layers)
    beside = architecture_file_search.find(result.path, choices, trust=options.trust)
    if beside is None:
        return result
    error = result.error
    if error is not None and error.code == "needs-architecture":
        error = error._replace(message=error.message.replace("MODEL.json", shlex.quote(beside)))
    return replace(result, architecture_beside=beside, error=error)


def output_path(path: str, options: FixOptions) -> str | None:
    """Return the path that `fix` would write; None if it would write nothing, or cannot."""
    try:
        with (
            limited(open_and_plan.budget_of(path, trust=options.trust)),
            reading(path),
            open_and_plan.open_model(path) as source,
        ):
            plan = open_and_plan.plan_source(
                source, options.architecture, Choices(options.keep_nested, options.slice_layers)
            )
            return output_of(source, plan, options)
    except UnnestError:
        return None


def _fix_remote(path: str, options: FixOptions, meter: PhaseMeter | None) -> Result:
    """Fix a copy of a remote file, and send the output to its place."""
    from unnest.remote import run_on_local_copy

    result = Result(path=safe_url(path), verdict="unreadable", action="failed", inspector=inspect)
    try:
        return run_on_local_copy.fix(path, options, lambda at, wanted: fix_one(at, wanted, meter))
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a result, not a traceback
        return replace(
            with_error(result, e), action="refused" if isinstance(e, Refused) else "failed"
        )


def _input_changed(
    path: str, fingerprint: replace_input.Fingerprint | None, error: Exception
) -> bool:
    """Return True if the input was written or removed meanwhile, so that neither disk nor output is to blame."""
    if fingerprint is not None and not os.path.lexists(path):
        return isinstance(error, (Failed, Unreadable))
    blames_read_back = isinstance(error, Failed) and error.code == "read-back"
    return (
        blames_read_back
        and fingerprint is not None
        and stat.S_ISREG(fingerprint.status.st_mode)
        and not fingerprint.is_of(path)
    )
