"""A template model as a report shows it: class, inputs, outputs, layers and parameters."""

from __future__ import annotations

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.model import JsonObject
from unnest.core.recognition_results import Scope, Template
from unnest.core.rewrite.model_with_weights import ModelWithWeights
from unnest.core.weight_assignment.layer_weights_record import LayerWeights
from unnest.core.wrappers.layer_graph.wrapper_records import LayerWrapper


def summarize_template(model: JsonObject, share: LayerWeights | None) -> Template:
    """Describe a template model for a report; `share`: its weights, None if they are in doubt."""
    graph = read(model)
    return Template(
        class_name=str(model.get("class_name")),
        inputs=graph.arity,
        outputs=len(graph.outputs),
        layers=len(graph.layers),
        parameters=None if share is None else sum(t.size for t in share.tensors),
    )


def summarize_wrapped_template(
    graph: Graph, wrapper: LayerWrapper, scope: Scope, level: ModelWithWeights
) -> Template:
    """Describe the template of a wrapper in `graph`; its weights are among those of `level`."""
    if wrapper.inline is not None:
        return _of_layers(graph, wrapper, level)
    layer = graph.layers[wrapper.template]
    has_them_all = scope == "whole" and level.groups is None
    return summarize_template(
        layer.stored, level.flat if has_them_all else level.of_layer(layer.name)
    )


def _of_layers(graph: Graph, wrapper: LayerWrapper, level: ModelWithWeights) -> Template:
    """Describe a template, the layers of which are the graph's own."""
    names = {call_id.layer for call_id in wrapper.first}
    shares = [level.of_layer(name) for name in sorted(names)]
    known = [share for share in shares if share is not None]
    return Template(
        class_name=str(graph.model.get("class_name")),
        inputs=len(wrapper.sources),
        outputs=len(wrapper.merges),
        layers=len(names) + len(wrapper.sources),
        parameters=sum(t.size for share in known for t in share.tensors)
        if len(known) == len(shares)
        else None,
    )
