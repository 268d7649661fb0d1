"""Stored model in, plan out: recognise, extract, place the weights, again until nothing is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from unnest.core.architecture import (
    NotAGraph,
    compile_config,
    is_broken_model,
    is_input,
    is_model,
    model_name,
    read,
    renumber_shared_objects,
)
from unnest.core.assign.flat_list import Ambiguous, Share, placed_by_order, split
from unnest.core.keras_facts.weight_shapes import contradiction
from unnest.core.model import (
    Anew,
    Choices,
    Group,
    JsonObject,
    Plan,
    Refusal,
    Stored,
    Template,
    Tensor,
    Wrapper,
)
from unnest.core.recognise import weight_names
from unnest.core.rewrite import unwrap
from unnest.findings import Code, listed

NO_CHOICES = Choices()

KEEP_NESTED = "--keep-nested keeps the template as a nested model, whatever order its weights are in"


def plan(stored: Stored, *, architecture: JsonObject | None = None, choices: Choices = NO_CHOICES) -> Plan:
    """What shall become of a stored model.

    `architecture` is for weights alone: the parallel model's JSON or its template's. Raises NotAGraph where a graph
    does not add up.
    """
    if stored.architecture is not None:
        return _of_graph(stored, choices)
    if architecture is not None:
        made = replace(_of_weights_with(stored, architecture, choices), stored=stored)
        if made.verdict == "clean" and made.refusal is None:
            made = replace(made, output=Anew(stored))
        return replace(made, complete=_completed(stored, architecture, made, choices))
    if stored.is_ours:
        return _clean(stored)
    return _of_bare_weights(stored)


def _clean(stored: Stored, **told: Any) -> Plan:  # noqa: ANN401 - what else a Plan says
    """The plan for a model that stays as it is."""
    return Plan(verdict="clean", stored=stored, output=Anew(stored), **told)


def _of_graph(stored: Stored, choices: Choices) -> Plan:
    assert stored.architecture is not None
    optimizer = compile_config.optimizer_class(stored.training)
    model = _checked(stored.architecture)
    if model is None:
        return _clean(stored, optimizer=optimizer, findings=(Code.NO_GRAPH(what=_class_of(stored.architecture)),))
    known = _known_by(model, stored)
    start = unwrap.Level(model, {known.get(g.name, g.name): Share(g.tensors, sorted_out=False) for g in stored.groups})
    done = unwrap.everything(start, keep_nested=choices.keep_nested, slice_layers=choices.slice_layers)
    if not done.wrappers:
        return _clean(stored, optimizer=optimizer, near_misses=done.near_misses)
    parallel = Plan(
        verdict="parallel", stored=stored, wrappers=done.wrappers, template=done.template, optimizer=optimizer,
        findings=done.findings, near_misses=done.near_misses,
    )  # fmt: skip
    if done.refusal:
        return replace(parallel, refusal=Refusal("weights-ambiguous", f"{done.refusal}; {KEEP_NESTED}"))
    return _carried(parallel, start, done)


def _class_of(architecture: JsonObject) -> str:
    return str(architecture.get("class_name"))


def _checked(architecture: JsonObject) -> JsonObject | None:
    """The architecture, if it is a graph of layers; None for a model that keeps its layers in code.

    Raises NotAGraph where a list of layers holds something else.
    """
    if is_broken_model(architecture):
        raise NotAGraph(f"{model_name(architecture)!r} lists something as a layer that is none")
    return architecture if is_model(architecture) else None


def _carried(parallel: Plan, start: unwrap.Level, done: unwrap.Done) -> Plan:
    """The plan with its output: the model without the wrappers, and everything else that the file holds."""
    stored, state = parallel.stored, parallel.stored.optimizer
    if state and done.moved:
        after = unwrap.trained_in_order(done.level)
        trained = {t.ref for t in after or ()}
        before = [t for g in stored.groups for t in g.tensors if t.ref in trained]
        state = None if after is None else compile_config.reordered(state, before, after)
        if state is None:
            lost_state = Code.OPTIMIZER_DROPPED(why="its order does not follow from the file")
            parallel = replace(parallel, findings=(*parallel.findings, lost_state))
    groups = _groups(done.level, _known_by(start.model, stored)) if stored.groups else ()
    if wrong := _wrong_shapes(done.level):
        return replace(parallel, refusal=Refusal("weights-unplaced", wrong))
    result = stored._replace(
        architecture=renumber_shared_objects(start.model, done.level.model) if stored.contents != "weights" else None,
        training=compile_config.with_output_names(stored.training, done.outputs),
        groups=groups,
        optimizer=state,
    )
    dropped = _dropped(stored, result)
    lost = {t.ref for t in dropped} & {t.ref for g in stored.groups if g.name not in done.removed for t in g.tensors}
    if lost:
        why = f"{len(lost)} tensors would be lost, {min(lost)} among them"
        return replace(parallel, refusal=Refusal("weights-unplaced", f"{why}; {KEEP_NESTED}"))
    return replace(parallel, output=Anew(result), dropped=dropped)


def _wrong_shapes(level: unwrap.Level) -> str | None:
    """Which layer's weights cannot be its own, by their shapes."""
    layers = read(level.model).layers
    for name, share in level.by_layer().items():
        if name in layers and (why := contradiction(layers[name], [t.shape for t in share.tensors])):
            return f"{name}: {why}; the file is damaged, or its weights are another model's"
    return None


def _group_names(model: JsonObject) -> list[str]:
    """The layers that get a group: a Sequential does not count its input layer among its own."""
    graph = read(model)
    return [n for n, layer in graph.layers.items() if not (graph.sequential and is_input(layer.stored))]


def _known_by(model: JsonObject, stored: Stored) -> dict[str, str]:
    """By which name the graph knows each group: an old Sequential's entry in another has no name in the JSON."""
    names = _group_names(model)
    in_place = read(model).sequential and len(names) == len(stored.groups)
    return {group.name: name for group, name in zip(stored.groups, names, strict=False)} if in_place else {}


def _groups(level: unwrap.Level, known: Mapping[str, str]) -> tuple[Group, ...]:
    """A group per layer, under the name that the file knows it by where the JSON has none."""
    shares, names = level.by_layer(), _group_names(level.model)
    if not read(level.model).sequential or len(shares) < len(names):
        return tuple(Group(name, shares[name].tensors if name in shares else ()) for name in names)
    stored_as = {name: group for group, name in known.items()}
    held = list(shares)[len(shares) - len(names) :]
    return tuple(Group(stored_as.get(name, name), shares[name].tensors) for name in held)


def _dropped(before: Stored, after: Stored) -> tuple[Tensor, ...]:
    kept = {t.ref for g in after.groups for t in g.tensors} | {t.ref for t in after.optimizer or ()}
    everything = [t for g in before.groups for t in g.tensors] + list(before.optimizer or ())
    return tuple(t for t in everything if t.ref not in kept)


def _of_weights_with(stored: Stored, architecture: JsonObject, choices: Choices) -> Plan:
    """Weights whose architecture was kept apart: the parallel model's, or the template's."""
    if not is_model(architecture):
        return _mismatch(stored, "the architecture given is not a graph of layers")
    graph = read(architecture)
    weighted = [g for g in stored.groups if g.tensors]
    if _are_layers(stored.groups, architecture):
        return _of_graph(stored._replace(architecture=architecture), choices)
    if len(weighted) != 1:
        return _mismatch(stored, "the layers of the architecture given are not those of the weights")
    try:
        shares = split(weighted[0].tensors, graph)
        by_order = placed_by_order(shares, graph)
    except Ambiguous as doubt:
        return _mismatch(stored, f"{doubt}")
    inner = tuple(Group(name, shares[name].tensors) for name in _group_names(architecture))
    of_template = stored._replace(architecture=architecture, groups=inner)
    rest = _of_graph(of_template, choices)
    outer = _bare_wrapper(stored, model_name(architecture))
    result = rest.result or of_template._replace(architecture=None)
    wrappers = (outer, *(w._replace(depth=w.depth + 1) for w in rest.wrappers))
    template = rest.template or unwrap.template_of(architecture, Share(weighted[0].tensors))
    return replace(
        rest, verdict="parallel", wrappers=wrappers, template=template,
        output=None if rest.refusal else Anew(result), dropped=_dropped(stored, result),
        findings=(*rest.findings, *((Code.BY_ORDER(layers=listed(by_order)),) if by_order else ())),
    )  # fmt: skip


def _are_layers(groups: Sequence[Group], architecture: JsonObject) -> bool:
    """Whether groups of weights are an architecture's layers: by name, or by place where an entry has none.

    (Keras before 2.2.3 stored a Sequential in another as a bare list, and its weights under the name that it had.)
    """
    graph = read(architecture)
    if {g.name for g in groups} <= set(graph.layers):
        return True
    names = _group_names(architecture)
    return (
        graph.sequential
        and len(names) == len(groups)
        and all(
            g.name == name or not isinstance(graph.layers[name].stored.get("config"), Mapping)
            for g, name in zip(groups, names, strict=True)
        )
    )


def _completed(stored: Stored, architecture: JsonObject, made: Plan, choices: Choices) -> Stored | None:
    """The clean model that weights make with the architecture that was given for them.

    `made` is the plan for the weights; None where it was refused, or where the architecture holds wrappers that the
    weights' own groups do not show.
    """
    if made.refusal is not None or not is_model(architecture):
        return None
    bare = {k: v for k, v in architecture.items() if k not in ("keras_version", "backend")}
    told = {k: v for k in ("keras_version", "backend") if isinstance(v := architecture.get(k), str)}
    if "module" in architecture and not told:
        told = {"keras_version": "3.x"}  # Keras 3's JSON has no version
    versions = {k: getattr(stored, k) or told.get(k) for k in ("keras_version", "backend")}
    if _are_layers(stored.groups, architecture):
        whole = stored._replace(contents="model", architecture=bare, **versions)  # type: ignore[arg-type]
        return plan(whole, choices=choices).result or whole
    if made.result is None:
        return None
    whole = made.result._replace(contents="model", architecture=bare, **versions)  # type: ignore[arg-type]
    return whole if plan(whole).verdict == "clean" else None


def _mismatch(stored: Stored, why: str) -> Plan:
    hint = "pass the JSON of the model that was saved, or of its template"
    return Plan(verdict="clean", stored=stored, refusal=Refusal("architecture-mismatch", f"{why}; {hint}"))


def _bare_wrapper(stored: Stored, template: str) -> Wrapper:
    seen = weight_names.find(stored.groups)
    if seen:
        return Wrapper(None, seen.template, seen.towers, "whole", seen.merge, 0, "likely", seen.evidence)
    told = (f"one layer holds all weights of {template}, whose architecture was given",)
    weighted = next(g for g in stored.groups if g.tensors)
    return Wrapper(None, weighted.name, None, "whole", (), 0, "likely", told)


def _of_bare_weights(stored: Stored) -> Plan:
    seen = weight_names.find(stored.groups)
    if seen is None:
        doubtful = weight_names.is_doubtful(stored.groups)
        return _clean(stored, findings=(Code.NEEDS_ARCHITECTURE(),) if doubtful else ())
    parallel = Plan(
        verdict="parallel", stored=stored,
        wrappers=(Wrapper(None, seen.template, seen.towers, "whole", seen.merge, 0, "likely", seen.evidence),),
        template=Template(None, seen.inputs, len(seen.merge), None, sum(t.size for t in seen.tensors)),
        findings=(Code.NAMES_ALONE(merge=", ".join(seen.merge)),) if seen.merges_by_class else (),
    )  # fmt: skip
    try:
        groups = weight_names.groups_of(seen)
    except Ambiguous as doubt:
        return replace(parallel, refusal=Refusal("needs-architecture", f"{doubt}; pass --architecture MODEL.json"))
    findings = (*parallel.findings, Code.WEIGHTLESS_LEFT_OUT())
    return replace(parallel, findings=findings, output=Anew(stored._replace(groups=groups)))


__all__ = ["NotAGraph", "plan"]
