"""Stored model in, plan out: recognise, extract, place the weights, again until nothing is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from unnest.core.architecture import (
    NotAGraph,
    as_saved_at_top_level,
    is_broken_model,
    is_model,
    mapping_calls_as_lists,
    model_name,
    read,
)
from unnest.core.keras_facts.optimizer_classes import keeps_state_by_weight_name, optimizer_class
from unnest.core.keras_facts.weight_shape_check import shape_contradiction
from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.core.plan import Choices, Plan, Refusal, Rewritten
from unnest.core.recognition_results import Template, Wrapper
from unnest.core.rewrite import unwrap
from unnest.core.rewrite.model_with_weights import ModelWithWeights
from unnest.core.rewrite.template_extraction import with_module_of_release
from unnest.core.rewrite.template_summary import summarize_template
from unnest.core.rewrite.template_training_config import rename_outputs, reorder_optimizer_state
from unnest.core.weight_assignment.flat_list_division import divide_flat_list
from unnest.core.weight_assignment.frozen_list_reordering import reorder_frozen_lists
from unnest.core.weight_assignment.layer_weights import Ambiguous, LayerWeights
from unnest.core.weight_assignment.match_layer_groups import (
    as_listed,
    group_names,
    grouped_layers,
    layer_name_by_group,
    with_plain_weight_names,
    without_operations,
)
from unnest.core.weight_assignment.renamed_layers import (
    NOT_ITS_LAYERS,
    RenamedGroups,
    rename_groups,
    template_layers_by_order,
)
from unnest.core.weight_assignment.split_by_architecture import divide_parallel_groups
from unnest.core.weight_assignment.weight_checks import check_architecture, check_list_order
from unnest.core.wrappers import wrapper_in_weight_names
from unnest.findings import Code, listed

NO_CHOICES = Choices()

KEEP_NESTED = "--keep-nested keeps the template as a nested model, its weights in the order in which they were saved"


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
    return _clean(stored) if stored.is_ours else _plan_weights_alone(stored)


def _clean(stored: Stored) -> Plan:
    """Return the plan for a model that stays as it is."""
    return Plan(verdict="clean", stored=stored, output=Rewritten(stored))


def _plan_model(stored: Stored, choices: Choices) -> Plan:
    """Plan a whole model: take its wrappers out, or say why not."""
    assert stored.architecture is not None
    optimizer = optimizer_class(stored.training)
    model = _graph_model(stored.architecture)
    if model is None:
        no_graph = Code.NO_GRAPH(what=str(stored.architecture.get("class_name")))
        return _clean(stored)._replace(optimizer=optimizer, findings=(no_graph,))
    if stored.is_ours:
        return _clean(stored)._replace(optimizer=optimizer)
    layer_names = layer_name_by_group(model, stored.groups)
    groups = {
        layer_names.get(g.name, g.name): LayerWeights(g.tensors, sorted_out=False)
        for g in stored.groups
    }
    start = ModelWithWeights(model, groups)
    unwrapped = unwrap.unwrap_all(
        start, keep_nested=choices.keep_nested, slice_layers=choices.slice_layers
    )
    if not unwrapped.wrappers:
        return _clean(stored)._replace(optimizer=optimizer, near_misses=unwrapped.near_misses)
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
        return parallel._replace(
            refusal=Refusal("weights-ambiguous", f"{unwrapped.refusal}; {KEEP_NESTED}")
        )
    return _with_output(parallel, start, unwrapped)


def _graph_model(architecture: JsonObject) -> JsonObject | None:
    """Return the architecture if it is a graph of layers; None for a subclassed model.

    Raises NotAGraph where a list of layers holds something else.
    """
    if is_broken_model(architecture):
        raise NotAGraph(
            f"{model_name(architecture)!r} has an entry in its layers that is not a layer"
        )
    return architecture if is_model(architecture) else None


def _with_output(parallel: Plan, start: ModelWithWeights, unwrapped: unwrap.Unwrapped) -> Plan:
    """Return the plan with its output: the model without the wrappers, and everything else in the file."""
    stored, left = parallel.stored, unwrapped.left
    state = _optimizer_state(stored, unwrapped)
    if stored.optimizer and state is None:
        no_state = Code.OPTIMIZER_DROPPED(why="its order does not follow from the file")
        parallel = parallel._replace(findings=(*parallel.findings, no_state))
    groups = _groups(left, layer_name_by_group(start.model, stored.groups)) if stored.groups else ()
    if stored.is_keras_3:
        groups = tuple(
            as_listed(group, left.model) for group in without_operations(groups, left.model)
        )
    groups = tuple(with_plain_weight_names(group) for group in groups)
    if wrong := _wrong_shapes(left):
        return parallel._replace(refusal=Refusal("weights-unplaced", wrong))
    result = stored._replace(
        architecture=_architecture(stored, start.model, unwrapped)
        if stored.contents != "weights"
        else None,
        training=rename_outputs(stored.training, unwrapped.outputs),
        groups=groups,
        optimizer=state,
    )
    dropped = _dropped(stored, result)
    staying = {t.ref for g in stored.groups if g.name not in unwrapped.removed for t in g.tensors}
    lost = {t.ref for t in dropped} & staying
    if lost:
        why = f"{len(lost)} tensors would be lost, {min(lost)} among them"
        return parallel._replace(refusal=Refusal("weights-unplaced", f"{why}; {KEEP_NESTED}"))
    return parallel._replace(output=Rewritten(result), dropped=dropped)


def _architecture(stored: Stored, before: JsonObject, unwrapped: unwrap.Unwrapped) -> JsonObject:
    """Return the architecture that is left, as the writing release stores it.

    The JSON of a compiled model of Keras 3 has its compile settings in it, and empty ones of the models within.
    """
    after = with_module_of_release(
        as_saved_at_top_level(before, unwrapped.left.model), stored.release
    )
    settings = before.get("compile_config")
    if not isinstance(settings, Mapping) or not settings:
        return after
    return {
        **after,
        "compile_config": rename_outputs(settings, unwrapped.outputs),
    }


def _optimizer_state(stored: Stored, unwrapped: unwrap.Unwrapped) -> tuple[Tensor, ...] | None:
    """Return the optimizer's state in the order of the layers that are left; None if that order is not known.

    Where it is sorted by the weights' names, these stay.
    """
    if not stored.optimizer or not unwrapped.moved or keeps_state_by_weight_name(stored.release):
        return stored.optimizer
    after = unwrapped.left.trained_in_order()
    if after is None:
        return None
    trained = {t.ref for t in after}
    before = [t for g in stored.groups for t in g.tensors if t.ref in trained]
    return reorder_optimizer_state(stored.optimizer, before, after)


def _wrong_shapes(left: ModelWithWeights) -> str | None:
    """Return which layer's weights cannot be its own, by their shapes, in nested models too; None if all fit."""
    pending: list[tuple[JsonObject, Mapping[str, LayerWeights]]] = [(left.model, left.by_layer())]
    for model, shares in pending:
        layers = read(model).layers
        for name, share in shares.items():
            layer = layers.get(name)
            if layer is not None and (
                why := shape_contradiction(layer, [t.shape for t in share.tensors])
            ):
                return f"{name}: {why}; the file is damaged, or its weights are another model's"
            if layer is not None and layer.is_model and share.tensors:
                with suppress(Ambiguous):
                    pending.append(
                        (layer.stored, divide_flat_list(share.tensors, read(layer.stored)))
                    )
    return None


def _groups(left: ModelWithWeights, layer_names: Mapping[str, str]) -> tuple[Group, ...]:
    """Return a group per layer, under its name in the file if the JSON has none."""
    shares, names = left.by_layer(), group_names(left.model)
    if not read(left.model).sequential or len(shares) < len(names):
        return tuple(Group(name, shares[name].tensors if name in shares else ()) for name in names)
    # The layers of a Sequential without names in the JSON count by their places: the last ones have weights.
    stored_names = {name: group for group, name in layer_names.items()}
    names_with_share = list(shares)[len(shares) - len(names) :]
    return tuple(
        Group(stored_names.get(name, name), shares[name].tensors) for name in names_with_share
    )


def _dropped(before: Stored, after: Stored) -> tuple[Tensor, ...]:
    """Return the tensors, of weights and optimizer state, that `after` no longer holds."""
    kept_refs = {t.ref for t in after.tensors}
    return tuple(t for t in before.tensors if t.ref not in kept_refs)


def _plan_weights_with(stored: Stored, architecture: JsonObject, choices: Choices) -> Plan:
    """Return the plan for weights with a given architecture: the parallel model's, or the single-device one's."""
    if not is_model(architecture):
        return without_layers(stored, architecture)
    template = _other_template(stored, architecture, choices)
    if template is not None and _groups_are_layers(stored.groups, template):
        architecture = template
    named, by_order = stored, tuple[str, ...]()
    if not _groups_are_layers(stored.groups, architecture):
        try:
            renamed = _renamed_groups(stored.groups, architecture, template)
        except Ambiguous as doubt:
            return _mismatch(stored, f"{doubt}")
        if renamed is not None:
            (groups, by_order), architecture = renamed
            named = stored._replace(groups=groups)
    weights_plan = _plan_named(named, architecture, choices)._replace(stored=stored)
    if weights_plan.refusal is not None:
        return weights_plan
    if weights_plan.verdict == "clean":
        weights_plan = weights_plan._replace(output=Rewritten(stored))
    return _with_by_order(weights_plan, by_order)


def _plan_named(stored: Stored, architecture: JsonObject, choices: Choices) -> Plan:
    """Return the plan for weights under the names that the architecture has, or of a parallel model of it."""
    relisted = reorder_frozen_lists(stored.groups, architecture)
    listed_weights = stored._replace(groups=relisted.weights)
    weights_plan = _plan_listed(listed_weights, architecture, choices)
    if weights_plan.refusal is not None:
        return _mismatch(stored, relisted.doubt) if relisted.doubt else weights_plan
    if relisted.groups:
        otherwise = Code.FROZEN_OTHERWISE(models=listed(relisted.groups))
        weights_plan = weights_plan._replace(findings=(*weights_plan.findings, otherwise))
    complete = _completed(listed_weights, architecture, weights_plan, choices)
    weights_plan = weights_plan._replace(complete=complete)
    is_of_template = not _groups_are_layers(stored.groups, architecture)
    if is_of_template or weights_plan.verdict == "clean" or complete is None:
        return weights_plan
    assert complete.architecture is not None
    try:
        by_order = template_layers_by_order(complete.groups, stored.groups, complete.architecture)
        check_list_order(listed_weights.groups, complete.groups, complete.architecture)
    except Ambiguous as doubt:
        return _mismatch(stored, f"{doubt}")
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
    if _groups_are_layers(stored.groups, architecture):
        try:
            check_architecture(_layer_groups(stored.groups, architecture), architecture)
        except Ambiguous as doubt:
            return _mismatch(stored, f"{doubt}")
        return _plan_model(stored._replace(architecture=architecture), choices)
    try:
        groups, by_order = divide_parallel_groups(stored.groups, architecture)
        check_architecture(groups, architecture)
        check_list_order(stored.groups, groups, architecture)
    except Ambiguous as doubt:
        return _mismatch(stored, f"{doubt}")
    of_template = stored._replace(architecture=architecture, groups=groups)
    template_plan = _plan_model(of_template, choices)
    wrapper = _wrapper_around(stored, model_name(architecture))
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
        dropped=_dropped(stored, result),
    )
    return _with_by_order(whole, by_order)


def _other_template(
    stored: Stored, architecture: JsonObject, choices: Choices
) -> JsonObject | None:
    """Return the architecture of the template of a parallel model of which these are not the groups by name.

    None if they are, or if the architecture is of no parallel model.
    """
    if _groups_are_layers(stored.groups, architecture):
        return None
    return template_in(architecture, choices, stored.keras_version)


def _renamed_groups(
    groups: Sequence[Group], architecture: JsonObject, template: JsonObject | None
) -> tuple[RenamedGroups, JsonObject] | None:
    """Return groups under the names of layers that were renamed since, and the architecture, or template, of these.

    None for the groups of a parallel model whose single-device model is given. Raises Ambiguous.
    """
    is_of_one_layer = sum(1 for group in groups if group.tensors) == 1
    is_parallel = wrapper_in_weight_names.find(groups) is not None
    if template is None and (is_parallel or is_of_one_layer):
        return None
    if template is not None:
        if not is_parallel and not is_of_one_layer:
            with suppress(Ambiguous):
                return rename_groups(groups, template), template
        # The layers of a wrapper have no weights: that the file has them shows in its list of all layers alone.
        lists_all = any(not group.tensors for group in groups)
        if lists_all and len(groups) != len(group_names(architecture)):
            raise Ambiguous(NOT_ITS_LAYERS)
    return rename_groups(groups, architecture), architecture


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


def _groups_are_layers(groups: Sequence[Group], architecture: JsonObject) -> bool:
    """Return True if groups of weights are an architecture's layers: by name, or by place if an entry has no name.

    (Keras before 2.2.3 stored a Sequential in another as a bare list, and its weights under the name that it had.)
    """
    graph = read(architecture)
    if {g.name for g in groups} <= grouped_layers(architecture).keys():
        return True
    names = group_names(architecture)
    return (
        graph.sequential
        and len(names) == len(groups)
        and all(
            g.name == name or not isinstance(graph.layers[name].stored.get("config"), Mapping)
            for g, name in zip(groups, names, strict=True)
        )
    )


def _layer_groups(groups: Sequence[Group], architecture: JsonObject) -> list[Group]:
    """Return the groups under the names that the graph has for their layers."""
    names = layer_name_by_group(architecture, groups)
    return [group._replace(name=names.get(group.name, group.name)) for group in groups]


def _completed(
    stored: Stored, architecture: JsonObject, weights_plan: Plan, choices: Choices
) -> Stored | None:
    """Return the clean model that weights make with the architecture given for them; None without one.

    None where the plan for the weights refuses them, or where the architecture holds wrappers that the weights' own
    groups do not show.
    """
    if weights_plan.refusal is not None or not is_model(architecture):
        return None
    if _groups_are_layers(stored.groups, architecture):
        complete = _with_architecture(stored, architecture)
        complete_plan = plan(complete, choices=choices)
        return complete if complete_plan.output is None else complete_plan.output.model
    if weights_plan.result is None:
        return None
    complete_plan = plan(_with_architecture(weights_plan.result, architecture, versions_of=stored))
    if complete_plan.verdict != "clean" or complete_plan.output is None:
        return None
    return complete_plan.output.model


def _with_architecture(
    weights: Stored, architecture: JsonObject, versions_of: Stored | None = None
) -> Stored:
    """Return weights as a model of this architecture; versions are those of its file, else those in the JSON."""
    given = {
        k: v for k in ("keras_version", "backend") if isinstance(v := architecture.get(k), str)
    }
    if "module" in architecture and not given:
        given = {"keras_version": "3.x"}  # Keras 3's JSON has no version
    file = versions_of or weights
    return weights._replace(
        contents="model",
        architecture={
            k: v for k, v in architecture.items() if k not in ("keras_version", "backend")
        },
        keras_version=file.keras_version or given.get("keras_version"),
        backend=file.backend or given.get("backend"),
    )


def without_layers(stored: Stored, architecture: JsonObject) -> Plan:
    """Return the plan for weights with the architecture of a class that keeps its layers in code."""
    why = (
        f"the architecture given lists no layers, which {architecture.get('class_name')} keeps in its code; "
        "pass that of the template, the model which is called on every part"
    )
    return Plan(verdict="clean", stored=stored, refusal=Refusal("architecture-mismatch", why))


def _mismatch(stored: Stored, why: str) -> Plan:
    hint = "pass the JSON of the model that was saved (the same layers frozen), or of the single-device model in it"
    return Plan(
        verdict="clean", stored=stored, refusal=Refusal("architecture-mismatch", f"{why}; {hint}")
    )


def _wrapper_around(stored: Stored, template: str) -> Wrapper:
    """Return the wrapper around the one layer that holds all weights; if several do, by their names."""
    by_names = wrapper_in_weight_names.find(stored.groups)
    if by_names:
        return _wrapper_by_names(by_names)
    evidence = (f"one layer holds all weights of {template}, whose architecture was given",)
    group = next(g for g in stored.groups if g.tensors)
    return Wrapper(None, group.name, None, "whole", (), 0, "likely", evidence)


def _wrapper_by_names(by_names: wrapper_in_weight_names.WrapperByNames) -> Wrapper:
    return Wrapper(
        None,
        by_names.template,
        by_names.towers,
        "whole",
        by_names.merge,
        0,
        "likely",
        by_names.evidence,
    )


def _plan_weights_alone(stored: Stored) -> Plan:
    """Plan for weights without an architecture: only names and order of the groups can show a wrapper."""
    by_names = wrapper_in_weight_names.find(stored.groups)
    if by_names is None:
        may_be_parallel = wrapper_in_weight_names.is_doubtful(stored.groups)
        return _clean(stored)._replace(
            findings=(Code.NEEDS_ARCHITECTURE(),) if may_be_parallel else ()
        )
    parallel = Plan(
        verdict="parallel",
        stored=stored,
        wrappers=(_wrapper_by_names(by_names),),
        template=Template(
            None, by_names.inputs, len(by_names.merge), None, sum(t.size for t in by_names.tensors)
        ),
        findings=(Code.NAMES_ALONE(merge=", ".join(by_names.merge)),)
        if by_names.has_own_merge_names
        else (),
    )
    try:
        groups = wrapper_in_weight_names.groups_of(by_names, is_standalone=stored.is_standalone)
    except Ambiguous as doubt:
        return parallel._replace(
            refusal=Refusal("needs-architecture", f"{doubt}; pass --architecture MODEL.json")
        )
    unstored = ", ".join(wrapper_in_weight_names.unstored_names(groups))
    named = (Code.NAMED_BY_COUNT(layers=unstored),) if unstored else ()
    findings = (*parallel.findings, Code.WEIGHTLESS_LEFT_OUT(), *named)
    return parallel._replace(findings=findings, output=Rewritten(stored._replace(groups=groups)))


__all__ = ["NotAGraph", "plan", "without_layers"]
