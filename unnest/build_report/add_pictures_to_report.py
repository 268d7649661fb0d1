"""Pictures in a report: the drawing, and the view of a page with layers, weights and histograms.

Neither decides anything: the verdict follows from the plan. Each has a budget of its own, of the file's size, and is
missing where that does not last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from unnest.budget import OverBudget, limited_separately
from unnest.core.keras_facts import load_time_code
from unnest.core.make_plan import NotAGraph, assumptions_of
from unnest.core.model import Stored
from unnest.core.plan import Plan
from unnest.formats.container_interface import Source
from unnest.open_and_plan import budget_of
from unnest.options import FixOptions
from unnest.report.result import Inside, Report

if TYPE_CHECKING:
    from unnest.report.diagram.drawing import Drawing
    from unnest.report.page.model_view import ModelView, Side

T = TypeVar("T")
R = TypeVar("R", bound=Report)


def with_pictures(report: R, source: Source, plan: Plan, options: FixOptions) -> R:
    """Return the report with the drawing, the numbers and the view that the options ask for."""
    if options.parts.drawing:
        report = replace(
            report,
            drawing=_within_budget(source, options, partial(_drawing, source, plan, options)),
        )
        if options.parts.advice:
            report = replace(
                report,
                inside=_within_budget(source, options, partial(_inside, source, plan, options)),
            )
    if options.parts.view:
        report = replace(
            report, view=_within_budget(source, options, partial(_view, source, plan, options))
        )
    return report


def _within_budget(source: Source, options: FixOptions, make: Callable[[], T | None]) -> T | None:
    """Return the result of `make`, run with a budget of its own; None if that does not last or there is no graph."""
    try:
        with limited_separately(budget_of(source.path, trust=options.trust)):
            return make()
    except (OverBudget, NotAGraph, RecursionError):
        return None


def with_output_view(
    report: R, source: Source, plan: Plan, options: FixOptions, output: Stored
) -> R:
    """Return the report with the written model in its view, in place of the one that the plan makes."""
    if report.view is None:
        return report
    after = _within_budget(
        source, options, partial(_output_side, report.view, plan, options, output)
    )
    return report if after is None else replace(report, view=report.view._replace(after=after))


def _output_side(view: ModelView, plan: Plan, options: FixOptions, output: Stored) -> Side:
    """Return the written model, as a page shows it."""
    from unnest.report.diagram.drawing import draw_output
    from unnest.report.page.model_view import side

    model, figure = output.architecture, None
    if model is not None and view.before.figure is not None and plan.refusal is None:
        assumptions = assumptions_of(plan.stored, options.slice_layers)
        figure = draw_output(model, view.kept, assumptions, whole=True)
    return side(figure, output, model)


def _drawing(
    source: Source, plan: Plan, options: FixOptions, *, whole: bool = False
) -> Drawing | None:
    """Return the drawing of the stored or given graph, and of what the plan makes; None without a graph."""
    from unnest.report.diagram.drawing import draw

    before = source.stored.architecture or options.architecture
    after = plan.result and (
        plan.result.architecture or (plan.complete and plan.complete.architecture)
    )
    refusal = plan.refusal.message if plan.refusal is not None else None
    assumptions = assumptions_of(plan.stored, options.slice_layers)
    return draw(before, after or None, plan.wrappers, assumptions, refusal, whole=whole)


def _inside(source: Source, plan: Plan, options: FixOptions) -> Inside:
    """Return the numbers of the model that is stored, and the names that its code uses."""
    from unnest.report.page.model_view import side

    stored = plan.stored
    totals = side(None, stored, stored.architecture or options.architecture).totals
    code = tuple(load_time_code.names_in_code(stored.architecture))
    return Inside(
        totals.layers,
        totals.parameters,
        totals.inputs,
        totals.outputs,
        code,
        has_other_numbers=not totals.layers and not source.tells_parameters,
    )


def _view(source: Source, plan: Plan, options: FixOptions) -> ModelView | None:
    """Return the model before and after as a page shows it, with histograms of at most VALUES_READ bytes of weights."""
    from unnest.report.page.model_view import ModelView, side

    drawn, stored = _drawing(source, plan, options, whole=True), plan.stored
    after = (plan.complete or plan.result) if plan.verdict == "parallel" else None
    view = ModelView(
        side(drawn and drawn.before[0], stored, stored.architecture or options.architecture),
        None if after is None else side(drawn and drawn.after, after, after.architecture),
        plan.refusal.message if plan.refusal is not None else None,
        kept=drawn and drawn.kept,
    )
    return _with_histograms(view, source) if options.parts.values else view


#: Bytes of weights that are read for a page: the smallest weights first.
VALUES_READ = 16 << 20


def _with_histograms(view: ModelView, source: Source) -> ModelView:
    """Return the view with histograms of the smallest weights, up to VALUES_READ bytes."""
    import numpy as np

    from unnest.report.page.model_view import histogram

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


#: Kinds of NumPy's dtypes that a histogram is plan of.
HISTOGRAM_KINDS = "fiu"
