"""Fields of a report, from a source and its plan: verdict, findings, where it loads, what `fix` would do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from unnest.core.keras_facts import load_time_code
from unnest.core.keras_facts.custom_objects_needed_to_load import needs
from unnest.core.model import Stored
from unnest.core.plan import Plan
from unnest.core.recognition_results import Wrapper
from unnest.findings import Code, Finding, listed
from unnest.formats.container_interface import Source
from unnest.formats.preserved_style import JsonStyle
from unnest.outputs import output_file_names
from unnest.report.load_line import FLAT_TEMPLATE, TEMPLATE, load_line
from unnest.report.reasons_not_to_load import is_refused_by_its_own, misplaced_within
from unnest.report.result import Report, Writer
from unnest.report.where_it_loads import does_not_load_in, loads_in

R = TypeVar("R", bound=Report)


def with_plan(report: R, source: Source, plan: Plan) -> R:
    """Return the report with what the source and its plan say: verdict, wrappers, findings, where it loads."""
    stored = plan.stored
    return replace(
        report,
        container=source.container,
        contents=stored.contents,
        writer=Writer(stored.keras_version, stored.backend),
        verdict=plan.verdict,
        wrappers=plan.wrappers,
        template=plan.template,
        optimizer=plan.optimizer,
        findings=(
            *source.findings,
            *plan.findings,
            *frozen_findings(stored, source.container),
            *stored_code_findings(stored, None),
        ),
        **loading_facts(
            stored, source.path, source.form, "the model that was saved", source.json_style
        ),
    )


def model_for_weights(wrappers: Sequence[Wrapper], findings: Sequence[Finding]) -> str:
    """Return the model that weights alone load into once they are fixed, in words."""
    if not wrappers or Code.NEEDS_ARCHITECTURE() in findings:
        return "the model that was saved"
    outermost = wrappers[0]
    if outermost.scope == "head":
        return f"{outermost.template} with the layers that follow it"
    if outermost.scope == "embedded":
        return f"the larger model, with one call of {outermost.template}"
    return FLAT_TEMPLATE if Code.WEIGHTLESS_LEFT_OUT() in findings else TEMPLATE


def loading_facts(
    model: Stored, path: str, container: str, taker: str, style: JsonStyle
) -> dict[str, Any]:
    """Return what a report says of where a file loads.

    `taker`: the model that weights alone load into, in words. `style`: the layout of an architecture's text.
    """
    return {
        "loads_in": loads_in(model, path, container),
        "load": load_line(model, path, container, taker, style.code_that_reads(path)),
        "does_not_load_in": does_not_load_in(model, container),
        "needs": needs(model),
    }


def describe_fix(source: Source, plan: Plan) -> str | None:
    """Return what fix would do to a parallel model, in one sentence; None for a clean one."""
    if plan.verdict == "clean":
        return None
    if plan.refusal is not None:
        return f"unnest fix will refuse this: {plan.refusal.message}"
    outermost, writes = plan.wrappers[0], f"unnest fix writes {default_output_name(source)}"
    if outermost.scope == "head":
        follows = "the merge" if outermost.merge else outermost.template
        return f"{writes}, with what follows {follows}, and {outermost.template}'s layers in the wrapper's place"
    if outermost.scope == "embedded":
        return f"{writes}, the larger model with one call of {outermost.template} in the wrapper's place"
    return writes


def default_output_name(source: Source) -> str:
    """Return the name of the file or folder that fix writes where no option names another."""
    changed = {"h5": ".h5", "keras": ".keras"}.get(source.written_as or "")
    suffix = ".weights.h5" if source.container == "checkpoint" else source.reformed or changed
    bare = source.container in output_file_names.BARE or os.path.isdir(source.path)
    return os.path.basename(output_file_names.default_output(source.path, suffix, bare=bare))


def frozen_findings(model: Stored, container: str) -> tuple[Finding, ...]:
    """Report what loading an `.h5` of an older Keras would silently change, or stop at."""
    name = misplaced_within(model, container)
    if name is not None:
        return (Code.FROZEN_WITHIN(name=name),)
    return (
        (Code.FROZEN_STATE(version=model.keras_version),)
        if is_refused_by_its_own(model, container)
        else ()
    )


def stored_code_findings(stored: Stored, output: Stored | None) -> tuple[Finding, ...]:
    """Report what loading the file would run, and what of it a loop made; with `output`, whether that still has it."""
    named = load_time_code.loaded_code(stored)
    if not named:
        return ()
    left = (
        [n for n in load_time_code.loaded_code(output) if n in named] if output is not None else []
    )
    fate = "none of it" if not left else "all of it" if len(left) == len(named) else listed(left)
    told = "" if output is None else f"; the output has {fate}"
    made = load_time_code.lambdas_from_loops(stored.architecture) if stored.architecture else ()
    return (
        *((Code.BOUND_LATE(names=listed(made)),) if made else ()),
        Code.STORED_CODE(what=listed(named), output=told),
    )
