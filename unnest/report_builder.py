"""Open files, plan, and describe the result in a report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from unnest import output_file_names
from unnest.budget import Budget, OverBudget, check, limited_apart
from unnest.core import load_time_code
from unnest.core.architecture import is_model, read
from unnest.core.keras_facts.loading_requirements import needs
from unnest.core.make_plan import NotAGraph
from unnest.core.model import JsonObject, Stored
from unnest.core.plan import Choices, Plan
from unnest.core.recognition_results import Wrapper
from unnest.errors import Refused, Unreadable
from unnest.findings import Code, Finding, listed
from unnest.formats.base import Source
from unnest.formats.detect import look, open_container, stored_size
from unnest.formats.error_translation import not_a_graph, raise_callers_own, reading
from unnest.options import FixOptions
from unnest.report.load_hint import (
    FLAT_TEMPLATE,
    TEMPLATE,
    UNPROMISED,
    does_not_load_in,
    is_refused_by_its_own,
    load_line,
    loads_in,
    misplaced_within,
)
from unnest.report.result import AsKeras3, Inside, Report, Writer

if TYPE_CHECKING:
    from unnest.core.keras3.conversion_context import Conversion
    from unnest.report.diagram.drawing import Drawing
    from unnest.report.model_view import ModelView, Side

T = TypeVar("T")
R = TypeVar("R", bound=Report)


def opened(path: str) -> Source:
    """Open the model at `path`. Raises Unreadable or Failed, and nothing else."""
    with reading(path):
        return open_container(path).open(path)


def open_to_inspect(path: str) -> Source:
    """Open the model to be inspected, not copied."""
    with reading(path):
        return look(path)


def plan_source(source: Source, architecture: JsonObject | None, choices: Choices) -> Plan:
    """Return the plan for a source.

    Raises:
        Unreadable: the architecture is not a model.

    """
    try:
        made = source.plan(architecture, choices=choices)
        check()
    except NotAGraph as e:
        raise not_a_graph(source.path, e) from e
    except RecursionError as e:
        raise Unreadable(
            "json-too-deep", f"{source.path}: the architecture nests too deep to be a model"
        ) from e
    return made


def describe(report: R, source: Source, made: Plan) -> R:
    """Return the report with the results of reading and planning."""
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
        findings=(
            *source.findings,
            *made.findings,
            *frozen_findings(stored, source.container),
            *stored_code_findings(stored, None),
        ),
        **loading_facts(stored, source.path, source.container, "the model that was saved"),
    )


def illustrated(report: R, source: Source, made: Plan, options: FixOptions) -> R:
    """Return the report with the drawing and the view that the options ask for.

    Neither decides anything: the verdict follows from the plan. Each has a budget of its own, of the file's size, and
    is missing where that does not last.
    """
    if options.parts.drawing:
        report = replace(
            report,
            drawing=_within_budget(source, options, partial(_drawing, source, made, options)),
        )
        if options.parts.advice:
            report = replace(
                report, inside=_within_budget(source, options, partial(_inside, made, options))
            )
    if options.parts.view:
        report = replace(
            report, view=_within_budget(source, options, partial(_view, source, made, options))
        )
    return report


def _within_budget(source: Source, options: FixOptions, make: Callable[[], T | None]) -> T | None:
    try:
        with limited_apart(Budget.of(source.path, stored_size(source.path), trust=options.trust)):
            return make()
    except (OverBudget, NotAGraph, RecursionError):
        return None


def with_output_view(
    report: R, source: Source, made: Plan, options: FixOptions, output: Stored
) -> R:
    """Return the report with the written model in its view, in place of the one that the plan makes."""
    if report.view is None:
        return report
    after = _within_budget(
        source, options, partial(_output_side, report.view, made, options, output)
    )
    return report if after is None else replace(report, view=report.view._replace(after=after))


def _output_side(view: ModelView, made: Plan, options: FixOptions, output: Stored) -> Side:
    """Return the written model, as a page shows it."""
    from unnest.report.diagram.drawing import draw_output
    from unnest.report.model_view import side

    model, figure = output.architecture, None
    if model is not None and view.before.figure is not None and made.refusal is None:
        figure = draw_output(model, view.kept, options.slice_layers, whole=True)
    return side(figure, output, model)


def _drawing(
    source: Source, made: Plan, options: FixOptions, *, whole: bool = False
) -> Drawing | None:
    """Return the drawing of the stored or given graph, and of what the plan makes; None without a graph."""
    from unnest.report.diagram.drawing import draw

    before = source.stored.architecture or options.architecture
    after = made.result and (
        made.result.architecture or (made.complete and made.complete.architecture)
    )
    refusal = made.refusal.message if made.refusal is not None else None
    return draw(before, after or None, made.wrappers, options.slice_layers, refusal, whole=whole)


def _inside(made: Plan, options: FixOptions) -> Inside:
    """Return the numbers of the model that is stored, and the names that its code uses."""
    from unnest.report.model_view import side

    stored = made.stored
    totals = side(None, stored, stored.architecture or options.architecture).totals
    code = tuple(load_time_code.names_in_code(stored.architecture))
    return Inside(totals.layers, totals.parameters, totals.inputs, totals.outputs, code)


def _view(source: Source, made: Plan, options: FixOptions) -> ModelView | None:
    """Return the model before and after as a page shows it, with histograms of at most VALUES_READ bytes of weights."""
    from unnest.report.model_view import ModelView, side

    drawn, stored = _drawing(source, made, options, whole=True), made.stored
    after = (made.complete or made.result) if made.verdict == "parallel" else None
    view = ModelView(
        side(drawn and drawn.before[0], stored, stored.architecture or options.architecture),
        None if after is None else side(drawn and drawn.after, after, after.architecture),
        made.refusal.message if made.refusal is not None else None,
        kept=drawn and drawn.kept,
    )
    return _with_histograms(view, source) if options.parts.values else view


#: Bytes of weights that are read for a page: the smallest weights first.
VALUES_READ = 16 << 20


def _with_histograms(view: ModelView, source: Source) -> ModelView:
    """Return the view with histograms of the smallest weights, up to VALUES_READ bytes."""
    import numpy as np

    from unnest.report.model_view import histogram

    every = {
        tensor.ref: tensor for facts in view.before.layers.values() for tensor in facts.weights
    }
    read, left = {}, VALUES_READ
    for tensor in sorted(every.values(), key=lambda tensor: tensor.nbytes):
        left -= tensor.nbytes
        if left < 0 or tensor.dtype[1:2] not in HISTOGRAM_KINDS:
            continue
        values = np.frombuffer(b"".join(source.blocks(tensor)), tensor.dtype)
        if (found := histogram(values)) is not None:
            read[tensor.ref] = found
    return view._replace(histograms=read, unread=len(every) - len(read))


#: Kinds of NumPy's dtypes that a histogram is made of.
HISTOGRAM_KINDS = "fiu"


def as_keras_3(
    source: Source, made: Plan, report: Report, stored: Stored | None
) -> AsKeras3 | None:
    """Return what --keras 3 would do with a file that Keras 3 does not load; None for one that it loads.

    `stored`: the model in the file that is reported, if it is the one that the plan makes.

    None also where that is not known, as where the file's budget does not last for a second plan, and of models of more
    than TRIED_LAYERS layers, where finding out would take about as long as what was asked for.
    """
    if "Keras 3" not in report.does_not_load_in:
        return None
    from unnest.formats.keras3.keras3_target_format import (
        keras_3_target_format,  # a third of all modules
    )

    as_it_is = AsKeras3()
    try:
        if made.refusal is not None:
            return AsKeras3(made.refusal.message)
        if _is_large(source.stored.architecture):
            return None
        target = keras_3_target_format(source, made, None)
        if (
            report.does_not_load_in["Keras 3"] == UNPROMISED
            and source.container == "h5"
            and stored is not None
        ):
            as_it_is = _unconverted(stored, target.conversions)
    except Refused as e:
        if e.code != "needs-architecture":  # which is asked for by the command
            return AsKeras3(e.message.removeprefix(f"{source.path}: "))
    except Exception as e:  # noqa: BLE001 - optional: the requested work is done, and its result stands
        raise_callers_own(e)
        return None
    return as_it_is


def _unconverted(model: Stored, conversions: Sequence[Conversion]) -> AsKeras3:
    """Return what Keras 3 computes with the model as Keras 2 wrote it; `conversions` are what would be changed."""
    from unnest.core.keras3.unconverted_h5 import (  # a part of what writes Keras 3's
        altered,
        is_opened,
    )

    if not is_opened(model, conversions):
        return AsKeras3()
    names = tuple(f"{what} ({listed(layers)})" for what, layers in altered(conversions).items())
    return AsKeras3(opens=True, altered=names, compile_false=model.training is not None)


TRIED_LAYERS = 3_000
"""Layers of the outermost model; the largest of Keras's own applications has about 1,000 (NASNetLarge)."""


def _is_large(architecture: JsonObject | None) -> bool:
    return (
        architecture is not None
        and is_model(architecture)
        and len(read(architecture).layers) > TRIED_LAYERS
    )


def fixed_model(wrappers: Sequence[Wrapper], findings: Sequence[Finding]) -> str:
    """Return the model that weights alone load into once they are fixed, in words."""
    if not wrappers or Code.NEEDS_ARCHITECTURE() in findings:
        return "the model that was saved"
    outermost = wrappers[0]
    if outermost.scope == "head":
        return f"{outermost.template} with the layers that follow it"
    if outermost.scope == "embedded":
        return f"the larger model, with one call of {outermost.template}"
    return FLAT_TEMPLATE if Code.WEIGHTLESS_LEFT_OUT() in findings else TEMPLATE


def loading_facts(model: Stored, path: str, container: str, taker: str) -> dict[str, Any]:
    """Return what a report says of where a file loads. `taker`: the model that weights alone load into, in words."""
    return {
        "loads_in": loads_in(model, path, container),
        "load": load_line(model, path, container, taker),
        "does_not_load_in": does_not_load_in(model, container),
        "needs": needs(model),
    }


def describe_fix(source: Source, made: Plan) -> str | None:
    """Return what fix would do to a parallel model, in one sentence; None for a clean one."""
    if made.verdict == "clean":
        return None
    if made.refusal is not None:
        return f"unnest fix will refuse this: {made.refusal.message}"
    outermost, writes = made.wrappers[0], f"unnest fix writes {default_output_name(source)}"
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
    """Report what loading the file would run; with `output`, whether that still has it."""
    named = load_time_code.loaded_code(stored)
    if not named:
        return ()
    left = (
        [n for n in load_time_code.loaded_code(output) if n in named] if output is not None else []
    )
    fate = "none of it" if not left else "all of it" if len(left) == len(named) else listed(left)
    told = "" if output is None else f"; the output has {fate}"
    return (Code.STORED_CODE(what=listed(named), output=told),)
