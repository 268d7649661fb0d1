"""inspect(): open the file, let the core make a plan, and report it (`unnest.build_report.fields_from_plan`).

A bad file is a Report that says so; only a caller's mistake raises (UsageError).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from unnest import log_if_loaded, open_and_plan
from unnest.budget import limited
from unnest.build_report import add_pictures_to_report, fields_from_plan, keras_3_preview
from unnest.build_report.in_memory_report_cache import ReportCache
from unnest.core.model import JsonObject, Stored
from unnest.core.plan import Choices, Plan
from unnest.errors import Failed, UnnestError
from unnest.files import interrupts
from unnest.formats.container_interface import Source
from unnest.formats.detect_container import container_of
from unnest.formats.translate_errors import (
    describe_defect,
    no_memory,
    out_of_memory,
    raise_callers_own,
    reading,
)
from unnest.options import FACTS, TEXT, Architecture, FixOptions, ReportParts, architecture_argument
from unnest.remote.urls import is_remote, path_text, safe_url
from unnest.report.result import Problem, Report, with_path_replaced

R = TypeVar("R", bound=Report)

#: The code of what is the caller's mistake, and no fault of the file.
ARCHITECTURE_MISMATCH = "architecture-mismatch"


def inspect(
    path: str | bytes | os.PathLike[str],
    *,
    architecture: Architecture = None,
    slice_layers: Iterable[str] = (),
    trust: bool = False,
    draw: bool = False,
) -> Report:
    """Report what is in a file, and whether it is a parallel model. A bad file is a report with an `error`.

    Args:
        path: A model file, a SavedModel's folder, a checkpoint's prefix, or a URL.
        architecture: For weights alone: the JSON (a path, or the parsed object) of the model that was saved or of its
            template.
        slice_layers: Classes that, as the caller guarantees, cut the batch in order.
        trust: Raise the limits of work and memory a hundredfold.
        draw: Make a report to be read: with a `drawing`, and `as_keras_3`.

    Returns:
        The report; its fields are those of the JSON report, and some for its text and pictures.

    Raises:
        UsageError: `architecture` holds no architecture.

    """
    choices = Choices(slice_layers=frozenset(slice_layers))
    parts = TEXT if draw else FACTS
    report = inspect_anywhere(
        path_text(path), architecture_argument(architecture), choices, trust=trust, parts=parts
    )
    log_if_loaded.info("inspect %s: %s", report.path, report.verdict)
    return report


def inspect_anywhere(
    path: str,
    architecture: JsonObject | None,
    choices: Choices,
    *,
    trust: bool,
    parts: ReportParts,
    known: ReportCache | None = None,
) -> Report:
    """Inspect a local path, or a URL by a local copy without the values of its weights."""
    if not is_remote(path):
        return inspect_local(
            path, architecture=architecture, choices=choices, trust=trust, parts=parts, known=known
        )
    inspect_here = partial(
        inspect_local,
        architecture=architecture,
        choices=choices,
        trust=trust,
        parts=parts._replace(values=False),
    )
    return _inspect_remote(path, inspect_here, trust=trust)


def inspect_local(
    path: str,
    *,
    architecture: JsonObject | None,
    choices: Choices,
    trust: bool,
    parts: ReportParts,
    known: ReportCache | None = None,
) -> Report:
    """Inspect a local path; `known` caches the answers for models that were seen before."""
    options = FixOptions(
        architecture=architecture, slice_layers=choices.slice_layers, trust=trust, parts=parts
    )
    report = Report(path=path, verdict="unreadable", inspector=inspect, options=options.to_repeat)
    try:
        budget = open_and_plan.budget_of(report.path, trust=trust)
        if known is not None:
            budget.answers = known.answers
        with (
            limited(budget),
            reading(report.path),
            open_and_plan.open_to_inspect(report.path) as source,
        ):
            if known is not None and architecture is None and not (parts.advice or parts.view):
                return known.report(
                    source,
                    choices,
                    partial(_report_without_architecture, report, source, choices, parts),
                    parts,
                )
            plan = open_and_plan.plan_source(source, architecture, choices)
            report = _report_with(report, source, plan, options)
            if parts.advice:
                report = replace(
                    report,
                    as_keras_3=keras_3_preview.as_keras_3(
                        source, plan, report, _stored_if_clean(source, plan)
                    ),
                    architecture_beside=_architecture_beside(
                        report, architecture, choices, trust=trust
                    ),
                )
            if plan.refusal is not None and plan.refusal.code == ARCHITECTURE_MISMATCH:
                return replace(
                    report,
                    error=Problem(ARCHITECTURE_MISMATCH, f"{source.path}: {plan.refusal.message}"),
                )
            return report
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a report, not a traceback
        return with_error(report, e)


def _stored_if_clean(source: Source, plan: Plan) -> Stored | None:
    """Return the model in the file if the plan leaves it as it is, else None."""
    return source.stored if plan.verdict == "clean" else None


def _architecture_beside(
    report: Report, architecture: JsonObject | None, choices: Choices, *, trust: bool
) -> str | None:
    """Return the path of the architecture that was kept beside weights alone; None without one."""
    if report.contents != "weights" or architecture is not None:
        return None
    from unnest import architecture_file_search

    return architecture_file_search.find(report.path, choices, trust=trust)


def _report_without_architecture(
    report: Report, source: Source, choices: Choices, parts: ReportParts
) -> Report:
    """Return the report of a model without a given architecture.

    Raises:
        Unreadable: the stored architecture is not a model.

    """
    options = FixOptions(slice_layers=choices.slice_layers, parts=parts)
    return _report_with(report, source, open_and_plan.plan_source(source, None, choices), options)


def _report_with(report: Report, source: Source, plan: Plan, options: FixOptions) -> Report:
    described = fields_from_plan.with_plan(report, source, plan)
    described = replace(
        described,
        near_misses=plan.near_misses,
        fix_would=fields_from_plan.describe_fix(source, plan),
    )
    return add_pictures_to_report.with_pictures(described, source, plan, options)


def _inspect_remote(url: str, inspect_copy: Callable[[str], Report], *, trust: bool) -> Report:
    """Inspect a copy without the tensors' bytes."""
    from unnest.remote import run_on_local_copy

    try:
        with run_on_local_copy.local_copy(url, with_tensors=False, trust=trust) as path:
            return with_path_replaced(inspect_copy(path), path, safe_url(url))
    except Exception as e:  # noqa: BLE001 - whatever is wrong with a file is a report, not a traceback
        return with_error(Report(path=safe_url(url), verdict="unreadable", inspector=inspect), e)


def with_error(report: R, error: Exception) -> R:
    """Return the report with an error; what was found before stays."""
    if interrupts.caused_by_interrupt(error):
        raise KeyboardInterrupt from error
    raise_callers_own(error)
    if not isinstance(error, UnnestError):
        lacks_memory = out_of_memory(error)
        error = (
            no_memory(report.path, "go on")
            if lacks_memory
            else Failed("internal", f"{report.path}: {describe_defect(error)}")
        )
    container = report.container
    if container is None and not is_remote(report.path):
        with contextlib.suppress(UnnestError, OSError, MemoryError):
            container = container_of(report.path)
    return replace(report, container=container, error=Problem(error.code, error.message))
