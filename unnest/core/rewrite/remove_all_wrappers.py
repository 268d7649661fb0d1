"""Wrappers out of one architecture and its weights, outermost first, until none is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from unnest.budget import memoize
from unnest.core import json_tree
from unnest.core.architecture import (
    children,
    is_model,
    model_json_as_saved_alone,
    read,
    replace_children,
)
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.model import JsonObject
from unnest.core.recognition_results import NearMiss, Scope, Template, Wrapper
from unnest.core.rewrite import remove_one_wrapper, replace_nested_model
from unnest.core.rewrite.compile_settings_and_optimizer_state import output_names
from unnest.core.rewrite.model_with_weights import ModelWithWeights, Unwrapped
from unnest.core.rewrite.summarize_template import summarize_wrapped_template
from unnest.core.weight_assignment.flat_list.divide_flat_list import divide_flat_list
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights
from unnest.core.wrappers.layer_graph.layer_batch_roles import is_in_training, reads_mask
from unnest.core.wrappers.layer_graph.recognise_layer_graph import mixing_layer, recognise
from unnest.core.wrappers.layer_graph.wrapper_records import (
    NO_ASSUMPTIONS,
    Assumptions,
    EnclosingModel,
    LayerWrapper,
)
from unnest.findings import Code, Finding, listed


def unwrap_all(
    parallel: ModelWithWeights,
    assumptions: Assumptions = NO_ASSUMPTIONS,
    *,
    keep_nested: bool,
) -> Unwrapped:
    """Take all wrappers out of a top-level model.

    In TensorFlow a penalty on outputs is divided by the rows of the call (`assumptions.in_tensorflow`).
    """
    outputs = len(read(parallel.model).outputs)
    unwrapping = _Unwrapping(outputs, assumptions, keep_nested=keep_nested)
    left, refusal = parallel, None
    try:
        left = unwrapping.top(parallel)
    except Ambiguous as doubt:
        refusal = str(doubt)
    before, after = (output_names(read(each.model)) for each in (parallel, left))
    positions = zip(before, unwrapping.outputs, strict=True)
    return Unwrapped(
        left,
        tuple(unwrapping.wrappers),
        unwrapping.innermost,
        tuple(unwrapping.findings),
        {name: after[position] for name, position in positions if position < len(after)},
        tuple(unwrapping.outputs),
        unwrapping.moved,
        frozenset(unwrapping.removed),
        refusal,
        tuple(dict.fromkeys(unwrapping.near_misses)),
    )


class _WholeWrapper(NamedTuple):
    """A wrapper that was a whole model, the graph that it was, and `_Unwrapping.outputs` as they were before."""

    graph: Graph
    wrapper: LayerWrapper
    outputs: list[int]


@dataclass(eq=False, repr=False)
class _Place:
    """A model while its wrappers are taken out.

    `level`: what is left of it, with its weights. `depth`: in how many templates it lies. `outer`: where it lies
    in another model. `template_depths`: the depth of those of its layers that were templates, by name.
    """

    level: ModelWithWeights
    depth: int
    outer: EnclosingModel | None
    template_depths: dict[str, int] = field(default_factory=dict)


class _Unwrapping:
    """One walk over a model and the models nested in it."""

    def __init__(self, outputs: int, assumptions: Assumptions, *, keep_nested: bool) -> None:
        self._keep_nested = keep_nested
        self._assumptions = assumptions
        #: Which output of the model that is left each output of the parallel model is.
        self.outputs = list(range(outputs))
        self._deepest = -1
        #: The last wrapper that was the whole of the outermost model.
        self._last_whole: _WholeWrapper | None = None
        self.wrappers: list[Wrapper] = []
        self.findings: list[Finding] = []
        self.near_misses: list[NearMiss] = []
        self.innermost: Template | None = None
        self.moved = False
        self.removed: set[str] = set()

    def top(self, parallel: ModelWithWeights) -> ModelWithWeights:
        """Return the outermost model without wrappers, its weights by layer. Raises Ambiguous."""
        left = self._unwrap(parallel, depth=0, outer=None)
        try:
            return left._replace(groups=left.by_layer())
        except Ambiguous as doubt:
            if self._last_whole is None or not self._keep_nested:
                raise
            return self._keep_template_nested(self._last_whole, left, str(doubt))

    def _keep_template_nested(
        self, last: _WholeWrapper, template: ModelWithWeights, doubt: str
    ) -> ModelWithWeights:
        """Return the model that the last whole wrapper was, with what is left of its template as a layer."""
        graph, wrapper, self.outputs = last
        other_ends = Code.OTHER_ENDS(name=graph.name, template=wrapper.template)
        self.findings = [f for f in self.findings if f != other_ends]
        self._report_doubt(wrapper, doubt)
        outer = read(remove_one_wrapper.with_first_tower_in_place(graph, wrapper))
        model, name = replace_nested_model.replace_nested_model(
            outer, wrapper.template, template.model
        )
        return ModelWithWeights(model, {name: template.as_flat_list()})

    def _unwrap(
        self, level: ModelWithWeights, depth: int, outer: EnclosingModel | None
    ) -> ModelWithWeights:
        """Return a model without the wrappers of its own graph and of the models nested in it. Raises Ambiguous.

        `depth`: in how many templates the model lies; `outer`: where it lies in another model. The calls of a
        nested model may show as towers only once its own wrappers are gone: so it goes on until none changes.
        """
        place = _Place(level, depth, outer)
        while True:
            near_misses = self._take_out_own_wrappers(place)
            before = place.level.model
            self._unwrap_nested_models(place)
            if place.level.model is before:
                self.near_misses += near_misses
                return place.level

    def _take_out_own_wrappers(self, place: _Place) -> Sequence[NearMiss]:
        """Take wrappers out of a model's own graph until it shows none; return its near misses. Raises Ambiguous."""
        while True:
            graph = read(place.level.model)
            recognised = recognise(graph, self._assumptions, place.outer)
            if not recognised.wrappers:
                return recognised.near_misses
            self._take_out_and_report(place, graph, recognised.wrappers[0])

    def _unwrap_nested_models(self, place: _Place) -> None:
        """Take the wrappers out of the models that are layers of a model, or stand in a layer's config."""
        for name, layer in read(place.level.model).layers.items():
            depth = place.template_depths.get(name, place.depth)
            outer = EnclosingModel(read(place.level.model), name, place.outer)
            place.level = self._unwrap_layer(place.level, layer, depth, outer)

    def _take_out_and_report(self, place: _Place, graph: Graph, wrapper: LayerWrapper) -> None:
        """Take a wrapper of its own graph out of a model, and report it. Raises Ambiguous."""
        scope = self._scope_to_take_out(place, graph, wrapper)
        if scope == "whole" and wrapper.inline is None and place.outer is None:
            self._last_whole = _WholeWrapper(graph, wrapper, self.outputs)
            self._follow_ends(graph, wrapper)
        self._report(graph, wrapper, "embedded" if place.outer else scope, place.depth)
        has_template_model = scope != "embedded" and wrapper.inline is None
        if has_template_model and is_in_training(graph.call(wrapper.towers[0])):
            self.findings.append(Code.CALLED_IN_TRAINING(template=wrapper.template))
        self._report_masks(place, graph, wrapper)
        if place.depth > self._deepest:
            self._deepest = place.depth
            self.innermost = summarize_wrapped_template(graph, wrapper, scope, place.level)
        place.level = self._take_out(place.level, graph, wrapper, scope)
        template_stays_a_layer = wrapper.template in read(place.level.model).layers
        if scope != "whole" and template_stays_a_layer:
            place.template_depths[wrapper.template] = place.depth + 1
        else:
            place.depth += 1

    def _report_masks(self, place: _Place, graph: Graph, wrapper: LayerWrapper) -> None:
        """Report masks that the wrapper ended, or may have ended, and that go on without it."""
        from unnest.core.wrappers.layer_graph.masks_ended_by_wrappers import mask_end_before_loss

        if wrapper.mask_doubt is not None:
            self.findings.append(Code.UNKNOWN_MASK(doubt=wrapper.mask_doubt))
        end = mask_end_before_loss(graph, wrapper, self._assumptions, place.outer)
        if end is not None:
            why = f"the {end} of its towers ended it"
            self.findings.append(Code.MASKED_LOSS(what=wrapper.template, why=why))

    def _scope_to_take_out(self, place: _Place, graph: Graph, wrapper: LayerWrapper) -> Scope:
        """Return the scope by which a wrapper is taken out.

        A whole wrapper leaves its template in the place of the model. Where that cannot be (inputs and outputs exchange
        names, or the outer model reads others than the template has, or hands it a mask), it is taken out as an
        embedded one.
        """
        scope = wrapper.scope(graph)
        if scope != "whole" or wrapper.inline is not None:
            return scope
        if reads_mask(graph.call(wrapper.towers[0])):
            return "embedded"
        if remove_one_wrapper.exchanges_names(graph, wrapper):
            return "embedded"
        if place.outer and not remove_one_wrapper.has_same_inputs_and_outputs(graph, wrapper):
            return "embedded"
        return "whole"

    def _follow_ends(self, graph: Graph, wrapper: LayerWrapper) -> None:
        """Turn positions among the graph's outputs into positions among the template's, with a finding if they differ.

        Without the wrapper the model has all outputs of the template, in the template's order.
        """
        if remove_one_wrapper.has_same_inputs_and_outputs(graph, wrapper):
            return
        results = wrapper.results(graph)
        self.outputs = [results[graph.outputs[position]] for position in self.outputs]
        self.findings.append(Code.OTHER_ENDS(name=graph.name, template=wrapper.template))

    def _report(self, graph: Graph, wrapper: LayerWrapper, scope: Scope, depth: int) -> None:
        """Record a wrapper that is taken out, and findings on its template."""
        for name in sorted({call.layer for call in wrapper.first} | {wrapper.template}):
            part = graph.layers[name]
            if part.is_model and (layer := mixing_layer(read(part.stored))) is not None:
                self.findings.append(Code.ROWS_MIXED(layer=layer, template=name))
        penalties = (
            _layers_with_penalties(graph, wrapper) if self._assumptions.in_tensorflow else []
        )
        if penalties:
            towers = len(wrapper.towers)
            self.findings.append(Code.PENALTY_OF_TOWERS(towers=towers, what=listed(penalties)))
        self.wrappers.append(
            Wrapper(
                name=graph.name,
                template=wrapper.template,
                towers=len(wrapper.towers),
                scope=scope,
                merge=tuple(merge.layer for merge in wrapper.merges),
                depth=depth,
                confidence=wrapper.confidence,
                evidence=wrapper.evidence,
            )
        )

    def _take_out(
        self, level: ModelWithWeights, graph: Graph, wrapper: LayerWrapper, scope: Scope
    ) -> ModelWithWeights:
        """Return the model without this wrapper. Raises Ambiguous."""
        self.removed |= {c.layer for c in wrapper.slices} | {
            c.layer for merge in wrapper.merges for c in merge.calls
        }
        if wrapper.inline is not None and _begins_with_a_merge(graph, wrapper):
            why = "a model that begins with a merge of models is kept as a layer"
            self.findings.append(Code.STAYS_NESTED(template=wrapper.template, why=why))
        if wrapper.inline is not None or scope == "embedded":
            return self._with_model(
                level, graph, remove_one_wrapper.with_first_tower_in_place(graph, wrapper), {}
            )
        if scope == "head":
            return self._under_head(level, graph, wrapper)
        template = graph.layers[wrapper.template]
        template_weights = (
            level.flat if level.groups is None else level.groups.get(template.name, LayerWeights())
        )
        return ModelWithWeights.of_nested(
            model_json_as_saved_alone.as_top_level_model(graph.model, template), template_weights
        )

    def _under_head(
        self, level: ModelWithWeights, graph: Graph, wrapper: LayerWrapper
    ) -> ModelWithWeights:
        """Return the model with its head on the template's own layers, else on the nested template.

        Raises:
            Ambiguous: the template's weights cannot be divided, and it may not stay nested.

        """
        reason = remove_one_wrapper.why_not_flattened(graph, wrapper)
        if reason is not None:
            self.findings.append(Code.STAYS_NESTED(template=wrapper.template, why=reason))
        else:
            try:
                template_weights = level.by_layer().get(wrapper.template, LayerWeights())
                shares = divide_flat_list(
                    template_weights.tensors,
                    read(remove_one_wrapper.template_as_functional(graph, wrapper)),
                )
                return self._with_model(
                    level,
                    graph,
                    remove_one_wrapper.with_template_flattened(graph, wrapper),
                    {wrapper.template: shares},
                )
            except Ambiguous as doubt:
                if not self._keep_nested:
                    raise
                self._report_doubt(wrapper, str(doubt))
        return self._with_model(
            level, graph, remove_one_wrapper.with_first_tower_in_place(graph, wrapper), {}
        )

    def _report_doubt(self, wrapper: LayerWrapper, doubt: str) -> None:
        """Report why a template, the weights of which cannot be divided, stays nested, and what that means."""
        template = wrapper.template
        self.findings += [
            Code.STAYS_NESTED(template=template, why=doubt),
            Code.ORDER_NOT_TOLD(template=template),
        ]

    def _with_model(
        self,
        level: ModelWithWeights,
        graph: Graph,
        model: JsonObject,
        unpacked: Mapping[str, Mapping[str, LayerWeights]],
    ) -> ModelWithWeights:
        """Return the weights under another model, the layers of which have another order, or replace an unpacked one.

        `unpacked`: for each layer of `graph` that is gone, the weights of the layers in its place.
        """
        names_after = list(read(model).layers)
        names_before = [name for layer in graph.layers for name in unpacked.get(layer, (layer,))]
        unpacked_shares = {
            name: share for shares in unpacked.values() for name, share in shares.items()
        }
        known_shares = None if level.groups is None else {**level.groups, **unpacked_shares}
        moved = _moved(names_before, names_after, known_shares)
        self.moved = self.moved or moved
        if level.groups is None and not moved and not unpacked:
            return level._replace(model=model)
        groups = level.by_layer()
        shares = {
            name: unpacked_shares.get(name, groups.get(name, LayerWeights()))
            for name in names_after
        }
        return ModelWithWeights(model, shares, owned=level.owned)

    def _unwrap_layer(
        self, level: ModelWithWeights, layer: Layer, depth: int, outer: EnclosingModel
    ) -> ModelWithWeights:
        """Return the model with every wrapper taken out of the models inside one layer."""
        if not layer.is_model:
            return self._unwrap_config(level, layer, depth, outer)
        nested = ModelWithWeights.of_nested(
            layer.stored, level.of_layer(layer.name) or LayerWeights()
        )
        left = self._unwrap(nested, depth, outer)
        if left.model is layer.stored:
            return level
        model, name = replace_nested_model.replace_nested_model(
            read(level.model), layer.name, left.model
        )
        return level._replace(model=model).with_layer(layer.name, name, left.as_flat_list())

    def _unwrap_config(
        self, level: ModelWithWeights, layer: Layer, depth: int, outer: EnclosingModel
    ) -> ModelWithWeights:
        """Return the model with every wrapper taken out of the models in one layer's config (TimeDistributed's)."""
        held_models = dict(children(layer.stored))
        if not held_models:
            return level
        layer_weights = (
            level.of_layer(layer.name) if len(held_models) == 1 else None
        ) or LayerWeights()
        left = {
            path: self._unwrap(ModelWithWeights.of_nested(held, layer_weights), depth, outer)
            for path, held in held_models.items()
        }
        changed = {
            path: each.model for path, each in left.items() if each.model is not held_models[path]
        }
        if not changed:
            return level
        entry = replace_children(layer.stored, changed)
        level = level._replace(
            model=replace_nested_model.replace_entry(read(level.model), layer.name, entry)
        )
        if len(held_models) > 1:
            return level
        (only,) = left.values()
        return level.with_layer(layer.name, layer.name, only.as_flat_list())


def _layers_with_penalties(graph: Graph, wrapper: LayerWrapper) -> list[str]:
    """Return the names of the layers in a tower that add a penalty on their outputs to the loss."""
    calls = sorted(wrapper.first)
    names = (name for at in calls for name in _penalized(graph.layers[at.layer]))
    return [*dict.fromkeys(names)]


def _penalized(layer: Layer) -> tuple[str, ...]:
    """Return the layers with a penalty among a layer and those in it; worked out once, however deep it is nested."""
    return memoize(_find_penalized, layer.stored)


def _find_penalized(entry: JsonObject) -> tuple[str, ...]:
    if is_model(entry):
        return tuple(name for layer in read(entry).layers.values() for name in _penalized(layer))
    return tuple(
        str(part["name"])
        for part in json_tree.objects(entry)
        if part.get("activity_regularizer") is not None and "name" in part
    )


def _begins_with_a_merge(graph: Graph, wrapper: LayerWrapper) -> bool:
    """True if a tower is one model that reads more tensors than its layers show: Keras 1's Sequential of models."""
    template = graph.layers[wrapper.template]
    is_one_model = len(wrapper.first) == 1 and template.is_model
    return is_one_model and len(graph.call(wrapper.towers[0]).inputs) > read(template.stored).arity


def _moved(
    before: Sequence[str], after: Sequence[str], shares: Mapping[str, LayerWeights] | None
) -> bool:
    """Return True if the layers that stay have another order than before: those with weights, if that is known."""
    staying = {name for name in after if shares is None or shares.get(name, LayerWeights()).tensors}
    return [n for n in after if n in staying] != [n for n in dict.fromkeys(before) if n in staying]
