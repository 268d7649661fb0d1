"""Finding the template inside a parallel model that is in memory, whoever built it.

The recogniser is the one that reads files (`unnest.core.wrappers.layer_graph`); it works on names, so what it finds is
looked up among the live layers: the result is the very object that was wrapped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from unnest.core.architecture.graph import Graph
from unnest.core.model import Ref
from unnest.core.wrappers.layer_graph.recognise_layer_graph import recognise
from unnest.core.wrappers.layer_graph.wrapper_records import (
    Assumptions,
    EnclosingModel,
    LayerWrapper,
    place_in_graph,
)
from unnest.keras import keras_api
from unnest.keras.graph_of_live_model import graph_of
from unnest.keras.keras_api import KerasApi, Model, api_of


def template_model(parallel: Model) -> Model:
    """Return the model that was made parallel: the very object, not a copy.

    `parallel` is a model of Keras 3 or tf_keras, made by `multi_gpu_model`, by an old copy of it or by
    hand; what was wrapped several times is unwrapped to the innermost model, and a wrapper inside a
    larger model (a Sequential, layers behind the merge) is found there. A model without towers is its own
    template.

    Raises TypeError where `parallel` is no Keras model, ValueError where it holds several wrappers around
    different templates.
    """
    templates = templates_in(parallel)
    if len(templates) > 1:
        names = ", ".join(repr(template.name) for template in templates)
        raise ValueError(
            f"model {parallel.name!r} holds several parallel models, around {names}: pass the one you mean"
        )
    return templates[0] if templates else parallel


def templates_in(model: Model) -> list[Model]:
    """Return the innermost templates of all wrappers in `model`, each once."""
    api = api_of(model)
    by_identity = {id(each): each for each in _templates(api, _level(api, model, None))}
    return list(by_identity.values())


def base_model(model: Model) -> Model | None:
    """Return the model that `model` computes without towers: itself, its template, or all of it with templates.

    A parallel model is its template, as is a model that only calls one. A Functional or Sequential model that is more
    is made anew with every parallel model among its layers replaced; it shares all other layers, and so all weights,
    with `model`, in the same order, and has its name. None if code does more with a parallel model than to call it
    (sub-classed models), if the towers are among the model's own layers, or if Keras cannot make `model`'s class anew
    from its layers.
    """
    return _base_model(api_of(model), model, None)


#: Both Kerases here end a mask at a custom class.
ASSUMPTIONS = Assumptions(in_tensorflow=True)


class _Level(NamedTuple):
    """One level of a model: its graph (None if code calls its layers), where it lies in another, and its wrappers."""

    model: Model
    graph: Graph | None
    outer: EnclosingModel | None
    wrappers: tuple[LayerWrapper, ...]

    def place_of(self, layer: str) -> EnclosingModel | None:
        """Return the place of a model that is a layer, or held by a layer, of this one."""
        if self.graph is None or layer not in self.graph.layers:
            return EnclosingModel(None, layer, self.outer)
        return place_in_graph(layer, self.graph, self.wrappers, self.outer)

    def templates(self) -> list[tuple[str, Model]]:
        """Return the templates that this level alone wraps, by their names."""
        layers = {layer.name: layer for layer in self.model.layers} if self.wrappers else {}
        return [(w.template, layers[w.template]) for w in self.wrappers if w.inline is None]


def _level(api: KerasApi, model: Model, outer: EnclosingModel | None) -> _Level:
    graph = graph_of(api, model)
    wrappers = () if graph is None else recognise(graph, ASSUMPTIONS, outer).wrappers
    return _Level(model, graph, outer, wrappers)


def _base_model(api: KerasApi, model: Model, outer: EnclosingModel | None) -> Model | None:
    """Return the base model of a model, or of one nested in another (`outer`), as `base_model` has it."""
    level = _level(api, model, outer)
    if not any(_templates(api, level)):
        return model
    has_graph = bool(getattr(model, "inputs", None))
    inner = _called_model(api, level) if has_graph else _only_model_in(api, model)
    if inner is not None:
        return _base_model(api, inner, outer)
    if not has_graph:
        return None
    bases = {
        id(layer): _base_model(api, layer, level.place_of(layer.name))
        for layer in model.layers
        if keras_api.is_model(layer)
    }
    if None in bases.values():
        return None
    clone = api.keras.models.clone_model(
        model, clone_function=lambda layer: bases.get(id(layer), layer)
    )
    return clone if type(clone) is type(model) and not templates_in(clone) else None


def _called_model(api: KerasApi, level: _Level) -> Model | None:
    """Return the model in a parallel model's towers, or the one that a model only calls; or None."""
    model, graph = level.model, level.graph
    layers = [layer for layer in model.layers if not isinstance(layer, api.keras.layers.InputLayer)]
    if isinstance(model, api.keras.Sequential):
        return layers[0] if len(layers) == 1 and keras_api.is_model(layers[0]) else None
    if graph is None:
        return None
    for wrapper in level.wrappers:
        if wrapper.is_whole_model(graph):
            return next(layer for layer in layers if layer.name == wrapper.template)
    calls = [(at, call.reads) for at, call in graph.calls() if call.reads]
    if len(calls) == 1 and len(layers) == 1 and keras_api.is_model(layers[0]):
        ((at, reads),) = calls
        ends = len(getattr(layers[0], "outputs", None) or [None])
        if (reads, graph.outputs) == (graph.inputs, tuple(Ref(*at, k) for k in range(ends))):
            return layers[0]
    return None


def _only_model_in(api: KerasApi, model: Model) -> Model | None:
    """Return the model in a sub-classed one, if its `call` only passes the inputs to it; else None.

    A trainer may have no `call` at all, but a `train_step` alone.
    """
    held = [nested for _, nested in nested_models(model)]
    if len(held) != 1 or {id(v) for v in held[0].variables} != {id(v) for v in model.variables}:
        return None
    if type(model).call is api.keras.Model.call:
        return held[0]
    inputs = [
        api.keras.Input(x.shape[1:], batch_size=x.shape[0], dtype=x.dtype) for x in held[0].inputs
    ]
    try:
        traced = api.keras.Model(inputs, model.call(inputs if len(inputs) > 1 else inputs[0]))
    except Exception:  # noqa: BLE001 - call is anyone's code, and not made for this
        return None
    return _called_model(api, _level(api, traced, None))


def _templates(api: KerasApi, level: _Level) -> Iterator[Model]:
    """Yield the innermost templates of the wrappers in a level, and in all levels below it."""
    templates = level.templates()
    for name, nested in templates or nested_models(level.model):
        deeper = list(_templates(api, _level(api, nested, level.place_of(name))))
        yield from deeper or ([nested] if templates else [])


def nested_models(model: Model) -> list[tuple[str, Model]]:
    """Return the models among a model's layers, and in layers that wrap one (TimeDistributed), by the layer's name."""
    candidates = (
        (layer.name, getattr(layer, "layer", layer)) for layer in getattr(model, "layers", ())
    )
    return [(name, layer) for name, layer in candidates if keras_api.is_model(layer)]
