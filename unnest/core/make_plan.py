"""Stored model in, plan out: recognise, extract, place the weights, again until nothing is left."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from unnest.budget import memoizing
from unnest.core.architecture import (
    NotAGraph,
    is_broken_model,
    is_model,
    mapping_calls_as_lists,
    model_name,
)
from unnest.core.keras_facts.optimizer_classes import optimizer_class
from unnest.core.model import JsonObject, Stored
from unnest.core.plan import Choices, Plan, Refusal, Rewritten, clean_plan
from unnest.core.planning.join_weights_and_architecture import (
    mismatch,
    renamed_groups,
    with_architecture,
    without_layers,
    wrapper_around,
)
from unnest.core.planning.rewritten_model import KEEP_NESTED, dropped_tensors, with_output
from unnest.core.planning.weights_alone import plan_weights_alone
from unnest.core.rewrite import remove_all_wrappers
from unnest.core.rewrite.model_with_weights import ModelWithWeights
from unnest.core.rewrite.summarize_template import summarize_template
from unnest.core.weight_assignment.check_weights_fit_architecture import (
    check_architecture,
    check_list_order,
)
from unnest.core.weight_assignment.find_misplaced_weights import (
    misplaced_nested_model,
    model_with_weights_stored_once,
)
from unnest.core.weight_assignment.flat_list.reorder_frozen_lists import reorder_frozen_lists
from unnest.core.weight_assignment.layer_groups.divide_by_architecture import divide_parallel_groups
from unnest.core.weight_assignment.layer_groups.match_layer_groups import (
    groups_are_layers,
    groups_by_layer,
    layer_name_by_group,
)
from unnest.core.weight_assignment.layer_groups.match_renamed_layers import (
    models_counted_on,
    template_layers_by_order,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights
from unnest.core.wrappers.layer_graph.wrapper_records import Assumptions
from unnest.findings import Code, listed

NO_CHOICES = Choices()


@memoizing()
def plan(
    stored: Stored, *, architecture: JsonObject | None = None, choices: Choices = NO_CHOICES
) -> Plan:
    """Return the plan for a stored model.

    `architecture` is for weights alone: the parallel model's JSON or the single-device one's.

    Raises:
        NotAGraph: the layers of a model cannot be connected.

    """
    if stored.architecture is not None:
        today = mapping_calls_as_lists.with_calls_of_release(stored.architecture, stored.release)
        return _plan_model(stored._replace(architecture=today), choices)
    if architecture is not None:
        return _plan_weights_with(stored, architecture, choices)
    return clean_plan(stored) if stored.is_ours else plan_weights_alone(stored)


def _plan_model(stored: Stored, choices: Choices) -> Plan:
    """Plan a whole model: take its wrappers out, or say why not."""
    assert stored.architecture is not None
    optimizer = optimizer_class(stored.training)
    model = _graph_model(stored.architecture)
    if model is None:
        no_graph = Code.NO_GRAPH(what=str(stored.architecture.get("class_name")))
        return clean_plan(stored)._replace(optimizer=optimizer, findings=(no_graph,))
    if stored.is_ours:
        return clean_plan(stored)._replace(optimizer=optimizer)
    layer_names = layer_name_by_group(model, stored.groups)
    groups = {
        layer_names.get(g.name, g.name): LayerWeights(g.tensors, sorted_out=False)
        for g in stored.groups
    }
    start = ModelWithWeights(model, groups)
    unwrapped = remove_all_wrappers.unwrap_all(
        start, assumptions_of(stored, choices.slice_layers), keep_nested=choices.keep_nested
    )
    if not unwrapped.wrappers:
        return clean_plan(stored)._replace(optimizer=optimizer, near_misses=unwrapped.near_misses)
    parallel = Plan(
        verdict="parallel",
        stored=stored,
        wrappers=unwrapped.wrappers,
        template=unwrapped.template,
        optimizer=optimizer,
        findings=unwrapped.findings,
        near_misses=unwrapped.near_misses,
    )
    if unwrapped.refusal:
        is_advised = not choices.keep_nested and _loads_if_nested(parallel, start, choices)
        why = unwrapped.refusal + (KEEP_NESTED if is_advised else "")
        return parallel._replace(refusal=Refusal("weights-ambiguous", why))
    return with_output(parallel, start, unwrapped)


def assumptions_of(stored: Stored, slice_layers: Collection[str]) -> Assumptions:
    """Return what recognition takes for granted in a file: the caller's `slice_layers`, and whose Keras wrote it."""
    return Assumptions(slice_layers, in_tensorflow=not stored.is_standalone)


def _loads_if_nested(parallel: Plan, start: ModelWithWeights, choices: Choices) -> bool:
    """Return True if the template can stay a nested model, and Keras finds its weights again where they are."""
    unwrapped = remove_all_wrappers.unwrap_all(
        start, assumptions_of(parallel.stored, choices.slice_layers), keep_nested=True
    )
    if unwrapped.refusal:
        return False
    output = with_output(parallel, start, unwrapped).output
    return isinstance(output, Rewritten) and not (
        misplaced_nested_model(output.model) or model_with_weights_stored_once(output.model)
    )


def _graph_model(architecture: JsonObject) -> JsonObject | None:
    """Return the architecture if it is a graph of layers; None for a subclassed model.

    Raises NotAGraph where a list of layers holds something else.
    """
    if is_broken_model(architecture):
        raise NotAGraph(
            f"{model_name(architecture)!r} has an entry in its layers that is not a layer"
        )
    return architecture if is_model(architecture) else None


def _plan_weights_with(stored: Stored, architecture: JsonObject, choices: Choices) -> Plan:
    """Return the plan for weights with a given architecture: the parallel model's, or the single-device one's."""
    if not is_model(architecture):
        return without_layers(stored, architecture)
    template = _other_template(stored, architecture, choices)
    if template is not None and groups_are_layers(stored.groups, template):
        architecture = template
    named, by_order = stored, tuple[str, ...]()
    if not groups_are_layers(stored.groups, architecture):
        try:
            renamed = renamed_groups(stored.groups, architecture, template)
        except Ambiguous as doubt:
            return mismatch(stored, f"{doubt}")
        if renamed is not None:
            (groups, by_order), architecture = renamed
            named = stored._replace(groups=groups)
    weights_plan = _plan_named(named, architecture, choices)._replace(stored=stored)
    if weights_plan.refusal is not None:
        return weights_plan
    if weights_plan.verdict == "clean":
        weights_plan = weights_plan._replace(output=Rewritten(stored))
        if groups_are_layers(named.groups, architecture):
            grouped = groups_by_layer(named.groups, architecture)
            try:
                nested = models_counted_on(grouped, architecture)
            except Ambiguous as doubt:
                return mismatch(stored, f"{doubt}")
            by_order = tuple(dict.fromkeys((*by_order, *nested)))
    return _with_by_order(weights_plan, by_order)


def _plan_named(stored: Stored, architecture: JsonObject, choices: Choices) -> Plan:
    """Return the plan for weights under the names that the architecture has, or of a parallel model of it."""
    relisted = reorder_frozen_lists(stored.groups, architecture)
    listed_weights = stored._replace(groups=relisted.weights)
    weights_plan = _plan_listed(listed_weights, architecture, choices)
    if weights_plan.refusal is not None:
        return mismatch(stored, relisted.doubt) if relisted.doubt else weights_plan
    if relisted.groups:
        otherwise = Code.FROZEN_OTHERWISE(models=listed(relisted.groups))
        weights_plan = weights_plan._replace(findings=(*weights_plan.findings, otherwise))
    complete = _completed(listed_weights, architecture, weights_plan, choices)
    weights_plan = weights_plan._replace(complete=complete)
    is_of_template = not groups_are_layers(stored.groups, architecture)
    if is_of_template or weights_plan.verdict == "clean" or complete is None:
        return weights_plan
    assert complete.architecture is not None
    try:
        by_order = template_layers_by_order(complete.groups, stored.groups, complete.architecture)
        check_list_order(listed_weights.groups, complete.groups, complete.architecture)
    except Ambiguous as doubt:
        return mismatch(stored, f"{doubt}")
    return _with_by_order(weights_plan, by_order)


def _with_by_order(weights_plan: Plan, layers: Sequence[str]) -> Plan:
    """Return the plan with the finding on layers that order alone placed, if there are any."""
    if not layers:
        return weights_plan
    return weights_plan._replace(
        findings=(*weights_plan.findings, Code.BY_ORDER(layers=listed(layers)))
    )


def _plan_listed(stored: Stored, architecture: JsonObject, choices: Choices) -> Plan:
    """Return the plan for weights whose lists are in the order of the architecture, as far as names show it."""
    if groups_are_layers(stored.groups, architecture):
        try:
            check_architecture(groups_by_layer(stored.groups, architecture), architecture)
        except Ambiguous as doubt:
            return mismatch(stored, f"{doubt}")
        return _plan_model(stored._replace(architecture=architecture), choices)
    try:
        groups, by_order = divide_parallel_groups(stored.groups, architecture)
        check_architecture(groups, architecture)
        check_list_order(stored.groups, groups, architecture)
    except Ambiguous as doubt:
        return mismatch(stored, f"{doubt}")
    of_template = stored._replace(architecture=architecture, groups=groups)
    template_plan = _plan_model(of_template, choices)
    wrapper = wrapper_around(stored, model_name(architecture))
    result = template_plan.result or of_template._replace(architecture=None)
    wrappers = (wrapper, *(w._replace(depth=w.depth + 1) for w in template_plan.wrappers))
    template = template_plan.template or summarize_template(
        architecture, LayerWeights(tuple(t for g in groups for t in g.tensors))
    )
    whole = template_plan._replace(
        verdict="parallel",
        wrappers=wrappers,
        template=template,
        output=None if template_plan.refusal else Rewritten(result),
        dropped=dropped_tensors(stored, result),
    )
    return _with_by_order(whole, by_order)


def _other_template(
    stored: Stored, architecture: JsonObject, choices: Choices
) -> JsonObject | None:
    """Return the architecture of the template of a parallel model of which these are not the groups by name.

    None if they are, or if the architecture is of no parallel model.
    """
    if groups_are_layers(stored.groups, architecture):
        return None
    return template_in(architecture, choices, stored.keras_version)


def template_in(
    architecture: JsonObject, choices: Choices, keras_version: str | None = None
) -> JsonObject | None:
    """Return the architecture that `fix` makes of a parallel model's; None if it makes none.

    Raises:
        NotAGraph: the layers of the model cannot be connected.

    """
    result = _plan_model(
        Stored("architecture", architecture, keras_version=keras_version), choices
    ).result
    if result is None or result.architecture is None:
        return None
    versions = {k: architecture[k] for k in ("keras_version", "backend") if k in architecture}
    return {**result.architecture, **versions}


def _completed(
    stored: Stored, architecture: JsonObject, weights_plan: Plan, choices: Choices
) -> Stored | None:
    """Return the clean model that weights make with the architecture given for them; None without one.

    None where the plan for the weights refuses them, or where the architecture holds wrappers that the weights' own
    groups do not show.
    """
    if weights_plan.refusal is not None or not is_model(architecture):
        return None
    if groups_are_layers(stored.groups, architecture):
        complete = with_architecture(stored, architecture)
        complete_plan = plan(complete, choices=choices)
        return complete if complete_plan.output is None else complete_plan.output.model
    if weights_plan.result is None:
        return None
    complete_plan = plan(with_architecture(weights_plan.result, architecture, versions_of=stored))
    if complete_plan.verdict != "clean" or complete_plan.output is None:
        return None
    return complete_plan.output.model


__all__ = ["NotAGraph", "plan", "without_layers"]
